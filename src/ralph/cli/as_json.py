"""Answers for programs: JSON in UTF-8, whatever the terminal speaks."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from ralph.core.ids import TaskId
from ralph.core.task import Task
from ralph.ports.history import Check, Session
from ralph.ports.store import Graph

PAGE = 5000
"""How many tasks' blockers are asked for at once."""

_ENCODER = msgspec.json.Encoder()


def show(value: Any) -> None:
    """One value, indented for the eye."""
    _write(msgspec.json.format(_ENCODER.encode(value), indent=2) + b"\n")


def show_array(values: Iterable[Any]) -> None:
    """An array, one element a line, written as it is made."""
    before = b"[\n"
    buffer = bytearray()
    for value in values:
        buffer += before
        _ENCODER.encode_into(value, buffer, -1)
        before = b",\n"
        if len(buffer) > 1 << 16:
            _write(buffer)
            buffer.clear()
    _write(buffer + (b"[]\n" if before == b"[\n" else b"\n]\n"))


def show_lines(values: Iterable[Any]) -> None:
    """One element a line, nothing around them."""
    buffer = bytearray()
    for value in values:
        _ENCODER.encode_into(value, buffer, -1)
        buffer += b"\n"
        if len(buffer) > 1 << 16:
            _write(buffer)
            buffer.clear()
    _write(buffer)


def task_object(task: Task, blockers: Sequence[TaskId]) -> dict[str, Any]:
    """A task as scripts rely on it: its fields and the ids of its blockers."""
    return msgspec.structs.asdict(task) | {"blockers": blockers}


def task_objects(store: Graph, tasks: Sequence[Task]) -> Iterator[dict[str, Any]]:
    """Many tasks, their blockers fetched page by page."""
    rest = iter(tasks)
    while page := list(islice(rest, PAGE)):
        blockers = store.blocker_ids([task.id for task in page])
        for task in page:
            yield task_object(task, blockers.get(task.id, ()))


def session_object(session: Session, checks: Sequence[Check]) -> dict[str, Any]:
    """A session and the checks of its work, without the snapshots of its checkout, which only Ralph
    can use."""
    fields = msgspec.structs.asdict(session)
    del fields["before"], fields["after"]
    return fields | {"checks": checks}


def _write(data: bytes | bytearray) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
