"""Code tasks and the store, kept in step, on every store."""

import pytest
from msgspec.structs import replace

from ralph.core.errors import Missing, UnusableData
from ralph.core.events import SessionEnded
from ralph.core.graph import Schedule
from ralph.core.run import AllTasks
from ralph.core.task import Task, TaskDraft, TaskStatus
from ralph.core.transitions import Accepted, Rejected, Released
from ralph.documents.code_task_file import CodeTaskStatus, read_status, without_status_block
from ralph.ports.task_document import DocumentClaim
from ralph.store.claims import Claim
from ralph.store.sessions import Checkpoint
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from ralph.workflows.code_tasks import CodeTasks
from ralph.workflows.document_tasks import DocumentTasks
from tests.contracts.store_test_helpers import WORKER, begin, start
from tests.doubles import FakeProjectFiles
from tests.doubles.clock import FrozenClock

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
        self.project_files = FakeProjectFiles()
        for name, text in FILES.items():
            self.project_files.pages[at(name)] = text
        self.feature = store.features.add("shop")
        self.document = self.again()

    def again(self) -> CodeTasks:
        """As after a restart."""
        self.document = CodeTasks(
            DocumentTasks(self.store, self.feature, FOLDER, 1),
            self.project_files,
            FrozenClock(),
            worker_name=lambda _: "teammate-2",
            read_only=(RUNBOOK,),
        )
        return self.document

    def text(self, name: str) -> str:
        return next(
            t for p, t in self.project_files.pages.items() if name in p and "/runs/" not in p
        )

    def edit(self, name: str, old: str, new: str) -> None:
        path = next(p for p in self.project_files.pages if name in p)
        assert old in self.project_files.pages[path]
        self.project_files.pages[path] = self.project_files.pages[path].replace(old, new)

    def words(self) -> dict[str, object]:
        return {name: read_status(self.text(name)) for name in FILES}

    def tasks(self) -> dict[str, Task]:
        found = self.store.tasks.select(TaskFilter(feature=self.feature.id))
        return {task.alias: task for task in found if task.alias}

    def claim(self) -> Claim:
        claim = self.store.claims.claim(WORKER, None, AllTasks(), Schedule.PRIORITY)
        assert claim is not None
        self.document.session_starts(claim.task)
        return claim

    def settle(self, claim: Claim, *, done: bool) -> None:
        """As the engine does it: first the document, so that it is committed with the work."""
        if done:
            self.document.write_verdict(claim.task, done=True)
        verdict = Accepted() if done else Rejected("red")
        self.store.claims.settle(claim, verdict, message="so", fail_fast=False)
        if not done:
            self.document.write_verdict(claim.task, done=False)
        self.document.end_session(claim.task)

    def assert_only_stamps_changed(self) -> None:
        for name, text in FILES.items():
            assert without_status_block(self.text(name)) == without_status_block(text)


@pytest.fixture
def folder(store: Store) -> Folder:
    begin(store)
    made = Folder(store)
    assert made.document.sync() == ()
    return made


def test_every_file_is_a_task(folder: Folder) -> None:
    one, two, three = folder.tasks().values()
    assert (one.alias, one.title, one.description) == (ONE, "Types", "## Description\ncaf\u00e9")
    assert [one.status, two.status, three.status] == [
        TaskStatus.PENDING,
        TaskStatus.PENDING,
        TaskStatus.DONE,
    ]
    assert [task.alias for task in folder.store.tasks.blockers(two.id)] == [ONE]
    assert {name: folder.text(name) for name in FILES} == FILES


def test_what_a_file_says_it_modifies_is_known_of_its_task(folder: Folder) -> None:
    folder.edit("docs", "# Task: Docs", "# Task: Docs\n\n- Files to modify: `docs/a.md`, ../x\n")
    folder.document.sync()
    three = folder.tasks()[THREE]
    assert three.files == ("docs/a.md",)
    folder.store.tasks.learn_files(three.id, ["docs/b.md"])
    folder.edit("docs", "Files to modify", "Files to read")
    folder.document.sync()
    assert folder.tasks()[THREE].files == ("docs/a.md", "docs/b.md")


@pytest.mark.parametrize("wrong", ["gone", "unreadable"])
def test_a_session_that_makes_away_with_files_ends_no_run(folder: Folder, wrong: str) -> None:
    pages, troubles = folder.project_files.pages, folder.project_files.troubles
    pages[RUNBOOK] = "# Runbook\n"
    claim = folder.claim()
    for path in [RUNBOOK, *map(at, FILES)]:
        if wrong == "gone":
            del pages[path]
        else:
            troubles[path] = "leads out of the project"
    (said,) = folder.document.session_ended(claim.task)
    assert "execution-runbook" in said
    assert "for sessions to read, so it is restored" in said
    assert len(folder.document.read_claim(claim.task).warnings) == 3
    assert pages[RUNBOOK] == "# Runbook\n"
    assert troubles == {}
    folder.settle(claim, done=True)
    assert folder.document.sync() == ()
    folder.assert_only_stamps_changed()


