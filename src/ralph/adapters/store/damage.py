"""What is wrong with a database whose pages are whole: tables and columns that are gone, and values
that no Ralph has written. SQLite itself looks at none of that when it opens one."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Final
from urllib.parse import quote

from ralph.adapters.store.migrations import migrate

KINDS: Final = {"TEXT": "'text'", "INTEGER": "'integer'", "REAL": "'real','integer'"}
LIMIT: Final = 5
TABLES: Final = """
    SELECT name FROM pragma_table_list
    WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%'
"""


def find_damage(path: str) -> str:
    """The first thing that is wrong, in a few words; empty if nothing is."""
    try:
        uri = f"file:{quote(os.path.abspath(path))}?mode=rw"
        with closing(sqlite3.connect(uri, uri=True, timeout=1.0)) as connection:
            return next(damages(connection), "")
    except sqlite3.Error as error:
        return str(error)


def damages(connection: sqlite3.Connection) -> Iterator[str]:
    """All that is wrong, beginning with what makes the rest useless."""
    yield from (
        str(row[0])
        for row in connection.execute(f"PRAGMA integrity_check({LIMIT})")
        if row[0] != "ok"
    )
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as whole:
        migrate(whole, ":memory:")
        for (table,) in whole.execute(TABLES).fetchall():
            yield from _of_table(table, _columns(whole, table), connection)


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
    for name, (kind, may_be_empty) in wanted.items():
        kinds = KINDS.get(kind)
        if name in found and kinds is not None:
            kinds += ",'null'" if may_be_empty else ""
            sql = f"SELECT {name} FROM {table} WHERE typeof({name}) NOT IN ({kinds}) LIMIT 1"
            for (value,) in connection.execute(sql):
                yield f"{table}.{name} holds {value!r:.60}"
