"""Code tasks and the store, kept in step, on every store."""

import pytest
from msgspec.structs import replace

from ralph.core.errors import Missing, UnusableData
from ralph.core.events import SessionEnded
from ralph.core.order import Schedule
from ralph.core.target import Everything
from ralph.core.task import Draft, Status, Task
from ralph.core.transitions import Accepted, Rejected, Released
from ralph.documents.code_tasks.stamp import Word, read_word, unstamped
from ralph.ports.claims import Claim
from ralph.ports.document import Left
from ralph.ports.history import Mark
from ralph.ports.store import Filter, Store
from ralph.testing.clock import FrozenClock
from ralph.testing.doubles import FakeLibrary
from ralph.testing.store_words import WORKER, begin, start
from ralph.workflows.code_tasks import CodeTasks

FOLDER = ".ralph/specs/shop/implementation"
FILES = {
    "step01/task-01-types": "# Task: Types\r\n\r\n## Description\r\ncaf\u00e9\r\n",
    "step01/task-02-parser": "---\nStatus: PENDING\nBlocked-By: task-01\n---\n# Task: Parser\n",
    "step02/task-01-docs": "---\nStatus: COMPLETED\nCompleted-By: me\n---\n# Task: Docs",
}
RUNBOOK = f"{FOLDER}/execution-runbook.md"
ONE, TWO, THREE = "step01-task-01", "step01-task-02", "step02-task-01"


def at(name: str) -> str:
    return f"{FOLDER}/{name}.code-task.md"


