"""Print answers: JSON, tables, colours and times."""

import os
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, TypeVar

import msgspec

from ralph.core.safe_text import one_line
from ralph.ui.formatting import COLORS, parse_time, table

if TYPE_CHECKING:
    from ralph.config.project import Project
    from ralph.core.ids import TaskId
    from ralph.core.task import Task, TaskStatus
    from ralph.store.sessions import Session
    from ralph.store.store import Store

PAGE = 5000
"""For how many tasks the blockers are fetched at once."""
TITLE_WIDTH = 80

_ENCODER = msgspec.json.Encoder()
T = TypeVar("T")


def print_json(value: Any) -> None:
    """Print one value as indented JSON, in UTF-8 whatever the terminal's encoding."""
    _stdout().write(msgspec.json.format(_ENCODER.encode(value), indent=2) + b"\n")


def print_answer(args: Namespace, value: Any, text: str) -> None:
    """Print an answer: as JSON where that was asked for, else in words."""
    if args.json:
        print_json(value)
    else:
        print(text)


def print_json_array(values: Iterable[Any]) -> None:
    """Print an array, one element a line, as it is made."""
    out, before = _stdout(), b"[\n"
    for value in values:
        out.write(before + _ENCODER.encode(value))
        before = b",\n"
    out.write(b"[]\n" if before == b"[\n" else b"\n]\n")


def print_json_lines(values: Iterable[Any]) -> None:
    out = _stdout()
    for value in values:
        out.write(_ENCODER.encode(value) + b"\n")


def _stdout() -> BinaryIO:
    sys.stdout.flush()
    return sys.stdout.buffer


def task_object(task: "Task", blockers: "Sequence[TaskId]") -> dict[str, Any]:
    """A task as JSON: its fields and the ids of its blockers."""
    return msgspec.structs.asdict(task) | {"blockers": blockers}


def task_objects(store: "Store", tasks: "Sequence[Task]") -> Iterator[dict[str, Any]]:
    return (task_object(task, blockers) for task, blockers in with_blockers(store, tasks))


def with_blockers(
    store: "Store", tasks: "Sequence[Task]"
) -> "Iterator[tuple[Task, Sequence[TaskId]]]":
    """Tasks and the ids of their blockers, which are fetched page by page."""
    rest = iter(tasks)
    while page := list(islice(rest, PAGE)):
        blockers = store.tasks.blocker_ids([task.id for task in page])
        yield from ((task, blockers.get(task.id, ())) for task in page)


def session_object(store: "Store", session: "Session") -> dict[str, Any]:
    """A session and the checks of its work, without the snapshots, which only Ralph can use."""
    fields = msgspec.structs.asdict(session)
    del fields["before"], fields["after"]
    return fields | {"checks": store.checks.of_session(session.id)}


class TerminalStyle:
    """Colours and links, where the terminal and the person want them."""

    def __init__(self, args: Namespace, project: "Project | None" = None) -> None:
        setting = project.config.ui.color if project else "auto"
        self.has_colour = _wanted(args.color, setting, sys.stdout)

    def paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.has_colour and code else text

    def bold(self, text: str) -> str:
        return self.paint(text, "1")

    def dim(self, text: str) -> str:
        return self.paint(text, "2")

    def paint_status(self, text: str, status: "TaskStatus") -> str:
        return self.paint(text, COLORS[status])

    def path(self, path: str) -> str:
        """A file's path; a link to it where a terminal supports links."""
        shown = one_line(path)
        if not (self.has_colour and sys.stdout.isatty()):
            return shown
        from ralph.ui.terminal import knows_links, linked

        return linked(shown, path) if knows_links(os.environ) else shown

    @property
    def width(self) -> int:
        """How wide lines may be; 0, without limit, where output is no terminal."""
        if not sys.stdout.isatty():
            return 0
        from shutil import get_terminal_size

        return get_terminal_size().columns


def _wanted(flag: str | None, setting: str, stream: TextIO) -> bool:
    """Whether to use colour: flags, then the environment, then `.ralph.toml`, then the stream."""
    when = flag or ("never" if os.environ.get("NO_COLOR") else setting)
    if when == "auto":
        return stream.isatty() and os.environ.get("TERM") != "dumb"
    return when == "always"


def print_table(
    style: TerminalStyle, headers: Sequence[str], rows: Iterable[Sequence[str]]
) -> None:
    """Print aligned columns, as wide as the terminal."""
    print("\n".join(table(rows, headers, width=style.width, color=style.has_colour)))


def print_list(
    args: Namespace,
    project: "Project",
    found: Sequence[T],
    headers: Sequence[str],
    row: Callable[[T], Sequence[str]],
    *,
    none: str = "",
) -> None:
    """Print what was found: as a JSON array where that was asked for, else as a table; `none` is
    what to say where nothing was found."""
    if args.json:
        print_json_array(found)
    elif not found and none:
        print(none)
    else:
        print_table(TerminalStyle(args, project), headers, map(row, found))


def field_lines(fields: dict[str, str]) -> list[str]:
    """The facts about one thing, a line each, without those that are empty."""
    return [f"{name:<11} {value}" for name, value in fields.items() if value]


def title_of(task: "Task") -> str:
    return one_line(task.title, TITLE_WIDTH)


def task_row(task: "Task") -> str:
    return f"{task.id}  {task.status.value:<11}  {title_of(task)}"


def format_local(text: str | None) -> str:
    """A stored time in the person's own time zone: `2026-11-15 09:43:00`."""
    at = parse_time(text)
    return "" if at is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
