"""What every part of the store stands on: a database, a clock, and the words `whole`, `mark` and
`reading`, which say what kind of transaction a method is."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from ralph.adapters.store.database import Database
from ralph.adapters.store.queries import SHARED
from ralph.adapters.store.rows import task_of
from ralph.core.errors import NoSuchTask
from ralph.core.ids import TaskId
from ralph.core.moment import iso
from ralph.core.task import Task
from ralph.ports.clock import Clock

P = ParamSpec("P")
T = TypeVar("T")


class Part:
    """A database and a clock."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.db = database
        self.clock = clock
        self.before_mark: Callable[[], object] = lambda: None
        """Makes durable what a mark relies on: see `Store`."""
        self._moment = ""
        self._moment_of = 0

    def now(self) -> str:
        """The moment, as it is stored: one and the same throughout a transaction."""
        if self._moment_of != self.db.begun:
            self._moment, self._moment_of = iso(self.clock.now()), self.db.begun
        return self._moment

    def task(self, task: TaskId) -> Task:
        """The task of that id, or NoSuchTask."""
        row = self.db.row(SHARED.one_task, (task,))
        if row is None:
            raise NoSuchTask(f"there is no task {task}")
        return task_of(row)


S = TypeVar("S", bound=Part)


def whole(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """The method is one whole transaction, or a piece of the one it is called in.

    It may be run twice (see `Database.write`), so it must not use up its arguments.
    """

    @wraps(method)
    def transaction(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.db.write(lambda: method(self, *args, **kwargs))

    return transaction


def mark(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """A whole transaction that relies on the checkout: what git wrote there is on disk first."""
    transaction = whole(method)

    @wraps(method)
    def after_sync(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        # Outside the transaction: nobody else is kept waiting for our disk.
        if not self.db.in_transaction:
            self.before_mark()
        return transaction(self, *args, **kwargs)

    return after_sync


def reading(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """The method changes nothing."""

    @wraps(method)
    def lookup(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.db.read(lambda: method(self, *args, **kwargs))

    return lookup