class Folder:
    """Code tasks, with a store behind them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.library = FakeLibrary()
        for name, text in FILES.items():
            self.library.pages[at(name)] = text
        self.feature = store.add_feature("shop")
        self.document = self.again()

    def again(self) -> CodeTasks:
        """As after a restart."""
        self.document = CodeTasks(
            store=self.store,
            library=self.library,
            clock=FrozenClock(),
            folder=FOLDER,
            feature=self.feature,
            max_retries=1,
            seat=lambda _: "teammate-2",
            needs=(RUNBOOK,),
        )
        return self.document

    def text(self, name: str) -> str:
        return next(t for p, t in self.library.pages.items() if name in p and "/runs/" not in p)

    def edit(self, name: str, old: str, new: str) -> None:
        path = next(p for p in self.library.pages if name in p)
        assert old in self.library.pages[path]
        self.library.pages[path] = self.library.pages[path].replace(old, new)

    def words(self) -> dict[str, object]:
        return {name: read_word(self.text(name)) for name in FILES}

    def tasks(self) -> dict[str, Task]:
        found = self.store.tasks(Filter(feature=self.feature.id))
        return {task.alias: task for task in found if task.alias}

    def claim(self) -> Claim:
        claim = self.store.claim(WORKER, None, Everything(), Schedule.PRIORITY)
        assert claim is not None
        self.document.begin(claim.task)
        return claim

    def settle(self, claim: Claim, *, done: bool) -> None:
        """As the engine does it: first the document, so that it is committed with the work."""
        if done:
            self.document.conclude(claim.task, done=True)
        verdict = Accepted() if done else Rejected("red")
        self.store.settle(claim, verdict, message="so", fail_fast=False)
        if not done:
            self.document.conclude(claim.task, done=False)
        self.document.release(claim.task)

    def assert_only_stamps_changed(self) -> None:
        for name, text in FILES.items():
            assert unstamped(self.text(name)) == unstamped(text)


@pytest.fixture
def folder(store: Store) -> Folder:
    begin(store)
    made = Folder(store)
    assert made.document.follow() == ()
    return made


def test_every_file_is_a_task(folder: Folder) -> None:
    one, two, three = folder.tasks().values()
    assert (one.alias, one.title, one.description) == (ONE, "Types", "## Description\ncaf\u00e9")
    assert [one.status, two.status, three.status] == [Status.PENDING, Status.PENDING, Status.DONE]
    assert [task.alias for task in folder.store.blockers(two.id)] == [ONE]
    assert {name: folder.text(name) for name in FILES} == FILES


def test_what_a_file_says_it_modifies_is_known_of_its_task(folder: Folder) -> None:
    folder.edit("docs", "# Task: Docs", "# Task: Docs\n\n- Files to modify: `docs/a.md`, ../x\n")
    folder.document.follow()
    three = folder.tasks()[THREE]
    assert three.files == ("docs/a.md",)
    folder.store.learn_files(three.id, ["docs/b.md"])
    folder.edit("docs", "Files to modify", "Files to read")
    folder.document.follow()
    assert folder.tasks()[THREE].files == ("docs/a.md", "docs/b.md")


@pytest.mark.parametrize("wrong", ["gone", "unreadable"])
def test_a_session_that_makes_away_with_files_ends_no_run(folder: Folder, wrong: str) -> None:
    pages, troubles = folder.library.pages, folder.library.troubles
    pages[RUNBOOK] = "# Runbook\n"
    claim = folder.claim()
    for path in [RUNBOOK, *map(at, FILES)]:
        if wrong == "gone":
            del pages[path]
        else:
            troubles[path] = "leads out of the project"
    (said,) = folder.document.leave(claim.task)
    assert "execution-runbook" in said
    assert said.endswith(": removed or emptied by the session, and back")
    assert len(folder.document.look(claim.task).warnings) == 3
    assert pages[RUNBOOK] == "# Runbook\n"
    assert troubles == {}
    folder.settle(claim, done=True)
    assert folder.document.follow() == ()
    folder.assert_only_stamps_changed()


def test_following_twice_is_following_once(folder: Folder) -> None:
    seen = folder.store.last_seq()
    assert folder.document.follow() == ()
    assert folder.again().follow() == ()
    assert folder.store.last_seq() == seen
    assert {name: folder.text(name) for name in FILES} == FILES


def test_files_are_stamped_as_their_tasks_go(folder: Folder) -> None:
    claim = folder.claim()
    assert claim.task.alias == ONE
    assert folder.text("task-01-types").startswith(
        "---\r\nStatus: IN_PROGRESS\r\nStarted-By: teammate-2\r\nStarted-At: "
    )
    folder.document.review(claim.task)
    assert read_word(folder.text("task-01-types")) is Word.IN_REVIEW
    folder.settle(claim, done=True)
    assert folder.text("task-01-types").startswith(
        "---\r\nStatus: COMPLETED\r\nCompleted-By: teammate-2\r\nCompleted-At: "
    )
    assert folder.document.follow() == ()
    second = folder.claim()
    assert second.task.alias == TWO
    folder.settle(second, done=False)
    assert read_word(folder.text("task-02-parser")) is Word.PENDING
    again = folder.claim()
    folder.settle(again, done=False)
    assert folder.tasks()[TWO].status is Status.FAILED
    assert "Status: BLOCKED\nWorked-By: teammate-2\n" in folder.text("task-02-parser")
    assert "Blocked-Reason: red\n" in folder.text("task-02-parser")
    folder.assert_only_stamps_changed()
    assert folder.again().follow() == ()


@pytest.mark.parametrize("word", ["IN_REVIEW", "COMPLETED"])
def test_a_session_claims_by_its_status(folder: Folder, word: str) -> None:
    claim = folder.claim()
    assert folder.document.look(claim.task) == Left()
    folder.edit("task-01-types", "IN_PROGRESS", word)
    assert folder.document.look(claim.task) == Left(claims=True)
    folder.settle(claim, done=False)
    assert folder.document.follow() == ()
    assert folder.tasks()[ONE].status is Status.PENDING
    assert read_word(folder.text("task-01-types")) is Word.PENDING


def test_what_a_session_may_not_change_is_put_back(folder: Folder) -> None:
    claim = folder.claim()
    folder.edit("task-01-types", "caf\u00e9", "less")
    folder.edit("task-01-types", "IN_PROGRESS", "COMPLETED")
    folder.edit("task-02-parser", "PENDING", "COMPLETED")
    del folder.library.pages[at("step02/task-01-docs")]
    folder.library.pages[at("step09/task-01-new")] = "---\nStatus: COMPLETED\n---\n# New\n"
    left = folder.document.look(claim.task)
    assert left.claims
    assert [line.partition(" ")[0].strip(":") for line in left.warnings] == sorted(map(at, FILES))
    folder.assert_only_stamps_changed()
    kept = [path for path in folder.library.pages if path.startswith(".ralph/runs/")]
    assert len(kept) == 1
    assert "less" in folder.library.pages[kept[0]]
    folder.settle(claim, done=True)
    assert folder.document.follow() == ()
    assert {name: task.status for name, task in folder.tasks().items()} == {
        ONE: Status.DONE,
        TWO: Status.PENDING,
        THREE: Status.DONE,
        "step09-task-01": Status.PENDING,
    }


def test_after_a_crash_a_session_that_ended_is_still_heard(folder: Folder) -> None:
    claim = folder.claim()
    session = start(folder.store, claim)
    folder.edit("task-01-types", "IN_PROGRESS", "COMPLETED")
    ended = SessionEnded(task_id=claim.task.id, session_id=session.id, ended="finished")
    folder.store.end_session(replace(session, mark=Mark.ENDED), ended)
    assert folder.again().follow() == ()
    assert folder.document.look(claim.task) == Left(claims=True)


def test_after_a_crash_what_nobody_will_judge_is_taken_back(folder: Folder) -> None:
    claim = folder.claim()
    folder.edit("task-01-types", "IN_PROGRESS", "COMPLETED")
    folder.edit("task-02-parser", "PENDING", "COMPLETED")
    folder.store.settle(claim, Released("it died"), message="so", fail_fast=False)
    (told,) = folder.again().follow()
    assert "its status was moved" in told
    assert [task.status for task in folder.tasks().values()][:2] == [Status.PENDING] * 2
    assert folder.words() == {
        "step01/task-01-types": Word.PENDING,
        "step01/task-02-parser": Word.PENDING,
        "step02/task-01-docs": Word.COMPLETED,
    }


def test_what_a_person_changes_counts(folder: Folder) -> None:
    folder.edit("task-01-types", "# Task: Types", "# Task: All types")
    folder.edit("task-02-parser", "PENDING", "BLOCKED")
    folder.edit("task-01-docs", "COMPLETED", "PENDING")
    told = folder.document.follow()
    assert len(told) == 2
    assert folder.tasks()[ONE].title == "All types"
    assert folder.tasks()[TWO].status is Status.BLOCKED
    assert folder.tasks()[THREE].status is Status.PENDING
    folder.edit("task-02-parser", "BLOCKED", "PENDING")
    folder.edit("task-01-docs", "PENDING", "done")
    folder.document.follow()
    assert folder.tasks()[TWO].status is Status.PENDING
    assert folder.tasks()[THREE].status is Status.DONE


def test_what_the_store_knows_better_is_written_back(folder: Folder) -> None:
    folder.store.force_done(folder.tasks()[ONE].id)
    assert folder.document.follow() == ()
    assert read_word(folder.text("task-01-types")) is Word.COMPLETED
    folder.assert_only_stamps_changed()


def test_a_file_that_is_gone_is_archived_and_may_come_back(folder: Folder) -> None:
    path = at("step01/task-02-parser")
    text = folder.library.pages.pop(path)
    assert "archived" in folder.document.follow()[0]
    assert TWO not in folder.tasks()
    folder.library.pages[path] = text
    assert "again" in folder.document.follow()[0]
    assert TWO in folder.tasks()


def test_what_cannot_be_built_stops_the_first_look_only(folder: Folder) -> None:
    folder.edit("task-02-parser", "task-01", "task-77")
    assert "going on with the tasks as they were" in folder.document.follow()[0]
    with pytest.raises(UnusableData, match="no such code task"):
        folder.again().follow()
    folder.library.pages.clear()
    with pytest.raises(Missing, match="there are no code tasks"):
        folder.again().follow()


def test_a_status_that_is_none_is_said(folder: Folder) -> None:
    folder.edit("task-02-parser", "PENDING", "whenever")
    assert "there is no status whenever" in folder.document.follow()[0]


def test_where_others_write_only_the_store_follows(folder: Folder) -> None:
    quiet = CodeTasks(
        store=folder.store,
        library=folder.library,
        clock=FrozenClock(),
        folder=FOLDER,
        feature=folder.feature,
        max_retries=1,
        writes=False,
    )
    folder.store.force_done(folder.tasks()[ONE].id)
    assert quiet.follow() == ()
    assert {name: folder.text(name) for name in FILES} == FILES


def test_a_session_on_another_task_leaves_these_alone(folder: Folder) -> None:
    other = folder.store.add_feature("other")
    task = folder.store.add_task(Draft(title="x", alias=ONE, feature_id=other.id, priority=-9))
    claim = folder.claim()
    assert claim.task.id == task.id
    assert {name: folder.text(name) for name in FILES} == FILES
    folder.edit("task-02-parser", "PENDING", "COMPLETED")
    left = folder.document.look(claim.task)
    assert (left.claims, len(left.warnings)) == (False, 1)
    folder.settle(claim, done=True)
    assert folder.document.follow() == ()
    assert {name: folder.text(name) for name in FILES} == FILES
    assert folder.tasks()[TWO].status is Status.PENDING
