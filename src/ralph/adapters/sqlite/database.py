"""One connection to one SQLite file: whole transactions, a reserve for a full disk, and recovery of
a file that was removed."""

import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import chain, islice
from typing import Any, Final, TypeVar

from ralph.adapters.sqlite.backups import Backups
from ralph.adapters.sqlite.damage import open_existing
from ralph.adapters.sqlite.errors import code, explained, refuse_other_files
from ralph.adapters.sqlite.migrations import check, migrate, newest_version
from ralph.core.errors import CannotWrite, RalphError, Unavailable
from ralph.core.times import to_iso
from ralph.files import create_regular, or_cannot_write
from ralph.store.database import Queries, Values, queries
from ralph.store.rows import Row
from ralph.store.store import Store

T = TypeVar("T")

OLDEST: Final = (3, 38)
"""RETURNING came with 3.35; json_each is always there since 3.38."""
NAP_S: Final = 0.005
"""How long to wait for other processes before the next try, and up to twice as long. SQLite's own
waits begin shorter: a process would get in after a transaction or two, and find all that it had
cached of the file outdated. And they grow to a tenth of a second, in which one process takes all
turns."""
PATIENCE_S: Final = 30.0
"""How long to wait for other processes to finish writing."""
IN_MEMORY: Final = ":memory:"
"""The path of a database without a file, for tests."""
RESERVE_BYTES: Final = 256 * 1024
"""Enough to record how a run ended; not enough to be missed."""
MANY: Final = 1000
"""So many rows at once are an import."""
LARGE_CACHE_KB: Final = 64_000
CACHE_KB: Final = 2000
"""SQLite's own choice."""
STEPS: Final = 100_000
"""So many steps of a statement take some milliseconds: then SQLite asks whether it is to go on."""


def sqlite_version() -> str:
    """The version of SQLite; Unavailable if it is too old."""
    if sqlite3.sqlite_version_info < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise Unavailable(
            f"SQLite {sqlite3.sqlite_version} is older than {wanted}",
            hint="use a Python that was built with a newer one",
        )
    return sqlite3.sqlite_version


