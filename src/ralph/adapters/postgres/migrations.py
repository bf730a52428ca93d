"""Bring a database to the newest version: numbered files, each run once, by one process."""

import os
from typing import Any, Final

import psycopg

from ralph.core.errors import UnusableData

FOLDER: Final = os.path.join(os.path.dirname(__file__), "migrations")
OLDEST: Final = 14
LOCK: Final = 1380012112
"""The first number of the lock that all writers take, "RALP"; the second is of the schema."""
FOUND: Final = """
    SELECT current_schema(), to_regclass('meta') IS NOT NULL, to_regclass('tasks') IS NOT NULL,
        current_setting('server_version_num')::int
"""
VERSION: Final = "SELECT value FROM meta WHERE key = 'schema_version'"
SAVE: Final = """
    INSERT INTO meta (key, value) VALUES ('schema_version', $1)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value
"""


def migrate(connection: psycopg.Connection[Any], name: str) -> str:
    """Bring the schema that the connection uses up to date; return its name.

    A newer one is refused: what this Ralph does not know it would damage.
    """
    schema, found = check(connection, name)
    steps = sorted(os.listdir(FOLDER))
    if found == len(steps):
        return schema
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock($1, hashtext($2))", (LOCK, schema))
        # Asked again: another process may have migrated it while we waited for the lock.
        _, found = check(connection, name)
        for step in steps[found:]:
            with open(os.path.join(FOLDER, step), "rb") as handle:
                connection.execute(handle.read())
        connection.execute(SAVE, (len(steps),))
    return schema


def check(connection: psycopg.Connection[Any], name: str) -> tuple[str, int]:
    """The schema and its version, 0 for an empty one. UnusableData if this Ralph cannot use it."""
    row = connection.execute(FOUND).fetchone()
    assert row is not None
    schema, has_meta, has_tasks, server = row
    if server < OLDEST * 10_000:
        raise UnusableData(
            f"the server of database {name} is PostgreSQL {server // 10_000}",
            hint=f"Ralph needs PostgreSQL {OLDEST} or newer",
        )
    if schema is None:
        raise UnusableData(
            f"database {name} has no schema to work in",
            hint="create the one that its search_path names",
        )
    known = len(os.listdir(FOLDER))
    version = connection.execute(VERSION).fetchone() if has_meta else None
    if version is None:
        if has_tasks or has_meta:
            raise UnusableData(
                f"schema {schema} of database {name} was not written by this Ralph",
                hint="use another schema: …?options=-csearch_path%3DNAME",
            )
        return schema, 0
    if version[0] > known:
        raise UnusableData(
            f"database {name} has version {version[0]}, but this Ralph knows versions up to "
            f"{known}",
            hint="use the newer Ralph that wrote it",
        )
    return schema, version[0]