def test_following_twice_is_following_once(folder: Folder) -> None:
    seen = folder.store.events.last_seq()
    assert folder.document.sync() == ()
    assert folder.again().sync() == ()
    assert folder.store.events.last_seq() == seen
    assert {name: folder.text(name) for name in FILES} == FILES


def test_files_are_stamped_as_their_tasks_go(folder: Folder) -> None:
    claim = folder.claim()
    assert claim.task.alias == ONE
    assert folder.text("task-01-types").startswith(
        "---\r\nStatus: IN_PROGRESS\r\nStarted-By: teammate-2\r\nStarted-At: "
    )
    folder.document.review_starts(claim.task)
    assert read_status(folder.text("task-01-types")) is CodeTaskStatus.IN_REVIEW
    folder.settle(claim, done=True)
    assert folder.text("task-01-types").startswith(
        "---\r\nStatus: COMPLETED\r\nCompleted-By: teammate-2\r\nCompleted-At: "
    )
    assert folder.document.sync() == ()
    second = folder.claim()
    assert second.task.alias == TWO
    folder.settle(second, done=False)
    assert read_status(folder.text("task-02-parser")) is CodeTaskStatus.PENDING
    again = folder.claim()
    folder.settle(again, done=False)
    assert folder.tasks()[TWO].status is TaskStatus.FAILED
    assert "Status: BLOCKED\nWorked-By: teammate-2\n" in folder.text("task-02-parser")
    assert "Blocked-Reason: red\n" in folder.text("task-02-parser")
    folder.assert_only_stamps_changed()
    assert folder.again().sync() == ()


@pytest.mark.parametrize("word", ["IN_REVIEW", "COMPLETED"])
def test_a_session_claims_by_its_status(folder: Folder, word: str) -> None:
    claim = folder.claim()
    assert folder.document.read_claim(claim.task) == DocumentClaim()
    folder.edit("task-01-types", "IN_PROGRESS", word)
    assert folder.document.read_claim(claim.task) == DocumentClaim(claims=True)
    folder.settle(claim, done=False)
    assert folder.document.sync() == ()
    assert folder.tasks()[ONE].status is TaskStatus.PENDING
    assert read_status(folder.text("task-01-types")) is CodeTaskStatus.PENDING


def test_what_a_session_may_not_change_is_put_back(folder: Folder) -> None:
    claim = folder.claim()
    folder.edit("task-01-types", "caf\u00e9", "less")
    folder.edit("task-01-types", "IN_PROGRESS", "COMPLETED")
    folder.edit("task-02-parser", "PENDING", "COMPLETED")
    del folder.project_files.pages[at("step02/task-01-docs")]
    folder.project_files.pages[at("step09/task-01-new")] = "---\nStatus: COMPLETED\n---\n# New\n"
    left = folder.document.read_claim(claim.task)
    assert left.claims
    assert [line.partition(" ")[0].strip(":") for line in left.warnings] == sorted(map(at, FILES))
    folder.assert_only_stamps_changed()
    kept = [path for path in folder.project_files.pages if path.startswith(".ralph/runs/")]
    assert len(kept) == 1
    assert "less" in folder.project_files.pages[kept[0]]
    folder.settle(claim, done=True)
    assert folder.document.sync() == ()
    assert {name: task.status for name, task in folder.tasks().items()} == {
        ONE: TaskStatus.DONE,
        TWO: TaskStatus.PENDING,
        THREE: TaskStatus.DONE,
        "step09-task-01": TaskStatus.PENDING,
    }


def test_after_a_crash_a_session_that_ended_is_still_heard(folder: Folder) -> None:
    claim = folder.claim()
    session = start(folder.store, claim)
    folder.edit("task-01-types", "IN_PROGRESS", "COMPLETED")
    ended = SessionEnded(task_id=claim.task.id, session_id=session.id, ended="finished")
    folder.store.sessions.end(replace(session, checkpoint=Checkpoint.ENDED), claim, ended)
    assert folder.again().sync() == ()
    assert folder.document.read_claim(claim.task) == DocumentClaim(claims=True)


def test_after_a_crash_what_nobody_will_judge_is_taken_back(folder: Folder) -> None:
    claim = folder.claim()
    folder.edit("task-01-types", "IN_PROGRESS", "COMPLETED")
    folder.edit("task-02-parser", "PENDING", "COMPLETED")
    folder.store.claims.settle(claim, Released("it died"), message="so", fail_fast=False)
    (text,) = folder.again().sync()
    assert "its status was moved" in text
    assert [task.status for task in folder.tasks().values()][:2] == [TaskStatus.PENDING] * 2
    assert folder.words() == {
        "step01/task-01-types": CodeTaskStatus.PENDING,
        "step01/task-02-parser": CodeTaskStatus.PENDING,
        "step02/task-01-docs": CodeTaskStatus.COMPLETED,
    }


