"""The errors of PostgreSQL as errors for the user."""

import psycopg
from psycopg import errors

from ralph.core.errors import Busy, CannotWrite, RalphError, Unavailable, UnusableData
from ralph.core.safe_text import one_line

PASSING = (
    "08",  # the connection
    "57P",  # the server stops, or has just started; 57014 is a statement that took too long
    "25P03",  # we were away for too long within a transaction
    "53300",  # too many connections
)
"""How the states begin that pass by themselves."""


def is_outage(error: psycopg.Error) -> bool:
    """Whether the connection is lost, and not the statement refused."""
    if error.sqlstate is not None:
        return error.sqlstate.startswith(PASSING)
    return isinstance(error, psycopg.OperationalError)


def explained(error: psycopg.Error, name: str) -> RalphError | None:
    """Translate an error for the user; None for a bug."""
    said = one_line(str(error), 200)
    match error:
        case errors.DiskFull():
            return CannotWrite(
                f"database {name} has no space left",
                hint="free some space on its server; what was recorded before is safe",
            )
        case errors.InsufficientPrivilege() | errors.ReadOnlySqlTransaction():
            return CannotWrite(
                f"database {name} cannot be written: {said}",
                hint="the role needs to write its tables, on the primary server",
            )
        case errors.LockNotAvailable():
            return Busy(
                f"database {name} is held by another program",
                hint="nothing was changed, so try again",
            )
        case errors.QueryCanceled():
            return Busy("the answer takes too long to find", hint="ask for less at once")
        case errors.IntegrityError():
            return None
        case _ if is_outage(error):
            return unreachable(name, error)
        case errors.UndefinedTable() | errors.UndefinedColumn() | errors.UndefinedFunction():
            return UnusableData(
                f"database {name} cannot be used: {said}", hint="restore it from a backup"
            )
        case errors.DataError() | errors.ProgrammingError():
            return None
        case _:
            return UnusableData(f"database {name} cannot be used: {said}")


def unreachable(name: str, error: psycopg.Error) -> Unavailable:
    said = str(error).removeprefix("connection is bad: ")
    return Unavailable(
        f"database {name} cannot be reached: {one_line(said, 200)}",
        hint="look at its server, and at the name, the user and the password in its address",
    )
