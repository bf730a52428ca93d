"""The database that the parts of the store are written for. No part knows which one it is: another
one implements `Database`, and has its own text for each statement in `sql/` that it does not
understand."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import msgspec

from ralph.core.errors import Missing, NoSuchTask
from ralph.core.events import ENCODE, EdgeAdded, EdgeRemoved, Event, TaskAdded
from ralph.core.ids import RunId, TaskId
from ralph.core.safe_text import all_text
from ralph.core.task import Task
from ralph.store.rows import Row, task_of, value_of

P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V", bound=msgspec.Struct)
Values = Sequence[Any] | Mapping[str, Any]
SQL_FOLDER = os.path.join(os.path.dirname(__file__), "sql")


class Queries:
    """The statements of one file in `sql/`, by name. `{name}` in a statement stands for another one
    of the file, or of `shared.sql`. The file is read with its first statement: most commands need
    two or three files. `own` is the folder of a database that words some statements its own way."""

    def __init__(self, file: str, own: str = "") -> None:
        self._file = file
        self._own = own
        self._raw: dict[str, str] | None = None

    def __getattr__(self, name: str) -> str:
        # Only asked for once per name: what is found is kept as a plain attribute.
        if self._raw is None:
            self._raw = _read_statements(os.path.join(SQL_FOLDER, f"{self._file}.sql"))
            own = os.path.join(self._own, f"{self._file}.sql")
            if self._own and os.path.exists(own):
                self._raw |= _read_statements(own)
        if name in self._raw:
            text = self._raw[name].format_map(self) if "{" in self._raw[name] else self._raw[name]
        elif self._file != "shared" and not name.startswith("__"):
            text = getattr(queries("shared", self._own), name)
        else:
            raise AttributeError(f"no query {name} in {self._file}.sql")
        self.__dict__[name] = text
        return text

    def __getitem__(self, name: str) -> str:
        return str(getattr(self, name))


def _read_statements(path: str) -> dict[str, str]:
    """Statements by name, without comments."""
    with open(path, encoding="utf-8") as handle:
        blocks = handle.read().split("-- name: ")[1:]
    found = {}
    for block in blocks:
        name, _, body = block.partition("\n")
        lines = (line for line in body.splitlines() if not line.startswith("--"))
        found[name.strip()] = "\n".join(lines).strip().removesuffix(";")
    return found


queries = cache(Queries)


class Database(Protocol):
    """One connection: statements, transactions, the dialect, and what concerns all of the data.

    Errors of the database are raised as `RalphError`, except those that are bugs of Ralph.
    """

    clock: Callable[[], float]
    """Seconds since the epoch."""
    before_checkpoint: Callable[[], object]
    """Called before whatever relies on the state of a checkout is recorded: how far a session has
    come, its commits, its verdict. It puts on disk what git wrote; a power cut must not leave a
    task done without its commit."""
    before_commit: Callable[[], object]
    """Runs at the end of every transaction."""
    interrupted: Callable[[], object]
    """Whether a user wants to stop: then a server that is gone is not waited for."""

    # Statements. Values are `?` or `:name` in the text of a statement.

    def execute(self, sql: str, values: Values = ()) -> int:
        """Run a statement, and return how many rows it has changed."""

    def execute_many(self, sql: str, rows: Iterable[Values]) -> None: ...

    def rows(self, sql: str, values: Values = ()) -> list[Row]: ...

    def each(self, sql: str, values: Values = ()) -> Iterator[Row]:
        """The rows one by one, read only as far as the caller goes."""

    def row(self, sql: str, values: Values = ()) -> Row | None: ...

    def value(self, sql: str, values: Values = ()) -> Any:
        """The first column of the first row; None without one."""

    # Transactions

    @property
    def in_transaction(self) -> bool: ...

    def time_limit(self, seconds: float) -> AbstractContextManager[None]:
        """Statements that run for longer are ended: Busy, and nothing is changed."""

    def now(self) -> str:
        """The current time as it is stored: the same throughout a transaction."""

    def write(self, work: Callable[[], T]) -> T:
        """Do all of the work or nothing of it, in the transaction of the caller if there is one.
        It may be called twice, so it must not use anything up."""

    # The dialect

    def queries(self, file: str) -> Queries:
        """The statements of one file in `sql/`."""

    def limit(self, limit: int) -> object:
        """The value for LIMIT; 0 is no limit."""

    def any_of(self, words: Iterable[str]) -> str:
        """A search of the full-text index for any of these words, which are letters and digits."""

    # All of the data

    def check(self) -> list[str]:
        """What is wrong with the database, one line each."""

    def keep_reserve(self) -> None:
        """Set a little space aside, so that a run on a full disk can still record its end."""

    @property
    def is_full(self) -> bool:
        """The disk is full and the reserve is used up: time to end the run."""

    def back_up(self) -> str | None:
        """Make a verified copy, unless there is one of just this state; return where it is.
        UnusableData if the database is damaged, CannotWrite if no copy can be made."""

    def restore_if_removed(self) -> bool:
        """Write the database again if its file was removed. True if that was needed."""

    def close(self) -> None: ...


class Part:
    """A part of the store: some tables, and the statements of one file in `sql/`."""

    file = ""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.sql = db.queries(self.file)

    def task(self, task: TaskId) -> Task:
        """The task of that id, or NoSuchTask."""
        row = self.db.row(self.sql.one_task, (task,))
        if row is None:
            raise NoSuchTask(f"there is no task {task}")
        return task_of(row)

    def tasks_of(self, sql: str, values: Values = ()) -> list[Task]:
        return [task_of(row) for row in self.db.rows(sql, values)]

    def values(self, kind: type[V], sql: str, values: Values = ()) -> list[V]:
        """The rows of a statement whose columns are the first fields of this kind."""
        return [value_of(kind, row) for row in self.db.rows(sql, values)]

    def decoded(self, kind: type[T], sql: str, values: Values = ()) -> list[T]:
        """The values that a statement returns, each as JSON in the first column."""
        return [msgspec.json.decode(row[0], type=kind) for row in self.db.rows(sql, values)]

    def change_one(self, sql: str, values: Values, what: str) -> None:
        """Run a statement that changes one row; Missing if it changes none."""
        if self.db.execute(sql, values) == 0:
            raise Missing(f"there is no {what}")

    def emit(self, event: Event, run: RunId | None = None) -> None:
        """Append an event to the caller's transaction."""
        self.db.execute(self.sql.append_event, _event_row(event, run, self.db.now()))

    def emit_all(self, events: Iterable[Event]) -> None:
        """Append many at once, all with the same time."""
        now = self.db.now()
        self.db.execute_many(
            self.sql.append_event, (_event_row(event, None, now) for event in events)
        )


