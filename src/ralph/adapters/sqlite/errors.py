"""The errors of SQLite as errors for the user."""

import os
import sqlite3
import stat
from collections.abc import Callable

from ralph.core.errors import Busy, CannotWrite, RalphError, Unavailable, UnusableData
from ralph.files import open_regular

PRIMARY = 0xFF
"""An extended error code holds the primary one in its low byte."""


def explained(
    error: sqlite3.Error, path: str, recovery_hint: Callable[[], str]
) -> RalphError | None:
    """Translate an error for the user; None for a bug. The hint is for a damaged database."""
    match code(error):
        case sqlite3.SQLITE_FULL:
            return CannotWrite(
                f"there is no space left to write {path}",
                hint="free some space and run it again; what was recorded before is safe",
            )
        case sqlite3.SQLITE_CANTOPEN if _cannot_be_read(path):
            return UnusableData(
                f"database {path} cannot be read: {error}",
                hint="look at what is in its place, and at its permissions",
            )
        case (
            sqlite3.SQLITE_READONLY
            | sqlite3.SQLITE_PERM
            | sqlite3.SQLITE_IOERR
            | sqlite3.SQLITE_CANTOPEN
        ):
            return CannotWrite(
                f"database {path} cannot be written: {error}",
                hint="look at its permissions, those of its folder, and the disk",
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return Busy(
                f"database {path} is held by another program",
                hint=f"`fuser {path}` tells which; nothing was changed, so try again",
            )
        case sqlite3.SQLITE_INTERRUPT:
            return Busy("the answer takes too long to find", hint="ask for less at once")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return UnusableData(f"database {path} is damaged: {error}", hint=recovery_hint())
        case _ if "no such module" in str(error):
            return Unavailable(
                f"this Python's SQLite lacks a part: {error}",
                hint="use one that is built with FTS5",
            )
        case sqlite3.SQLITE_CONSTRAINT:
            return None
        case _:
            # A table or a column that was dropped, a value of another kind.
            return UnusableData(f"database {path} cannot be used: {error}", hint=recovery_hint())


def refuse_other_files(path: str) -> None:
    """UnusableData if a pipe, a device or a folder is in the place of the database or its log."""
    for end in ("", "-wal", "-shm", "-journal"):
        try:
            mode = os.stat(path + end).st_mode
        except OSError:
            continue  # SQLite reports this
        if not stat.S_ISREG(mode):
            raise UnusableData(
                f"database {path} cannot be read: {path + end} is not a file",
                hint="move it out of the way",
            )


def code(error: sqlite3.Error) -> int:
    """The primary result code; 0 for errors that do not come from SQLite itself."""
    return getattr(error, "sqlite_errorcode", 0) & PRIMARY


def _cannot_be_read(path: str) -> bool:
    try:
        open_regular(path).close()
    except FileNotFoundError:
        return False  # it cannot be made, which is another error
    except OSError:
        return True
    return False
