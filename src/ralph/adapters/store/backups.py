"""Backup copies of the database, and the memory that there was one.

Both are in a folder that `git clean` and tidy agents do not reach: `Backups.folder`. A database
that is empty, gone, or behind what the folder remembers is damage, never a new beginning: the first
view drawn from it would overwrite the last copy of the tasks.
"""

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Final

import msgspec

from ralph.core.errors import CannotWrite, Missing, RalphError, UnusableData
from ralph.core.moment import iso
from ralph.files import create_regular, read_regular

MARKER: Final = "marker.json"
KEPT: Final = 5
"""Copies, unless told otherwise."""
MARKED_S: Final = 5.0
"""How far the marker may be behind. Without its log, which somebody deletes, a database may be
short of its newest part."""
LOG_FILES: Final = ("", "-wal", "-shm", "-journal")
START_ANEW: Final = "`ralph init --new-database` starts with an empty one"


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """What the project remembers of its database."""

    seq: int
    """The number of the newest event when this was written."""


class Backup(msgspec.Struct, frozen=True, kw_only=True):
    """One copy."""

    path: str
    made_at: str
    bytes: int
    seq: int = 0
    tasks: int = 0
    trouble: str = ""
    """Why it cannot be used."""


class Backups:
    """The copies of one database; without a folder there are none, and nothing is remembered."""

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
        """A repository, which is never made for the sake of a copy: somebody may have moved it
        away, and would find another in its place."""
        self.keep = keep
        self.had_one = had_one
        """Do other files show that there was a database? Projects of an older Ralph have no
        marker."""
        self._next_mark = 0.0

    @property
    def _has_place(self) -> bool:
        return bool(self.folder) and (not self.within or os.path.isdir(self.within))

    # The memory

    def marker(self) -> Marker | None:
        """What is remembered; None where there never was a database."""
        try:
            marker = read_regular(os.path.join(self.folder, MARKER))
            return msgspec.json.decode(marker, type=Marker)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError):
            return Marker(seq=1)  # cut off by a power cut: there was one

    def mark(self, connection: sqlite3.Connection) -> None:
        """Remember how much is in the database, every few seconds at most."""
        if not self._has_place or time.monotonic() < self._next_mark:
            return
        self._next_mark = time.monotonic() + MARKED_S
        # It is only a memory: whoever uses a damaged database next complains.
        with suppress(OSError, sqlite3.Error):
            known, found = self.marker(), last_seq(connection)
            if found and (known is None or known.seq < found):
                self._write_marker(found, is_first=known is None)

    def _write_marker(self, seq: int, *, is_first: bool = True) -> None:
        os.makedirs(self.folder, exist_ok=True)
        path = os.path.join(self.folder, MARKER)
        partial = f"{path}.{os.getpid()}.partial"
        with create_regular(partial) as file:
            file.write(msgspec.json.encode(Marker(seq=seq)))
            file.flush()
            if is_first:
                # Later it may be a little behind, or cut off: that there is one is enough.
                os.fsync(file.fileno())
        os.replace(partial, path)
        if is_first:
            _sync(self.folder)

    def forget(self) -> None:
        """Start anew: the copies stay, but nothing is expected any more."""
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(self.folder, MARKER))

    def check_file(self, path: str) -> None:
        """UnusableData if there was a database and its file is gone or empty."""
        try:
            if os.path.getsize(path) > 0:
                return
            what = "is empty"
        except FileNotFoundError:
            what = "is gone"
        except OSError:
            return  # for whoever opens it to complain about
        if self.marker() is not None or self.had_one():
            raise self._lost(path, what)

    def check_content(self, path: str, connection: sqlite3.Connection) -> None:
        """UnusableData if it holds less than it once did."""
        # Before the database: another process may write to both in between.
        marker = self.marker()
        found = last_seq(connection) if marker is not None else 0
        if marker is None or found >= marker.seq:
            return
        if found == 0:
            raise self._lost(path, "has nothing in it")
        raise UnusableData(
            f"database {path} ends with event {found}, but this project has recorded {marker.seq}",
            hint=f"{self.way_back(path)}; `ralph doctor --restore {path}` keeps it as it is",
        )

    def _lost(self, path: str, what: str) -> UnusableData:
        return UnusableData(
            f"database {path} {what}, but this project has had tasks and runs",
            hint=f"{self.way_back(path)}; {START_ANEW}",
        )

    # The copies

    def back_up(self, path: str) -> str | None:
        """Copy the database, unless the newest copy has all that is in it. Return the new copy.

        It is read through before it counts: UnusableData if the database is damaged.
        """
        if not self._has_place:
            return None
        partial = os.path.join(self.folder, f"{os.getpid()}.partial")
        try:
            with closing(_opened(path)) as source:
                found = last_seq(source)
                newest = next(iter(self._names()), "")
                if found == 0 or (newest and _seq_of(newest) == found):
                    return None
                os.makedirs(self.folder, exist_ok=True)
                with closing(sqlite3.connect(partial, isolation_level=None)) as copy:
                    _fill(copy, source)
                    if damage := _damage(copy):
                        raise sqlite3.DatabaseError(damage)
                self._next_mark = 0.0
                self.mark(source)
            _sync(partial)
            target = os.path.join(self.folder, f"{_stamp()}-{found}.db")
            os.replace(partial, target)
            _sync(self.folder)
        except (OSError, sqlite3.OperationalError) as error:
            raise CannotWrite(f"no backup of {path} can be made: {error}") from error
        except sqlite3.DatabaseError as error:
            said = f"database {path} is damaged: {error}"
            raise UnusableData(said, hint=self.way_back(path)) from error
        finally:
            _remove(partial)
        self._drop_old()
        return target

    def copies(self) -> list[Backup]:
        """All of them, each read through, the newest first."""
        return [look_at(os.path.join(self.folder, name)) for name in self._names()]

    def newest(self, path: str) -> Backup | None:
        """The newest copy that can be used; also one that an older Ralph left beside the file."""
        beside, name = os.path.split(os.path.abspath(path))
        older = [
            os.path.join(beside, one)
            for one in _listed(beside)
            if one.startswith(f"{name}.backup-v") and not one.endswith(".partial")
        ]
        older.sort(key=os.path.getmtime, reverse=True)
        own = [os.path.join(self.folder, one) for one in self._names()]
        return next((one for one in map(look_at, (*own, *older)) if not one.trouble), None)

    def way_back(self, path: str) -> str:
        """What a person whose database is lost can do."""
        newest = self.newest(path)
        if newest is None:
            return "there is no backup of it"
        count = f"{newest.tasks} {'task' if newest.tasks == 1 else 'tasks'}"
        return f"`ralph doctor --restore` brings back {newest.path} ({count}, {newest.made_at})"

    def restore(self, path: str, backup: str | None = None) -> tuple[Backup, str]:
        """Put a copy in the place of the database; return it, and where the old file is now."""
        chosen = self._chosen(path, backup)
        try:
            partial = f"{path}.restored-{os.getpid()}"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with (
                closing(_opened(chosen.path)) as source,
                closing(sqlite3.connect(partial)) as copy,
            ):
                _fill(copy, source)
            _sync(partial)
            aside = self.move_aside(path)
            os.replace(partial, path)
            _sync(os.path.dirname(path))
            self._write_marker(chosen.seq)
        except (OSError, sqlite3.Error) as error:
            raise CannotWrite(f"{path} cannot be restored: {error}") from error
        return chosen, aside

    def move_aside(self, path: str) -> str:
        """Make room for another database; return where the old one is now, empty if there is
        none."""
        aside, is_moved = f"{path}.aside-{_stamp()}", False
        for end in LOG_FILES:
            with suppress(FileNotFoundError):
                os.rename(path + end, aside + end)
                is_moved = True
        return aside if is_moved else ""

    def _chosen(self, path: str, backup: str | None) -> Backup:
        if backup is None:
            found = self.newest(path)
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
                if ".partial" in name and time.time() - os.path.getmtime(left) > 3600:
                    os.unlink(left)