class SqliteDatabase:
    """`Database` on a SQLite file in WAL mode."""

    def __init__(
        self,
        path: str,
        clock: Callable[[], float] = time.time,
        *,
        relaxed: bool = False,
        timeout_s: float = PATIENCE_S,
        backups: Backups | None = None,
    ) -> None:
        sqlite_version()
        self.path = path if path == IN_MEMORY else os.path.abspath(path)
        self.clock = clock
        self.is_full = False
        self.before_checkpoint: Callable[[], object] = lambda: None
        self.before_commit: Callable[[], object] = lambda: None
        self.interrupted: Callable[[], object] = lambda: None
        self._now = ""
        """The time of this transaction; empty before it is asked for."""
        self._has_large_cache = False
        self.backups = backups or Backups("")
        self._relaxed = relaxed
        self._timeout_s = timeout_s
        self._is_restoring = False
        self._unwritable: RalphError | None = None
        """Why it can only be read: the disk is full or read-only, or the file is another user's."""
        self.backups.check_file(self.path)
        self._connection = self._opened()
        self._remember_files()

    # Opening and closing

    def _opened(self) -> sqlite3.Connection:
        if self.path != IN_MEMORY:
            hint = "look at its permissions, and at what is in its place"
            try:
                with or_cannot_write(f"make the folder of {self.path}", hint):
                    os.makedirs(os.path.dirname(self.path), exist_ok=True)
            except CannotWrite as error:
                return self._opened_for_reading(error)
            refuse_other_files(self.path)
        try:
            connection = sqlite3.connect(
                self.path, timeout=self._timeout_s, isolation_level=None, cached_statements=256
            )
            try:
                self._prepare(connection)
                # From here on we wait ourselves: see `_patiently`.
                connection.execute("PRAGMA busy_timeout = 0")
            except BaseException:
                connection.close()
                raise
        except sqlite3.Error as error:
            why = self._explained(error)
            if isinstance(why, CannotWrite):
                return self._opened_for_reading(why)
            raise why from error
        return connection

    def _explained(self, error: sqlite3.Error) -> Exception:
        return explained(error, self.path, self.backups.recovery_hint) or error

    def _opened_for_reading(self, why: CannotWrite) -> sqlite3.Connection:
        """Where nothing can be written, not even the index of the log that every reader shares;
        `why` if there is nothing to be read either."""
        if self._is_restoring:
            raise why
        self._unwritable = why
        if not os.path.lexists(self.path):
            # A project without tasks, such as a fresh clone.
            connection = sqlite3.connect("", isolation_level=None)
            migrate(connection, self.path, self.backups.back_up)
            return connection
        ways = ["mode=ro"]
        log = _stat(f"{self.path}-wal")
        if log is None or log.st_size == 0:
            # All of it is in the file, and no process is changing it.
            ways.append("mode=ro&immutable=1")
        for way in ways:
            with suppress(sqlite3.Error):
                connection = open_existing(
                    self.path, way, timeout=self._timeout_s, isolation_level=None
                )
                if check(connection, self.path) == newest_version():
                    self.backups.check_content(self.path, connection)
                    return connection
        raise why

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA synchronous = {'NORMAL' if self._relaxed else 'FULL'}")
        # Before anything is written: another program's file must stay as it is.
        check(connection, self.path)
        if not self._is_restoring:
            self.backups.check_content(self.path, connection)
        # A claim or a completion changes a row on each of a dozen pages. Half the usual size (it
        # counts only for a new file) is half as much to write. And 48 MB of them are sorted into
        # the file at a time, instead of four, for a twelfth of the flushes.
        connection.execute("PRAGMA page_size = 2048")
        connection.execute("PRAGMA wal_autocheckpoint = 24000")
        # Two processes that create one database get in each other's way here, and SQLite does not
        # wait as it does everywhere else.
        self._patiently(lambda: connection.execute("PRAGMA journal_mode = WAL"))
        migrate(connection, self.path, self.backups.back_up)

    def close(self) -> None:
        self._connection.close()

    # Statements

    def execute(self, sql: str, values: Values = ()) -> int:
        return self._connection.execute(sql, values).rowcount

    def execute_many(self, sql: str, rows: Iterable[Values]) -> None:
        rows = iter(rows)
        first = list(islice(rows, MANY))
        if len(first) == MANY:
            # Or pages are written out and read again until all rows are in.
            self._connection.execute(f"PRAGMA cache_size = -{LARGE_CACHE_KB}")
            self._has_large_cache = True
        self._connection.executemany(sql, chain(first, rows))

    def rows(self, sql: str, values: Values = ()) -> list[Row]:
        """All rows. What a statement returns is always fetched to its end: a half-read
        RETURNING would keep the transaction from committing."""
        return self._read(lambda: self._connection.execute(sql, values).fetchall())

    def each(self, sql: str, values: Values = ()) -> Iterator[Row]:
        return self._read(lambda: self._connection.execute(sql, values))

    def row(self, sql: str, values: Values = ()) -> Row | None:
        found = self.rows(sql, values)
        return found[0] if found else None

    def value(self, sql: str, values: Values = ()) -> Any:
        found = self.row(sql, values)
        return found[0] if found else None

    # Transactions

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    @contextmanager
    def time_limit(self, seconds: float) -> Iterator[None]:
        until = time.monotonic() + seconds
        self._connection.set_progress_handler(lambda: time.monotonic() > until, STEPS)
        try:
            yield
        finally:
            self._connection.set_progress_handler(None, 0)

    def now(self) -> str:
        self._now = self._now or to_iso(self.clock())
        return self._now

    def _read(self, work: Callable[[], T]) -> T:
        """Outside of a transaction a statement waits for other processes by itself."""
        if self._connection.in_transaction:
            return work()
        try:
            return self._patiently(work)
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def write(self, work: Callable[[], T]) -> T:
        """Do all of `work` or nothing of it. It may be called twice, so it must not use anything
        up: on a full disk the reserve is given away and the work tried once more.
        """
        if self._unwritable is not None:
            raise self._unwritable
        if self._connection.in_transaction:
            return work()
        try:
            try:
                return self._whole(work)
            except sqlite3.Error as error:
                if code(error) != sqlite3.SQLITE_FULL or not self._give_reserve_away():
                    raise
                done = self._whole(work)
                self.is_full = True
                return done
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def _whole(self, work: Callable[[], T]) -> T:
        # IMMEDIATE: a transaction that reads first and wants to write later may find that it
        # cannot, and would have to start again.
        self._patiently(lambda: self._connection.execute("BEGIN IMMEDIATE"))
        self._now = ""
        try:
            done = work()
            self.before_commit()
            self._connection.execute("COMMIT")
        except BaseException:
            # A full disk may have rolled it back already.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        finally:
            if self._has_large_cache:
                self._connection.execute(f"PRAGMA cache_size = -{CACHE_KB}")
                self._has_large_cache = False
        self.backups.mark(self._connection)
        return done

    def _patiently(self, work: Callable[[], T]) -> T:
        """Do it as soon as no other process is in the way."""
        deadline = 0.0
        while True:
            try:
                return work()
            except sqlite3.OperationalError as error:
                now = time.monotonic()
                deadline = deadline or now + self._timeout_s
                if code(error) != sqlite3.SQLITE_BUSY or now >= deadline:
                    raise
            # Not all processes at the same time; the part of a second is random enough.
            time.sleep(NAP_S * (1 + now * 1000 % 1))

    # The dialect

    def queries(self, file: str) -> Queries:
        return queries(file)

    def limit(self, limit: int) -> int:
        return limit or -1

    def any_of(self, words: Iterable[str]) -> str:
        """A search of FTS5. In quotes a word is never an operator."""
        return " OR ".join(f'"{word}"' for word in words)

    # All of the data

    def check(self) -> list[str]:
        from ralph.adapters.sqlite.damage import damages

        strays = [
            f"row {row} of {table} names something in {parent} that does not exist"
            for table, row, parent, _ in self.rows("PRAGMA foreign_key_check")
        ]
        return [*damages(self._connection), *strays]

    def back_up(self) -> str | None:
        return self.backups.back_up(self.path)

    # A full disk

    def keep_reserve(self) -> None:
        if self.path == IN_MEMORY:
            return
        try:
            with create_regular(self._reserve) as handle:
                # Random, since some file systems store zeros as nothing.
                handle.write(os.urandom(RESERVE_BYTES))
                os.fsync(handle.fileno())
        except OSError as error:
            raise CannotWrite(
                f"{self._reserve} cannot be written: {error.strerror}",
                hint="a run needs a little space for its own records",
            ) from error

    @property
    def _reserve(self) -> str:
        return f"{self.path}.reserve"

    def _give_reserve_away(self) -> bool:
        try:
            os.unlink(self._reserve)
        except OSError:
            return False
        return True

    # A removed folder

    def restore_if_removed(self) -> bool:
        """Write the database again if its file is gone. True if that was needed.

        The removed file exists, without a name, as long as a process has it open. If there is
        another file by now, another process was quicker, or a user started again: then that one
        counts, unless it is empty, since merely opening a database makes such a file.
        """
        if self.path == IN_MEMORY or self._unwritable:
            return False
        if _inode(self.path) == self._inode and not self._has_lost_log:
            return False
        _clear_place(self.path)
        is_old = _inode(self.path) == self._inode
        # The removal may still be going on: until the new file is open, the data must be where
        # that does not reach, and it may take more than one try.
        with closing(sqlite3.connect("")) as kept:
            self._connection.backup(kept)
            deadline = time.monotonic() + self._timeout_s
            while not self._put_back(kept, is_old=is_old):
                if time.monotonic() > deadline:
                    raise CannotWrite(f"database {self.path} was removed and cannot be restored")
                time.sleep(0.01)
        self._remember_files()
        return True

    @property
    def _has_lost_log(self) -> bool:
        """Whether only its newest part is gone, which other processes would overwrite."""
        return self._wal is not None and _inode(f"{self.path}-wal") != self._wal

    def _put_back(self, kept: sqlite3.Connection, *, is_old: bool) -> bool:
        try:
            if _inode(self.path) is None:
                _write_copy(kept, self.path)
            # Closed before the new one is opened: they would share the names of their WAL files.
            self._connection.close()
            self._is_restoring = True
            try:
                self._connection = self._opened()
            finally:
                self._is_restoring = False
            if is_old or self.value("SELECT NOT EXISTS (SELECT 1 FROM events)"):
                kept.backup(self._connection)
        except (sqlite3.Error, OSError, RalphError):
            return False
        return True

    def _remember_files(self) -> None:
        """Remember which files they are, to notice that they were removed."""
        self._inode = _inode(self.path)
        self._wal = _inode(f"{self.path}-wal")