def test_what_a_person_changes_counts(folder: Folder) -> None:
    folder.edit("task-01-types", "# Task: Types", "# Task: All types")
    folder.edit("task-02-parser", "PENDING", "BLOCKED")
    folder.edit("task-01-docs", "COMPLETED", "PENDING")
    warnings = folder.document.sync()
    assert len(warnings) == 2
    assert folder.tasks()[ONE].title == "All types"
    assert folder.tasks()[TWO].status is TaskStatus.BLOCKED
    assert folder.tasks()[THREE].status is TaskStatus.PENDING
    folder.edit("task-02-parser", "BLOCKED", "PENDING")
    folder.edit("task-01-docs", "PENDING", "done")
    folder.document.sync()
    assert folder.tasks()[TWO].status is TaskStatus.PENDING
    assert folder.tasks()[THREE].status is TaskStatus.DONE


def test_what_the_store_knows_better_is_written_back(folder: Folder) -> None:
    folder.store.tasks.force_done(folder.tasks()[ONE].id)
    assert folder.document.sync() == ()
    assert read_status(folder.text("task-01-types")) is CodeTaskStatus.COMPLETED
    folder.assert_only_stamps_changed()


def test_a_file_that_is_gone_is_archived_and_may_come_back(folder: Folder) -> None:
    path = at("step01/task-02-parser")
    text = folder.project_files.pages.pop(path)
    assert "archived" in folder.document.sync()[0]
    assert TWO not in folder.tasks()
    folder.project_files.pages[path] = text
    assert "again" in folder.document.sync()[0]
    assert TWO in folder.tasks()


def test_what_cannot_be_built_stops_the_first_look_only(folder: Folder) -> None:
    folder.edit("task-02-parser", "task-01", "task-77")
    assert "going on with the tasks as they were" in folder.document.sync()[0]
    with pytest.raises(UnusableData, match="no such code task"):
        folder.again().sync()
    folder.project_files.pages.clear()
    with pytest.raises(Missing, match="there are no code tasks"):
        folder.again().sync()


def test_a_status_that_is_none_is_said(folder: Folder) -> None:
    folder.edit("task-02-parser", "PENDING", "whenever")
    assert "there is no status whenever" in folder.document.sync()[0]


def test_where_others_write_only_the_store_follows(folder: Folder) -> None:
    quiet = CodeTasks(
        DocumentTasks(folder.store, folder.feature, FOLDER, 1),
        folder.project_files,
        FrozenClock(),
        writes=False,
    )
    folder.store.tasks.force_done(folder.tasks()[ONE].id)
    assert quiet.sync() == ()
    assert {name: folder.text(name) for name in FILES} == FILES


def test_a_session_on_another_task_leaves_these_alone(folder: Folder) -> None:
    other = folder.store.features.add("other")
    task = folder.store.tasks.add(TaskDraft(title="x", alias=ONE, feature_id=other.id, priority=-9))
    claim = folder.claim()
    assert claim.task.id == task.id
    assert {name: folder.text(name) for name in FILES} == FILES
    folder.edit("task-02-parser", "PENDING", "COMPLETED")
    left = folder.document.read_claim(claim.task)
    assert (left.claims, len(left.warnings)) == (False, 1)
    folder.settle(claim, done=True)
    assert folder.document.sync() == ()
    assert {name: folder.text(name) for name in FILES} == FILES
    assert folder.tasks()[TWO].status is TaskStatus.PENDING


BAD = {
    "step01/task-01-again": "# Task: Twice\n",
    "step01/task-08-lost": "Blocked-By: task-99\n",
    "step01/task-09-itself": "Blocked-By: task-09\n",
}


@pytest.mark.parametrize("names", [*([name] for name in BAD), [*BAD]], ids=str)
def test_a_new_file_that_does_not_fit_stops_no_other(folder: Folder, names: list[str]) -> None:
    claim = folder.claim()
    for name in names:
        folder.project_files.pages[at(name)] = BAD[name]
    folder.project_files.pages[at("step01/task-07-good")] = "# Task: Good\nBlocked-By: task-02\n"
    folder.settle(claim, done=True)
    for document in (folder.document, folder.again(), folder.again()):
        warnings = document.sync()
        assert len(warnings) == len(names), warnings
        assert all(line.endswith(" is left out") for line in warnings)
        assert folder.tasks().keys() == {ONE, TWO, THREE, "step01-task-07"}
    folder.settle(folder.claim(), done=True)
    assert len(folder.document.sync()) == len(names)
    assert folder.tasks()[TWO].status is TaskStatus.DONE


def test_a_new_file_that_cannot_be_read_stops_no_other(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, read = at("step01/task-08-huge"), folder.project_files.read_bytes
    folder.project_files.pages[path] = "x"

    def refusing(name: str) -> bytes | None:
        if name == path:
            raise UnusableData(f"{name} is too large")
        return read(name)

    monkeypatch.setattr(folder.project_files, "read_bytes", refusing)
    assert folder.again().sync() == (f"{path} is too large; task-08-huge.code-task.md is left out",)
    assert len(folder.tasks()) == 3


def test_a_known_file_that_was_broken_is_still_refused(folder: Folder) -> None:
    folder.project_files.pages[at("step01/task-08-lost")] = BAD["step01/task-08-lost"]
    folder.edit("task-02", "task-01", "task-77")
    with pytest.raises(UnusableData, match="task-77"):
        folder.again().sync()
