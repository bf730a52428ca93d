"""Say a statement of `store/sql` as PostgreSQL understands it.

What differs in more than words has a text of its own in `sql/`.
"""

import os
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from ralph.store.database import Values

OWN_SQL: Final = os.path.join(os.path.dirname(__file__), "sql")
KEYS: Final = {"archive": 1, "breakers": 1, "checks": 3, "costs": 2, "papers": 1, "stints": 2}
"""How many of its first columns are the key of a table whose rows are replaced."""
REWORDED: Final = (
    # Advice for the planner of SQLite.
    (re.compile(r" INDEXED BY \w+"), ""),
    (re.compile(r"\bCROSS JOIN\b"), "JOIN"),
    (re.compile(r"([ (])\+(?=[a-z])"), r"\1"),
    # Letters of both cases are alike there.
    (re.compile(r"\bLIKE\b"), "ILIKE"),
    (re.compile(r"\bjson_object\("), "json_build_object("),
    (re.compile(r"\bgroup_concat\("), "string_agg("),
    (re.compile(r"\bchar\("), "chr("),
)
REPLACE: Final = re.compile(r"INSERT OR REPLACE INTO (\w+) \(([^)]*)\)")
PLACEHOLDER: Final = re.compile(r"'(?:[^']|'')*'|::\w+|\?\d+|\?|:[a-z_]\w*")


@lru_cache(maxsize=1024)
def reworded(sql: str) -> tuple[str, tuple[str, ...]]:
    """The statement with `$1`, `$2`, … for its values, and their names, if they have any."""
    replaced = REPLACE.match(sql)
    if replaced is not None:
        table, columns = replaced[1], [name.strip() for name in replaced[2].split(",")]
        keys, others = columns[: KEYS[table]], columns[KEYS[table] :]
        changes = ", ".join(f"{name} = excluded.{name}" for name in others)
        sql = sql.replace("INSERT OR REPLACE", "INSERT", 1)
        sql += f" ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {changes}"
    for pattern, words in REWORDED:
        sql = pattern.sub(words, sql)
    names: list[str] = []
    return PLACEHOLDER.sub(_numbering(names), sql), tuple(names)


def _numbering(names: list[str]) -> Callable[[re.Match[str]], str]:
    count = 0

    def number(found: re.Match[str]) -> str:
        nonlocal count
        text = found[0]
        if text == "?":
            count += 1
            return f"${count}"
        if text[0] == "?":
            return f"${text[1:]}"
        if text[0] != ":" or text[1] == ":":
            return text
        if text[1:] not in names:
            names.append(text[1:])
        return f"${names.index(text[1:]) + 1}"

    return number


def in_order(values: Values, names: tuple[str, ...]) -> list[Any]:
    """The values of a statement as it numbers them."""
    return [values[name] for name in names] if isinstance(values, Mapping) else [*values]