def last_seq(connection: sqlite3.Connection) -> int:
    """The number of the newest event; 0 in a database without any."""
    if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
        return 0
    return int(connection.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0])


def look_at(path: str) -> Backup:
    """Read a copy through."""
    try:
        found = os.stat(path)
    except OSError as error:
        return Backup(path=path, made_at="", bytes=0, trouble=(error.strerror or "").lower())
    made_at, size = iso(found.st_mtime), found.st_size
    try:
        with closing(_opened(path)) as copy:
            trouble = _damage(copy)
            seq = last_seq(copy)
            tasks = int(copy.execute("SELECT count(*) FROM tasks").fetchone()[0]) if seq else 0
    except (sqlite3.Error, RalphError) as error:
        return Backup(path=path, made_at=made_at, bytes=size, trouble=str(error))
    trouble = trouble or ("" if seq else "nothing is in it")
    return Backup(path=path, made_at=made_at, bytes=size, seq=seq, tasks=tasks, trouble=trouble)


def _opened(path: str) -> sqlite3.Connection:
    """For reading; never makes a file."""
    from urllib.parse import quote

    # Not `mode=ro`: a database whose owner was killed has to be recovered to be read.
    return sqlite3.connect(f"file:{quote(os.path.abspath(path))}?mode=rw", uri=True)


def _fill(copy: sqlite3.Connection, source: sqlite3.Connection) -> None:
    # Synced once, when it is whole.
    copy.execute("PRAGMA synchronous = OFF")
    source.backup(copy)
    # A copy that nobody writes needs no log beside it.
    copy.execute("PRAGMA journal_mode = DELETE")


def _damage(connection: sqlite3.Connection) -> str:
    found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(3)")]
    return "" if found == ["ok"] else "; ".join(found)


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


def _sync(path: str) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
