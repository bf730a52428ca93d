"""Backup copies of the database, and a marker that says how much was in it.

Both are in a folder that `git clean` and agents do not reach: `Backups.folder`. A database that is
empty, gone, or behind the marker is damage, never a new beginning: the first view written from it
would overwrite the last copy of the tasks.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import Annotated, Final

import msgspec

from ralph.adapters.sqlite.damage import losses, open_existing
from ralph.core.errors import CannotWrite, Missing, RalphError, UnusableData
from ralph.core.times import to_iso
from ralph.files import read_regular, replace_file, sync_to_disk

MARKER: Final = "marker.json"
KEPT: Final = 5
"""How many copies are kept by default."""
LOG_FILES: Final = ("", "-wal", "-shm", "-journal")
START_ANEW: Final = "`ralph init --new-database` starts with an empty one"


class LastKnownEvent(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the marker."""

    seq: Annotated[int, msgspec.Meta(ge=0)]
    """The number of the newest event when this was written; 0 in a new database."""


class Backup(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    made_at: str
    bytes: int
    seq: int = 0
    tasks: int = 0
    trouble: str = ""
    """Why it cannot be used."""


class Backups:
    """The copies of one database and its marker; without a folder there are none."""

    def __init__(
        self,
        folder: str,
        *,
        within: str = "",
        keep: int = KEPT,
        had_one: Callable[[], bool] = lambda: False,
    ) -> None:
        self.folder = folder
        self.within = within
        """A repository that is never created for a copy: a user may have moved it away."""
        self.keep = keep
        self.had_one = had_one
        """Whether other files show that there was one: older Ralphs made no marker."""
        self._marked = 0

    @property
    def _has_place(self) -> bool:
        return bool(self.folder) and (not self.within or os.path.isdir(self.within))

    # The marker

    def marker(self) -> LastKnownEvent | None:
        """Read the marker, otherwise what the newest copy shows; None without a database ever."""
        try:
            marker = read_regular(os.path.join(self.folder, MARKER))
            return msgspec.json.decode(marker, type=LastKnownEvent)
        except FileNotFoundError:
            newest = next(iter(self._names()), None)
            return LastKnownEvent(seq=max(1, _seq_of(newest))) if newest else None
        except (OSError, msgspec.MsgspecError):
            return LastKnownEvent(seq=1)  # cut off by a power cut: there was a database

    def mark(self, connection: sqlite3.Connection) -> None:
        """Update the marker after a change: a database whose log was deleted lacks its newest
        part, which may be a verdict."""
        if not self._has_place:
            return
        # It is only a marker: the next use of a damaged database reports the damage.
        with suppress(OSError, sqlite3.Error):
            found = last_seq(connection)
            if found <= self._marked:
                return
            known = self.marker()
            if known is None or known.seq < found:
                self._write_marker(found, is_first=known is None or not known.seq)
            self._marked = found

    def _write_marker(self, seq: int, *, is_first: bool = True) -> None:
        os.makedirs(self.folder, exist_ok=True)
        marker = msgspec.json.encode(LastKnownEvent(seq=seq))
        # Later it may be a little behind, or cut off: that it exists is enough.
        replace_file(os.path.join(self.folder, MARKER), marker, sync=is_first)

    def forget(self) -> None:
        """Accept an empty database from now on. The copies stay."""
        if self.marker() is not None:
            self._write_marker(0)

    def check_file(self, path: str) -> None:
        """UnusableData if there was a database and its file is gone or empty."""
        try:
            if os.path.getsize(path) > 0:
                return
            what = "is empty"
        except FileNotFoundError:
            what = "is gone"
        except OSError:
            return  # opening it reports this
        marker = self.marker()
        if (marker is not None and marker.seq) or self.had_one():
            raise self._lost(path, what)

    def check_content(self, path: str, connection: sqlite3.Connection) -> None:
        """UnusableData if it holds less than it once did."""
        # Read before the database: another process may write to both in between.
        marker = self.marker()
        found = last_seq(connection) if marker is not None else 0
        if marker is None or found >= marker.seq:
            return
        if found == 0:
            raise self._lost(path, "has nothing in it")
        raise UnusableData(
            f"database {path} ends with event {found}, but this project has recorded {marker.seq}",
            hint=f"{self.recovery_hint()}; `ralph doctor --restore {path}` keeps it as it is",
        )

    def _lost(self, path: str, what: str) -> UnusableData:
        hint = self.recovery_hint()
        return UnusableData(
            f"database {path} {what}, but this project has had tasks and runs",
            hint=hint if START_ANEW in hint else f"{hint}; {START_ANEW}",
        )

    # The copies

    def back_up(self, path: str) -> str | None:
        """Copy the database, unless the newest copy has all that is in it. Return the new copy,
        which was verified: UnusableData if the database is damaged."""
        if not self._has_place:
            return None
        partial = os.path.join(self.folder, f"{os.getpid()}.partial")
        try:
            with closing(open_existing(path)) as source:
                found = last_seq(source)
                newest = next(iter(self._names()), "")
                if found == 0 or (newest and _seq_of(newest) == found):
                    return None
                os.makedirs(self.folder, exist_ok=True)
                with closing(sqlite3.connect(partial, isolation_level=None)) as copy:
                    _fill(copy, source)
                    if damage := next(losses(copy), ""):
                        raise sqlite3.DatabaseError(damage)
                self.mark(source)
            sync_to_disk(partial)
            # The clock may have been set back: then the name has a digit more.
            stamp = max(_stamp(), f"{newest.rpartition('-')[0]}0" if newest else "")
            target = os.path.join(self.folder, f"{stamp}-{found}.db")
            os.replace(partial, target)
            sync_to_disk(self.folder)
        except (OSError, sqlite3.OperationalError) as error:
            raise CannotWrite(f"no backup of {path} can be made: {error}") from error
        except sqlite3.DatabaseError as error:
            said = f"database {path} is damaged: {error}"
            raise UnusableData(said, hint=self.recovery_hint()) from error
        finally:
            _remove(partial)
        self._drop_old()
        return target

    def copies(self) -> list[Backup]:
        """Verify all copies; the newest first."""
        return list(self._verified())

    def newest(self) -> Backup | None:
        return next((one for one in self._verified() if not one.trouble), None)

    def _verified(self) -> Iterator[Backup]:
        return (look_at(os.path.join(self.folder, name)) for name in self._names())

    def recovery_hint(self) -> str:
        """Say what a user whose database is lost can do."""
        newest = self.newest()
        if newest is None:
            return f"there is no backup of it; {START_ANEW}"
        count = f"{newest.tasks} {'task' if newest.tasks == 1 else 'tasks'}"
        return f"`ralph doctor --restore` brings back {newest.path} ({count}, {newest.made_at})"

    def restore(self, path: str, backup: str | None = None) -> tuple[Backup, str]:
        """Put a copy in the place of the database; return it, and where the old file is now."""
        path = os.path.realpath(path)  # others reach a shared database through the same link
        chosen = self._chosen(path, backup)
        try:
            partial = f"{path}.restored-{os.getpid()}"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with (
                closing(open_existing(chosen.path)) as source,
                closing(sqlite3.connect(partial)) as copy,
            ):
                _fill(copy, source)
            sync_to_disk(partial)
            aside = self.move_aside(path)
            os.replace(partial, path)
            sync_to_disk(os.path.dirname(path))
            self._write_marker(chosen.seq)
        except (OSError, sqlite3.Error) as error:
            raise CannotWrite(f"{path} cannot be restored: {error}") from error
        return chosen, aside

    def move_aside(self, path: str) -> str:
        """Make room for another database; return where the old one is now, empty without one."""
        path = os.path.realpath(path)
        aside, is_moved = f"{path}.aside-{_stamp()}", False
        for end in LOG_FILES:
            with suppress(FileNotFoundError):
                os.rename(path + end, aside + end)
                is_moved = True
        return aside if is_moved else ""

    def _chosen(self, path: str, backup: str | None) -> Backup:
        if backup is None:
            found = self.newest()
            if found is None:
                raise Missing(f"there is no backup of {path} that can be used")
            return found
        inside = os.path.join(self.folder, backup)
        one = look_at(inside if os.path.exists(inside) else os.path.abspath(backup))
        if one.trouble:
            raise UnusableData(f"backup {one.path} cannot be used: {one.trouble}")
        return one

    def _names(self) -> list[str]:
        """Names sort by the time of the copy."""
        names = (name for name in _listed(self.folder) if name.endswith(".db"))
        return sorted(names, reverse=True)

    def _drop_old(self) -> None:
        for name in self._names()[max(1, self.keep) :]:
            _remove(os.path.join(self.folder, name))
        for name in _listed(self.folder):
            left = os.path.join(self.folder, name)
            with suppress(OSError):
                is_partial = ".partial" in name or name.endswith(".tmp")
                if is_partial and time.time() - os.path.getmtime(left) > 3600:
                    os.unlink(left)


def last_seq(connection: sqlite3.Connection) -> int:
    """The number of the newest event; 0 in a database without any."""
    if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
        return 0
    return int(connection.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0])


