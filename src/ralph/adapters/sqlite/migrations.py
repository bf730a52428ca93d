"""Bring a database to the newest version: numbered files, each run once."""

import os
import sqlite3
from collections.abc import Callable

from ralph.core.errors import UnusableData

FOLDER = os.path.join(os.path.dirname(__file__), "migrations")
OURS = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'events'"
"""Whether it has what every database of Ralph has had from the beginning."""


def migrate(
    connection: sqlite3.Connection,
    path: str = ":memory:",
    back_up: Callable[[str], object] = lambda _: None,
    *,
    until: int | None = None,
) -> None:
    """Bring the database up to date, or to an older version, after a backup copy if it holds
    anything.

    A newer one is refused: what this Ralph does not know it would damage.
    """
    steps = sorted(os.listdir(FOLDER))[:until]
    if version(connection) == len(steps) and connection.execute(OURS).fetchone():
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Asked again: another process may have migrated it while we waited for the lock.
        found = check(connection, path)
        if 0 < found < len(steps):
            # Through a connection of its own: ours holds the write lock, so nothing changes.
            back_up(path)
        for step in steps[found:]:
            for statement in _statements(os.path.join(FOLDER, step)):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(steps)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def newest_version() -> int:
    """The version of a database that this Ralph has made."""
    return len(os.listdir(FOLDER))


def version(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def check(connection: sqlite3.Connection, path: str) -> int:
    """The database's version. UnusableData if this Ralph cannot use it."""
    known = newest_version()
    # Asked first: what another process is just making has its version by the second query.
    holds_something = connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone()
    found = version(connection)
    is_ours = connection.execute(OURS).fetchone() if holds_something else None
    if holds_something and (found == 0 or is_ours is None):
        # Other programs of this name have tasks and a version of their own.
        raise UnusableData(
            f"database {path} was not written by this Ralph",
            hint="move it out of the way; `ralph task import` takes tasks from other files",
        )
    if found > known:
        raise UnusableData(
            f"database {path} has version {found}, but this Ralph knows versions up to {known}",
            hint="use the newer Ralph that wrote it",
        )
    return found


def _statements(file: str) -> list[str]:
    with open(file, encoding="utf-8") as handle:
        statements = [""]
        for line in handle:
            statements[-1] += line
            if sqlite3.complete_statement(statements[-1]):
                statements.append("")
    return [statement for statement in statements if statement.strip()]
