"""Recognize errors that the data or the machine cause, and not a bug."""

import errno
import os
from typing import Final

from ralph.core.errors import CannotWrite, Missing, RalphError, TemporaryFailure, UnusableData
from ralph.core.safe_text import one_line

MACHINE: Final = (errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ESTALE)
"""It has no more, or cannot at the moment."""
IN_PLACE: Final = (
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.ELOOP),
    *(errno.ENAMETOOLONG, errno.ENXIO, errno.ENODEV, errno.EXDEV, errno.ENOTEMPTY),
)
"""Something is in a file's place, or forbids it. A file that is missing may well be a bug."""
NO_SPACE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def as_data_error(error: BaseException, database: str = "") -> RalphError | None:
    """What to say instead, where something is nested without end, of another kind than anything
    that Ralph writes, or in a database that was changed by hand; None: it is a bug.
    `database`: its path, if not that of the project here."""
    import msgspec

    said = one_line(f"{type(error).__name__}: {error}", 200)
    if isinstance(error, (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)):
        return UnusableData(
            f"what is stored here cannot be read: {said}", hint="`ralph doctor` looks for damage"
        )
    if isinstance(error, (OSError, MemoryError)) and (found := _of_machine(error)):
        return found
    if isinstance(error, ImportError):
        # So Python reports a library that cannot be read or mapped.
        return TemporaryFailure(
            f"Python cannot load what Ralph needs: {said}",
            hint="see to memory, open files and the disk; if it stays, install Ralph again",
        )
    if not isinstance(error, Exception):
        return None
    try:
        from ralph.adapters.sqlite.damage import find_damage
        from ralph.wiring.project import find_project

        path = database or find_project().database
        damage = find_damage(path) if os.path.exists(path) else ""
    except Exception:  # noqa: BLE001 - the first error is the one to report
        return None
    if not damage:
        return None
    return UnusableData(
        f"database {path} is damaged: {damage} ({said})", hint="`ralph doctor` says more about it"
    )


def _of_machine(error: OSError | MemoryError) -> RalphError | None:
    if isinstance(error, MemoryError):
        return TemporaryFailure("out of memory", hint="the same command may go on where it was")
    why = (error.strerror or str(error)).lower()
    where = f" {os.fsdecode(error.filename)}" if isinstance(error.filename, (str, bytes)) else ""
    if isinstance(error, FileNotFoundError) and error.filename is None:
        # Every other file has a name.
        return Missing("the current directory is gone", hint="cd to one that exists")
    if error.errno in NO_SPACE:
        return CannotWrite(f"cannot write{where}: {why}", hint=None if where else "")
    if error.errno in MACHINE:
        said = f"the machine failed{where and ' at'}{where}: {why}"
        return TemporaryFailure(said, hint="the same command may go on where it was")
    if error.errno in IN_PLACE and where:
        return CannotWrite(f"cannot use{where}: {why}")
    return None