def _event_row(event: Event, run: RunId | None, now: str) -> Row:
    task = getattr(event, "task_id", None) or _subject(event)
    return now, run, task, event.__struct_config__.tag, _encoded(event)


def _encoded(event: Event) -> str:
    """As JSON. Names of files are in many messages, and need not be text."""
    try:
        return ENCODE(event).decode()
    except UnicodeEncodeError:
        return ENCODE(all_text(msgspec.to_builtins(event))).decode()


def _subject(event: Event) -> str | None:
    """The task that an event is about though it has no `task_id`, for users of `sqlite3`."""
    match event:
        case TaskAdded(task=task):
            return task.id
        case EdgeAdded(blocked_id=blocked) | EdgeRemoved(blocked_id=blocked):
            return blocked
        case _:
            return None


S = TypeVar("S", bound=Part)


def transaction(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """The method is one transaction, or belongs to the transaction that it is called in.

    It may run twice (see `Database.write`), so it must not use up its arguments.
    """

    @wraps(method)
    def write(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.db.write(lambda: method(self, *args, **kwargs))

    return write


def synced_transaction(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """A transaction that relies on the checkout: what git wrote there is on disk first."""
    write = transaction(method)

    @wraps(method)
    def sync_and_write(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        # Before the transaction begins: no other process has to wait for our disk.
        if not self.db.in_transaction:
            self.db.before_checkpoint()
        return write(self, *args, **kwargs)

    return sync_and_write
