"""One connection to one file, and the rules by which it is used: whole transactions, a reserve for
a full disk, a way back for a removed folder."""

import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

from ralph.adapters.store.backups import Backups
from ralph.adapters.store.migrations import check, migrate
from ralph.adapters.store.trouble import code, explained, refuse_other_files
from ralph.core.errors import CannotWrite, RalphError, Unavailable
from ralph.files import create_regular

T = TypeVar("T")
Row = tuple[Any, ...]
Values = Sequence[Any] | Mapping[str, Any]

OLDEST: Final = (3, 38)
"""RETURNING came with 3.35; json_each is always there since 3.38."""
NAP_S: Final = 0.005
"""How long to wait for others before the next try, and up to twice as long. SQLite's own naps begin
shorter: those who wait would get in after a transaction or two, and find all that they remembered
of the file outdated. And they grow to a tenth of a second, in which one process takes all turns."""
RESERVE_BYTES: Final = 256 * 1024
"""Enough to record how a run ended; not enough to be missed."""


class Database:
    """A SQLite file in WAL mode."""

    def __init__(
        self, path: str, *, relaxed: bool, timeout_s: float, backups: Backups | None = None
    ) -> None:
        if sqlite3.sqlite_version_info < OLDEST:
            wanted = ".".join(map(str, OLDEST))
            raise Unavailable(f"SQLite {sqlite3.sqlite_version} is too old, {wanted} is needed")
        self.path = os.path.abspath(path)
        self.is_full = False
        self.begun = 0
        """How many transactions have begun."""
        self.before_commit: Callable[[], object] = lambda: None
        """What is left to do when the work of a transaction is done."""
        self.backups = backups or Backups("")
        self._relaxed = relaxed
        self._timeout_s = timeout_s
        self._is_restoring = False
        self.backups.check_file(self.path)
        self._connection = self._opened()
        self._remember_files()

    # Opening and closing

    def _opened(self) -> sqlite3.Connection:
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
        except OSError as error:
            raise CannotWrite(
                f"folder of {self.path} cannot be made: {error.strerror}",
                hint="look at its permissions, and at what is in its place",
            ) from error
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
            raise explained(error, self.path, self.backups.way_back) or error from error
        return connection

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
        self._set_wal(connection)
        migrate(connection, self.path, backups=self.backups)

    def _set_wal(self, connection: sqlite3.Connection) -> None:
        deadline = time.monotonic() + self._timeout_s
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                # Two processes that create one database get in each other's way here, and
                # SQLite does not wait as it does everywhere else.
                if code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    # Statements

    def execute(self, sql: str, values: Values = ()) -> sqlite3.Cursor:
        """Run one statement."""
        return self._connection.execute(sql, values)

    def execute_many(self, sql: str, rows: Iterable[Values]) -> None:
        """Run one statement for each row."""
        self._connection.executemany(sql, rows)

    def rows(self, sql: str, values: Values = ()) -> list[Row]:
        """All rows. What a statement returns is always fetched to its end: a half-read
        RETURNING would keep the transaction from committing."""
        return self._connection.execute(sql, values).fetchall()

    def row(self, sql: str, values: Values = ()) -> Row | None:
        """The only row, or None."""
        found = self._connection.execute(sql, values).fetchall()
        return found[0] if found else None

    def value(self, sql: str, values: Values = ()) -> Any:
        """The first column of the first row; None without one."""
        found = self.row(sql, values)
        return found[0] if found else None

    def damages(self) -> list[str]:
        """All that is wrong with the file, one line each."""
        from ralph.adapters.store.damage import damages

        return list(damages(self._connection))

    # Transactions

    @property
    def in_transaction(self) -> bool:
        """Are we in the middle of one?"""
        return self._connection.in_transaction

    def read(self, work: Callable[[], T]) -> T:
        """Look something up."""
        if self._connection.in_transaction:
            return work()
        try:
            return self._patiently(work)
        except sqlite3.Error as error:
            raise explained(error, self.path, self.backups.way_back) or error from error

    def write(self, work: Callable[[], T]) -> T:
        """Do all of `work` or nothing of it. It may be called twice, so it must not use anything
        up: on a full disk the reserve is given away and the work tried once more.
        """
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
            raise explained(error, self.path, self.backups.way_back) or error from error

    def _whole(self, work: Callable[[], T]) -> T:
        # IMMEDIATE: a transaction that reads first and wants to write later may find that it
        # cannot, and would have to start again.
        self._patiently(self._begin)
        self.begun += 1
        try:
            done = work()
            self.before_commit()
            self._connection.execute("COMMIT")
        except BaseException:
            # A full disk may have rolled it back already.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self.backups.mark(self._connection)
        return done

    def _begin(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def _patiently(self, work: Callable[[], T]) -> T:
        """Do it as soon as others let us."""
        deadline = 0.0
        while True:
            try:
                return work()
            except sqlite3.OperationalError as error:
                now = time.monotonic()
                deadline = deadline or now + self._timeout_s
                if code(error) != sqlite3.SQLITE_BUSY or now >= deadline:
                    raise
            # Not all of us at the same time; what is left of a second is dice enough.
            time.sleep(NAP_S * (1 + now * 1000 % 1))

    # A full disk

    def keep_reserve(self) -> None:
        """Set some bytes aside, so that a run on a full disk can still record its end."""
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

        The file lives on, without a name, as long as somebody has it open. If there is another
        file by now, a colleague was quicker, or a person began anew: then that one counts, unless
        nothing is in it, since merely to look makes such a file.
        """
        if _inode(self.path) == self._inode and not self._has_lost_log:
            return False
        _clear_place(self.path)
        is_old = _inode(self.path) == self._inode
        # Whoever removes folders may not have finished yet: until the new file is open, our data
        # must be where nobody finds it, and it may take more than one try.
        kept = sqlite3.connect("")
        try:
            self._connection.backup(kept)
            deadline = time.monotonic() + self._timeout_s
            while not self._put_back(kept, is_old=is_old):
                if time.monotonic() > deadline:
                    raise CannotWrite(f"database {self.path} was removed and cannot be put back")
                time.sleep(0.01)
        finally:
            kept.close()
        self._remember_files()
        return True

    @property
    def _has_lost_log(self) -> bool:
        """Is only its newest part gone? Then others do not see that part, and write over it."""
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
        """Take note of what to look for when somebody cleans up."""
        self._inode = _inode(self.path)
        self._wal = _inode(f"{self.path}-wal")


def _write_copy(kept: sqlite3.Connection, path: str) -> None:
    partial = f"{path}.restored-{os.getpid()}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    copy = sqlite3.connect(partial)
    try:
        kept.backup(copy)
    finally:
        copy.close()
    _put_in_place(partial, path)


def _clear_place(path: str) -> None:
    """Move aside what is no file: whoever put it there did not mean a database."""
    for place in (path, f"{path}-wal", f"{path}-shm"):
        with suppress(OSError):
            if not stat.S_ISREG(os.stat(place).st_mode):
                os.rename(place, f"{place}.aside-{time.time_ns()}")


def _inode(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _put_in_place(file: str, path: str) -> None:
    # Unlike a rename, a link never replaces what a colleague has just put there.
    try:
        os.link(file, path)
    except FileExistsError:
        pass
    except OSError:
        # Some file systems have no links; there the risk is taken.
        os.rename(file, path)
        return
    os.unlink(file)