def look_at(path: str) -> Backup:
    try:
        found = os.stat(path)
    except OSError as error:
        return Backup(path=path, made_at="", bytes=0, trouble=(error.strerror or "").lower())
    made_at, size = to_iso(found.st_mtime), found.st_size
    try:
        with closing(open_existing(path)) as copy:
            trouble = next(losses(copy), "")
            seq = last_seq(copy)
            tasks = int(copy.execute("SELECT count(*) FROM tasks").fetchone()[0]) if seq else 0
    except (sqlite3.Error, RalphError) as error:
        return Backup(path=path, made_at=made_at, bytes=size, trouble=str(error))
    trouble = trouble or ("" if seq else "nothing is in it")
    return Backup(path=path, made_at=made_at, bytes=size, seq=seq, tasks=tasks, trouble=trouble)


def _fill(copy: sqlite3.Connection, source: sqlite3.Connection) -> None:
    # Synced once, when it is complete.
    copy.execute("PRAGMA synchronous = OFF")
    source.backup(copy)
    # A copy that is never written needs no log beside it.
    copy.execute("PRAGMA journal_mode = DELETE")


def _stamp() -> str:
    # With parts of a second: names sort in the order of the copies.
    now = time.time()
    return time.strftime("%Y%m%dT%H%M%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03d}Z"


def _seq_of(name: str) -> int:
    number = name.removesuffix(".db").rpartition("-")[2]
    return int(number) if number.isdigit() else -1


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder) if folder else []
    except OSError:
        return []


def _remove(path: str) -> None:
    for end in LOG_FILES:
        with suppress(OSError):
            os.unlink(path + end)
