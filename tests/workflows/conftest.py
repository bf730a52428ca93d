"""A PRD and the store behind it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph.adapters.store.sqlite import SqliteStore
from ralph.core.order import Schedule
from ralph.core.target import Everything
from ralph.core.task import Status, Task
from ralph.core.transitions import Accepted, Rejected
from ralph.ports.claims import Claim
from ralph.ports.store import Filter, Store
from ralph.testing.clock import FrozenClock
from ralph.testing.doubles import FakeLibrary
from ralph.testing.memory_store import MemoryStore
from ralph.testing.store_words import WORKER, begin
from ralph.workflows.stories import Stories

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


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    clock = FrozenClock()
    if request.param == "memory":
        yield MemoryStore(clock)
        return
    made = SqliteStore.open(str(tmp_path / "progress.db"), clock, relaxed=True)
    yield made
    wrong = made.check()
    made.close()
    assert wrong == []


class Desk:
    """A PRD on a desk, with a store behind it."""

    def __init__(self, store: Store, text: str = TEXT) -> None:
        self.store = store
        self.library = FakeLibrary()
        self.text = text
        self.feature = store.add_feature("prd")
        self.stories = self.again()

    def again(self) -> Stories:
        """As after a restart."""
        self.stories = Stories(
            store=self.store,
            library=self.library,
            path=PATH,
            feature=self.feature,
            max_retries=2,
        )
        return self.stories

    @property
    def text(self) -> str:
        return self.library.pages[PATH]

    @text.setter
    def text(self, text: str) -> None:
        self.library.pages[PATH] = text

    def edit(self, *pairs: tuple[str, str]) -> None:
        for old, new in pairs:
            assert old in self.text
            self.text = self.text.replace(old, new)

    def follow(self) -> tuple[str, ...]:
        return self.stories.follow()

    def tasks(self) -> dict[str, Task]:
        found = self.store.tasks(Filter(feature=self.feature.id))
        return {task.alias: task for task in found if task.alias}

    def statuses(self) -> dict[str, Status]:
        return {name: task.status for name, task in self.tasks().items()}

    def task(self, name: str) -> Task:
        return self.tasks()[name]

    def claim(self) -> Claim:
        claim = self.store.claim(WORKER, None, Everything(), Schedule.PRIORITY)
        assert claim is not None
        return claim

    def settle(self, claim: Claim, *, done: bool) -> None:
        """As the engine does it: first the document, so that it is committed with the work."""
        self.stories.conclude(claim.task, done=done)
        verdict = Accepted() if done else Rejected("red")
        self.store.settle(claim, verdict, message="so", fail_fast=False)
        self.stories.release(claim.task)


@pytest.fixture
def desk(store: Store) -> Desk:
    begin(store)
    desk = Desk(store)
    assert desk.follow() == ()
    return desk


def at_work(desk: Desk) -> Claim:
    claim = desk.claim()
    assert claim.task.alias == "US-001"
    desk.stories.begin(claim.task)
    return claim
