"""The graph and its history. Every method is one whole transaction.

The store is several small promises, most in files of their own; whoever needs only one should ask
only for that.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from ralph.core.events import Event, Recorded
from ralph.core.ids import FeatureId, RunId, TaskId
from ralph.core.task import Draft, Edit, Feature, Status, Task
from ralph.core.transitions import Transition
from ralph.ports.breakers import Breakers
from ralph.ports.claims import Claims
from ralph.ports.crew import Crew
from ralph.ports.history import History
from ralph.ports.ledger import Ledger
from ralph.ports.memories import Memories
from ralph.ports.pages import Pages
from ralph.ports.papers import Papers
from ralph.ports.reviews import Reviews
from ralph.ports.stints import Stints


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Which tasks to list."""

    statuses: frozenset[Status] = frozenset()
    feature: FeatureId | None = None
    parent: TaskId | None = None
    ready: bool = False
    limit: int = 0
    offset: int = 0


class LogEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a task's log."""

    task_id: TaskId
    message: str
    timestamp: str


class Graph(Protocol):
    """Tasks, edges, features."""

    def add_task(self, draft: Draft) -> Task:
        """Add it, pending. Refuses unknown parents and blockers, and cycles. A new child reopens
        a settled parent."""
        ...

    def add_many(self, drafts: Sequence[Draft]) -> int:
        """Add all or none. Drafts may name each other as parent or blocker, in any order."""
        ...

    def edit_task(self, task: TaskId, edit: Edit) -> Task: ...

    def learn_files(self, task: TaskId, paths: Sequence[str]) -> None:
        """Add what a session has really touched to what the task says that it will modify, up to a
        limit. A deleted task has nothing to learn."""
        ...

    def delete_task(self, task: TaskId) -> list[TaskId]:
        """Delete it, everything below it and their edges; return what went."""
        ...

    def find(self, name: str) -> Task:
        """By id or alias; else NoSuchTask with near matches in the hint."""
        ...

    def tasks(self, which: Filter) -> list[Task]:
        """By priority, then age."""
        ...

    def subtree(self, root: TaskId | None, limit: int = 0) -> list[Task]:
        """A task and everything below it (or all), parents before children."""
        ...

    def children(self, task: TaskId) -> list[Task]: ...
    def blockers(self, task: TaskId) -> list[Task]: ...
    def dependents(self, task: TaskId) -> list[Task]: ...
    def blocker_ids(self, tasks: Sequence[TaskId]) -> dict[TaskId, tuple[TaskId, ...]]:
        """The blockers of many tasks at once, for lists."""
        ...

    def link(self, blocker: TaskId, blocked: TaskId) -> None:
        """Add an edge; adding it twice is adding it once. CycleRefused where it must be."""
        ...

    def unlink(self, blocker: TaskId, blocked: TaskId) -> bool: ...

    def apply(self, task: TaskId, steps: Sequence[Transition]) -> Task:
        """Take a task through legal transitions by hand, with all that follows from them.

        On a parent: see `force_done`, `force_failed`, `reset`, which go below it.
        """
        ...

    def force_done(self, task: TaskId) -> Task:
        """Walk it to done; a parent by way of its open leaves."""
        ...

    def force_failed(self, task: TaskId, reason: str, *, fail_fast: bool = False) -> Task:
        """Walk it to failed; a parent by way of its open leaves. A failed one gets the reason,
        unless that is empty. `fail_fast`: its parents fail with it."""
        ...

    def reset(self, task: TaskId) -> Task:
        """Back to the beginning, and everything below it; what must be open above is reopened."""
        ...

    def retry(self, task: TaskId) -> Task:
        """A failed or blocked task (or a failed parent's failed leaves) gets a fresh set of
        tries."""
        ...

    def add_feature(self, name: str) -> Feature:
        """Add it, or return the one of that name."""
        ...

    def feature(self, name: str) -> Feature | None:
        """By name or id."""
        ...

    def features(self) -> list[Feature]: ...
    def document_feature(
        self, feature: FeatureId, *, spec_path: str | None, plan_path: str | None
    ) -> Feature:
        """Say where its spec and its plan are; None where there is none. Its status follows, as it
        follows whatever happens to its tasks."""
        ...

    def delete_feature(self, feature: FeatureId) -> list[TaskId]:
        """Delete it with all its tasks, what is below them and their edges; return what went."""
        ...

    def log(self, task: TaskId, message: str) -> None: ...
    def logs(self, task: TaskId, limit: int = 0) -> list[LogEntry]:
        """Oldest first; with a limit the newest of them."""
        ...


class Journal(Protocol):
    """What happened."""

    def record(self, event: Event, run: RunId | None = None) -> None:
        """Append an event that changes no state."""
        ...

    def events(self, after: int = 0, limit: int = 1000) -> list[Recorded]: ...
    def last_seq(self) -> int: ...


class Store(
    Graph,
    Papers,
    Crew,
    Claims,
    History,
    Stints,
    Reviews,
    Memories,
    Ledger,
    Breakers,
    Journal,
    Pages,
    Protocol,
):
    """All of it."""

    before_mark: Callable[[], object]
    """Called before whatever relies on the state of a checkout is recorded: how far a session has
    come, its commits, its verdict. It puts on disk what git wrote; a power cut must not leave a
    task done without its commit."""

    def check(self) -> list[str]:
        """What is wrong with the data, one line each; counters are recounted and mended."""
        ...

    def keep_reserve(self) -> None:
        """Set a little space aside, so that a run on a full disk can still record its end."""
        ...

    @property
    def is_full(self) -> bool:
        """The disk is full and the reserve is used up: time to end the run."""
        ...

    def back_up(self) -> str | None:
        """Make a verified copy, unless there is one of just this state; return where it is.
        UnusableData if the database is damaged, CannotWrite if no copy can be made."""
        ...

    def restore_if_removed(self) -> bool:
        """Put the data back if somebody removed its file. True if that was needed."""
        ...

    def close(self) -> None: ...
