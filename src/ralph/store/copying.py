"""Copy everything from one store to another, whatever databases they are on."""

from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import blake2b
from typing import Any, Final

import msgspec

from ralph.core.errors import Busy, UnusableData, UsageError
from ralph.core.run import AllTasks
from ralph.store.database import Database
from ralph.store.rows import Row
from ralph.store.store import Store

TABLES: Final[Mapping[str, str]] = {
    "features": "rowid",
    "tasks": "rowid",
    "dependencies": "",
    "task_files": "",
    "task_logs": "id",
    "runs": "rowid",
    "workers": "rowid",
    "sessions": "rowid",
    "checks": "",
    "stints": "",
    "dismissals": "",
    "costs": "",
    "memories": "id",
    "papers": "",
    "archive": "rowid",
    "breakers": "",
    "events": "seq",
    "guidance": "id",
    "controls": "id",
    "line_comments": "",
}
"""The column that numbers the rows of each table, if one does. What a table refers to comes before
it. Left out are `meta` and the index of words, which each database keeps its own way."""
PAGE: Final = 1000


class CopiedStore(msgspec.Struct, frozen=True, kw_only=True):
    tasks: int
    events: int


def copy_store(source: Store, target: Store) -> CopiedStore:
    """Copy all rows to an empty store, and compare them there, in one transaction. UsageError if
    the target is not empty, Busy if the source changes meanwhile."""
    return target.db.write(partial(_copy, source, target))


def _copy(source: Store, target: Store) -> CopiedStore:
    if target.events.last_seq() or target.claims.has_tasks(AllTasks()):
        raise UsageError("the target holds tasks already", hint="copy to an empty database")
    newest = source.events.last_seq()
    target.db.execute(target.db.queries("task_adding").parents_later)
    sql = target.db.queries("copying")
    counts = {}
    for table, number in TABLES.items():
        columns = _columns(source.db, table, number)
        places = ", ".join("?" * len(columns))
        insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})"
        for page in _pages(source.db, table, number, columns):
            target.db.execute_many(insert, page)
        counts[table], copied = _digest(source.db, table, number), _digest(target.db, table, number)
        if counts[table] != copied:
            raise UnusableData(f"table {table} cannot be copied: its rows differ afterwards")
    target.db.execute_many(sql.set_version, source.db.rows(sql.versions))
    target.memories.index_again({row[0] for row in source.db.rows(sql.indexed)})
    target.db.execute(sql.renumber)
    if source.events.last_seq() != newest:
        raise Busy("the store has changed meanwhile", hint="try again")
    return CopiedStore(tasks=counts["tasks"][0], events=counts["events"][0])


def _columns(db: Database, table: str, number: str) -> list[str]:
    found = [row[0] for row in db.rows(db.queries("copying").columns, {"table": table})]
    return [number, *found] if number == "rowid" else found


def _pages(db: Database, table: str, number: str, columns: list[str]) -> Iterator[list[Row]]:
    """All rows; those of a numbered table in parts, since there may be millions."""
    listed = ", ".join(columns)
    if not number:
        yield db.rows(f"SELECT {listed} FROM {table}")
        return
    after, sql = 0, f"SELECT {number}, {listed} FROM {table} WHERE {number} > ? ORDER BY {number}"
    while page := db.rows(f"{sql} LIMIT {PAGE}", (after,)):
        yield [row[1:] for row in page]
        after = page[-1][0]


def _digest(db: Database, table: str, number: str) -> tuple[int, int]:
    """How many rows there are, and a sum of what is in them: databases order texts differently."""
    count = total = 0
    for page in _pages(db, table, number, _columns(db, table, number)):
        for row in page:
            count += 1
            digest = blake2b(repr([_plain(value) for value in row]).encode(), digest_size=16)
            total ^= int.from_bytes(digest.digest(), "big")
    return count, total


def _plain(value: Any) -> Any:
    """PostgreSQL knows no NUL in a text."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value
