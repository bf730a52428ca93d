"""Sessions that are sent for one file: the PRD, the plan. Nothing else of theirs is committed."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from ralph.core.ending import Exit
from ralph.core.errors import Missing
from ralph.core.events import RunEnded, Warned
from ralph.core.moment import epoch
from ralph.core.outcome import Outcome
from ralph.core.snapshot import Snapshot
from ralph.core.target import Subtree
from ralph.engine.kit import Kit
from ralph.ports.executor import Command, Listener
from ralph.testing.doubles import FakeWorkspace, says
from ralph.workflows.discovery import discover, prd_errand
from ralph.workflows.errand import Errand, as_task
from ralph.workflows.pipeline import PLAN, PRD, Pipeline
from ralph.workflows.planning import plan, plan_errand
from tests.engine.shelf import Papered, Shelf
from tests.engine.world import Died, Fate

PIPELINE = Pipeline(root="/project")
STORIES = "### [ ] US-001: One\n- [ ] a\n- [ ] b\n"


class Scribe(Papered):
    """Somebody who writes more than was asked for."""

    def __init__(self, folder: Path, prd: str = STORIES) -> None:
        super().__init__(folder, {"code.txt": "code\n", PRD: prd})
        self.writes = {PLAN: "plan\n", "code.txt": "spoiled\n", "new.txt": "new\n"}
        self.executor.otherwise = self.session
        self.sessions = 0

    def session(self, command: Command, listener: Listener) -> Exit:
        self.sessions += 1

        def work() -> None:
            for path, text in self.writes.items():
                self.workspace.edit(path, text)

        return says("<task-done>TASK</task-done>", does=work)(command, listener)

    def plan(self, fate: Fate | None = None) -> RunEnded:
        kit = self.kit(fate)
        self.aim(kit, plan_errand(kit.library, PIPELINE))
        return plan(kit, PIPELINE, 1)

    def discover(self, fate: Fate | None = None) -> RunEnded:
        kit = self.kit(fate)
        errand = prd_errand(kit.library, PIPELINE, "a shop")
        self.aim(kit, errand)
        return discover(kit, PIPELINE, errand)

    def aim(self, kit: Kit, errand: Errand) -> None:
        task = as_task(kit.store, errand, 1)
        kit.settings = replace(kit.settings, target=Subtree(task.id))

    def warnings(self) -> str:
        return "\n".join(one.message for one in self.told(Warned) if isinstance(one, Warned))


def test_a_session_that_writes_the_prd_writes_nothing_else(tmp_path: Path) -> None:
    scribe = Scribe(tmp_path, "")
    scribe.writes = {PRD: STORIES, "code.txt": "spoiled\n", "new.txt": "new\n"}
    assert scribe.discover().outcome is Outcome.COMPLETE
    assert scribe.workspace.head == {PRD: STORIES, "code.txt": "code\n"}
    assert scribe.workspace.files == scribe.workspace.head
    assert f"only {PRD} was to be changed: code.txt, new.txt put back" in scribe.warnings()
    (kept,) = scribe.workspace.saved.values()
    assert kept["code.txt"] == "spoiled\n"


def test_an_empty_plan_that_was_only_made_to_be_written_is_nobodys_edit(tmp_path: Path) -> None:
    for text, is_told in (("", False), ("mine\n", True)):
        folder = tmp_path / str(is_told)
        folder.mkdir()
        scribe = Scribe(folder)
        scribe.workspace.edit(PLAN, text)
        scribe.plan()
        assert (f"{PLAN} has changes that are not committed" in scribe.warnings()) is is_told


def test_who_words_a_story_does_not_say_that_it_is_done(tmp_path: Path) -> None:
    before = STORIES.replace("[ ] a", "[x] a")
    scribe = Scribe(tmp_path, before)
    for text in (before.replace("[ ] b", "[x] b"), before.replace("[ ] US", "[x] US")):
        scribe.writes = {PRD: text}
        assert scribe.discover().outcome is Outcome.COMPLETE_WITH_FAILURES
        assert "is not built yet" in (scribe.store.find("prd-prd").reason or "")
        scribe.workspace.edit(PRD, before)
    scribe.writes = {PRD: before.replace("One", "The first")}
    assert scribe.discover().outcome is Outcome.COMPLETE


def test_killed_anywhere_no_plan_takes_code_along(tmp_path: Path) -> None:
    for calls in range(2000):
        folder = tmp_path / str(calls)
        folder.mkdir()
        scribe = Scribe(folder)
        try:
            scribe.plan(Fate(calls, late=bool(calls % 2)))
        except Died:
            pass
        else:
            break
        assert scribe.plan().outcome is Outcome.COMPLETE, calls
        head = {path: scribe.workspace.head.get(path) for path in (PLAN, "code.txt", "new.txt")}
        assert head == {PLAN: "plan\n", "code.txt": "code\n", "new.txt": None}, calls
    else:
        raise AssertionError("it never came to its end")
    assert calls > 20


class Sneaky(Scribe):
    """Its first session commits code, and then Ralph is killed."""

    def killed(self) -> None:
        fate = Fate()

        def commits() -> None:
            self.workspace.edit("code.txt", "spoiled\n")
            self.workspace.edit(PLAN, "half a plan\n")
            self.workspace.commit_files("sneaky", ["code.txt", PLAN])
            fate.dead = True
            raise Died

        self.executor.sessions = [says("", does=commits)]
        with pytest.raises(Died):
            self.plan(fate)


def test_what_a_session_has_committed_that_was_killed_is_taken_off_the_branch(
    tmp_path: Path,
) -> None:
    scribe = Sneaky(tmp_path)
    scribe.writes = {}
    scribe.killed()
    scribe.workspace.edit("mine.txt", "a person's\n")
    assert scribe.plan().outcome is Outcome.COMPLETE
    assert scribe.workspace.commits == ["c0", "first", f"Plan how {PRD} is built"]
    assert scribe.workspace.head["code.txt"] == "code\n"
    assert scribe.workspace.head[PLAN] == "half a plan\n"
    assert scribe.workspace.files["mine.txt"] == "a person's\n"
    assert "mine.txt" not in scribe.workspace.head
    ((ref, kept),) = scribe.workspace.saved.items()
    assert kept["code.txt"] == "spoiled\n"
    assert f"1 commit put back, kept as {ref}" in scribe.warnings()


def test_a_session_that_was_lost_ended_when_its_worker_was_last_seen(tmp_path: Path) -> None:
    scribe = Sneaky(tmp_path)
    scribe.killed()
    scribe.clock.advance(86_400.0)
    scribe.plan()
    lost, last = scribe.store.sessions()
    assert epoch(lost.ended_at or "") - epoch(lost.started_at) < 60
    assert epoch(last.started_at) - epoch(lost.started_at) >= 86_400


def test_nobody_is_taken_back_to_another_branch(tmp_path: Path) -> None:
    class Elsewhere(FakeWorkspace):
        """A person has gone to another branch."""

        def snapshot(self) -> Snapshot:
            return replace(super().snapshot(), branch="feature")

    scribe = Sneaky(tmp_path)
    scribe.writes = {}
    scribe.killed()
    elsewhere = Elsewhere()
    vars(elsewhere).update(vars(scribe.workspace))
    scribe.workspace = elsewhere
    scribe.library = Shelf(elsewhere)
    scribe.plan()
    assert scribe.workspace.commits[:3] == ["c0", "first", "sneaky"]
    assert "commit put back" not in scribe.warnings()


def test_what_a_person_has_committed_since_stays(tmp_path: Path) -> None:
    class Later(FakeWorkspace):
        """Whose last commit was made long after the session."""

        def as_of(self, since: Snapshot, now: Snapshot, moment: float) -> Snapshot:
            del since, moment
            return replace(now, head=self.history[-2].name, tree="", dirty=())

    scribe = Sneaky(tmp_path)
    scribe.writes = {}
    scribe.killed()
    scribe.workspace.edit("mine.txt", "a person's\n")
    scribe.workspace.commit_files("mine", ["mine.txt"])
    later = Later()
    vars(later).update(vars(scribe.workspace))
    scribe.workspace = later
    scribe.library = Shelf(later)
    scribe.plan()
    assert scribe.workspace.commits[:4] == ["c0", "first", "sneaky", "mine"]
    assert "commit put back" not in scribe.warnings()
    assert "what it had committed, up to c2, stays" in scribe.warnings()


def test_the_prd_of_a_session_that_was_killed_is_not_planned(tmp_path: Path) -> None:
    scribe, fate = Scribe(tmp_path, ""), Fate()

    def killed() -> None:
        scribe.workspace.edit(PRD, STORIES)
        fate.dead = True
        raise Died

    scribe.executor.sessions = [says("", does=killed)]
    with pytest.raises(Died):
        scribe.discover(fate)
    with pytest.raises(Missing, match="there is no PRD"):
        scribe.plan()
    assert STORIES in [files[PRD] for files in scribe.workspace.saved.values()]
