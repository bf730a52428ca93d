"""A PRD and the store behind it."""

from collections.abc import Iterator

import pytest

from ralph.core.graph import Schedule
from ralph.core.run import AllTasks
from ralph.core.task import Task, TaskStatus
from ralph.core.transitions import Accepted, Rejected
from ralph.store.claims import Claim
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from ralph.workflows.document_tasks import DocumentTasks
from ralph.workflows.prd_document import PrdDocument
from tests.contracts.store_test_helpers import WORKER, begin
from tests.doubles import FakeProjectFiles
from tests.doubles.clock import FrozenClock
from tests.stores import memory_store

PATH = ".agents/tasks/prd.md"
TEXT = """\
# A product

### [ ] US-001: One
- [ ] a
- [ ] b

### [ ] US-002: Two
Depends on: US-001
- [ ] c

### [x] US-003: Three
- [x] d
"""


@pytest.fixture
def store() -> Iterator[Store]:
    made = memory_store(FrozenClock())
    yield made
    assert made.check() == []


class PrdWorkspace:
    """A PRD and the store of its tasks."""

    def __init__(self, store: Store, text: str = TEXT) -> None:
        self.store = store
        self.project_files = FakeProjectFiles()
        self.text = text
        self.feature = store.features.add("prd")
        self.stories = self.again()

    def again(self) -> PrdDocument:
        """As after a restart."""
        self.stories = PrdDocument(
            DocumentTasks(self.store, self.feature, PATH, 2),
            self.project_files,
        )
        return self.stories

    @property
    def text(self) -> str:
        return self.project_files.pages[PATH]

    @text.setter
    def text(self, text: str) -> None:
        self.project_files.pages[PATH] = text

    def edit(self, *pairs: tuple[str, str]) -> None:
        for old, new in pairs:
            assert old in self.text
            self.text = self.text.replace(old, new)

    def follow(self) -> tuple[str, ...]:
        return self.stories.sync()

    def tasks(self) -> dict[str, Task]:
        found = self.store.tasks.select(TaskFilter(feature=self.feature.id))
        return {task.alias: task for task in found if task.alias}

    def statuses(self) -> dict[str, TaskStatus]:
        return {name: task.status for name, task in self.tasks().items()}

    def task(self, name: str) -> Task:
        return self.tasks()[name]

    def claim(self) -> Claim:
        claim = self.store.claims.claim(WORKER, None, AllTasks(), Schedule.PRIORITY)
        assert claim is not None
        return claim

    def settle(self, claim: Claim, *, done: bool) -> None:
        """As the engine does it: first the document, so that it is committed with the work."""
        self.stories.write_verdict(claim.task, done=done)
        verdict = Accepted() if done else Rejected("red")
        self.store.claims.settle(claim, verdict, message="so", fail_fast=False)
        self.stories.end_session(claim.task)


@pytest.fixture
def prd_workspace(store: Store) -> PrdWorkspace:
    begin(store)
    prd_workspace = PrdWorkspace(store)
    assert prd_workspace.follow() == ()
    return prd_workspace


def at_work(prd_workspace: PrdWorkspace) -> Claim:
    claim = prd_workspace.claim()
    assert claim.task.alias == "US-001"
    prd_workspace.stories.session_starts(claim.task)
    return claim
