"""Between rows and values. Values that are more than a word are stored as JSON."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from ralph.core.json_text import decode, encode
from ralph.core.task import Task, TaskStatus, TaskType, unique_paths

Row = tuple[Any, ...]
T = TypeVar("T", bound=msgspec.Struct)

STATUSES = {status.value: status for status in TaskStatus}
TYPES = {kind.value: kind for kind in TaskType}


def task_of(row: Row) -> Task:
    """A row of the `{task}` columns. Written out, since it is read more often than any other."""
    return Task(
        id=row[0],
        title=row[1],
        description=row[2],
        status=STATUSES[row[3]],
        parent_id=row[4],
        feature_id=row[5],
        task_type=TYPES[row[6]],
        priority=row[7],
        retry_count=row[8],
        max_retries=row[9],
        strikes=row[10],
        attempt=row[11],
        verification_status=row[12],
        claimed_by=row[13],
        alias=row[14],
        needs_change=row[15] == 1,
        reason=row[16],
        created_at=row[17],
        updated_at=row[18],
        # Hardly any task names files, and this runs for every one.
        files=() if row[19] == "[]" else unique_paths(decode(row[19], list[str])),
        review=row[20],
    )


def value_of(kind: type[T], row: Iterable[Any], *, json: Collection[str] = ()) -> T:
    """A value whose first fields are these columns, in their order; some of them are JSON."""
    columns = dict(zip(kind.__struct_fields__, row, strict=False))
    for name in json:
        if columns[name] is not None:
            columns[name] = decode(columns[name], Any)
    return msgspec.convert(columns, kind)


def columns_of(value: msgspec.Struct) -> dict[str, Any]:
    """The fields of a value as they are stored, by their names."""
    fields = msgspec.to_builtins(value)
    return {
        name: as_json(one) if isinstance(one, tuple | list | dict) else one
        for name, one in fields.items()
    }


def conjunction(conditions: Mapping[str, object]) -> str:
    """The condition of a query: those of the conditions for which something is asked."""
    return " AND ".join(sql for sql, asked in conditions.items() if asked) or "true"


def as_json(value: Any) -> str | None:
    """Any value as text that `sqlite3` shows readably; None stays NULL."""
    return None if value is None else encode(value).decode()
