"""What is wrong with a database whose pages are whole: tables and columns that are gone, and values
that no Ralph has written. SQLite itself looks at none of that when it opens one."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, Final

from ralph.adapters.sqlite.migrations import migrate, version

KINDS: Final = {"TEXT": "'text'", "INTEGER": "'integer'", "REAL": "'real','integer'"}
OR_EMPTY: Final = {True: ",'null'", False: ""}
LIMIT: Final = 5
TABLES: Final = """
    SELECT name FROM pragma_table_list
    WHERE schema = 'main' AND type <> 'view' AND name NOT LIKE 'sqlite%'
"""
INDEXES: Final = "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
RULES: Final = """
    SELECT type, name, sql FROM sqlite_schema
    WHERE type IN ('trigger', 'view') OR sql LIKE 'CREATE UNIQUE INDEX%'
"""
"""What makes a statement of Ralph's do something else, or fail."""


def open_existing(
    path: str, options: str = "mode=rw", *, timeout: float = 5.0, isolation_level: Any = ""
) -> sqlite3.Connection:
    """Connect to a database without making a file. Not `mode=ro` where only reading is meant: a
    database whose owner was killed has to be recovered to be read."""
    from urllib.parse import quote

    uri = f"file:{quote(os.path.abspath(path))}?{options}"
    return sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=isolation_level)


def find_damage(path: str) -> str:
    """The first thing that is wrong, in a few words; empty if nothing is."""
    try:
        with closing(open_existing(path, timeout=1.0)) as connection:
            return next(damages(connection), "")
    except sqlite3.Error as error:
        return str(error)


def damages(connection: sqlite3.Connection) -> Iterator[str]:
    """All that is wrong, beginning with what makes the rest useless."""
    yield from losses(connection)
    with _as_made(connection) as whole:
        own = {*whole.execute(RULES)}
    for kind, name, sql in connection.execute(RULES):
        if (kind, name, sql) not in own:
            yield f"{kind} {name} was not made by Ralph"


def losses(connection: sqlite3.Connection) -> Iterator[str]:
    """What cannot be read, or is missing."""
    yield from (
        str(row[0])
        for row in connection.execute(f"PRAGMA integrity_check({LIMIT})")
        if row[0] != "ok"
    )
    with _as_made(connection) as whole:
        for (table,) in whole.execute(TABLES).fetchall():
            yield from _of_table(table, _columns(whole, table), connection)
        for (name,) in {*whole.execute(INDEXES)} - {*connection.execute(INDEXES)}:
            yield f"index {name} is missing"


@contextmanager
def _as_made(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """An empty database of the same version."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as whole:
        migrate(whole, until=version(connection))
        yield whole


Columns = dict[str, tuple[str, bool]]


def _columns(connection: sqlite3.Connection, table: str) -> Columns:
    """The type of each column, and whether it may be empty."""
    found = connection.execute(f"PRAGMA table_info({table})")
    return {name: (kind, not required) for _, name, kind, required, *_ in found}


def _of_table(table: str, wanted: Columns, connection: sqlite3.Connection) -> Iterator[str]:
    found = _columns(connection, table)
    if not found:
        yield f"table {table} is missing"
        return
    yield from (f"column {table}.{name} is missing" for name in wanted if name not in found)
    odd = {
        name: f"typeof({name}) NOT IN ({KINDS[kind]}{OR_EMPTY[may_be_empty]})"
        for name, (kind, may_be_empty) in wanted.items()
        if name in found and kind in KINDS
    }
    # All columns at once: a table may be large, and usually nothing is wrong with it.
    any_odd = " OR ".join(odd.values()) or "false"
    if connection.execute(f"SELECT 1 FROM {table} WHERE {any_odd} LIMIT 1").fetchone():
        for name, is_odd in odd.items():
            sql = f"SELECT {name} FROM {table} WHERE {is_odd} LIMIT 1"
            for (value,) in connection.execute(sql):
                yield f"{table}.{name} holds {value!r:.60}"