def _write_copy(kept: sqlite3.Connection, path: str) -> None:
    partial = f"{path}.restored-{os.getpid()}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with closing(sqlite3.connect(partial)) as copy:
        kept.backup(copy)
    # Unlike a rename, a link never replaces what another process has just put there.
    try:
        os.link(partial, path)
    except FileExistsError:
        pass
    except OSError:
        # Some file systems have no links.
        os.rename(partial, path)
        return
    os.unlink(partial)


def _clear_place(path: str) -> None:
    """Move aside what is no file, such as a folder."""
    for place in (path, f"{path}-wal", f"{path}-shm"):
        with suppress(OSError):
            if not stat.S_ISREG(os.stat(place).st_mode):
                os.rename(place, f"{place}.aside-{time.time_ns()}")


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def _inode(path: str) -> tuple[int, int] | None:
    found = _stat(path)
    return (found.st_dev, found.st_ino) if found is not None else None


def open_sqlite_store(
    path: str,
    clock: Callable[[], float] = time.time,
    *,
    relaxed: bool = False,
    timeout_s: float = PATIENCE_S,
    backups: Backups | None = None,
) -> Store:
    """Open the database, or make it, and bring it up to date. `:memory:` is one without a file.

    `backups` knows whether there was one, and keeps copies. `relaxed` survives a crash of Ralph
    but may lose the last moments before a power cut.
    """
    return Store(SqliteDatabase(path, clock, relaxed=relaxed, timeout_s=timeout_s, backups=backups))
