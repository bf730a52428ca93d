"""Tasks as JSON lines, one a line: for taking a graph elsewhere, and for bringing one in."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from ralph.core.errors import UnusableData, UsageError
from ralph.core.ids import TaskId
from ralph.core.json_text import NOT_JSON
from ralph.core.lengths import LONGEST_TITLE, too_long
from ralph.core.named_files import named
from ralph.core.safe_text import one_line
from ralph.core.task import Status, Task

HEX: Final = frozenset("0123456789abcdef")
LARGEST: Final = 2**31 - 1
Whole = Annotated[int, msgspec.Meta(ge=-LARGEST, le=LARGEST)]
Natural = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)]


class TaskLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One task. Only the title is needed; what is unknown is refused, since it may be a typo."""

    title: str
    id: str | None = None
    description: str = ""
    status: Status = Status.PENDING
    parent_id: str | None = None
    """An id or an alias, like each of the blockers."""
    feature: str | None = None
    """The feature's name: its id means nothing elsewhere."""
    feature_id: str | None = None
    priority: Whole = 0
    max_retries: Natural | None = None
    alias: str | None = None
    needs_change: bool = True
    blockers: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    reason: str | None = None
    """Kept where the task is blocked or failed."""

    # What the task went through in the graph it comes from: written down, never taken over.
    task_type: Any = None
    retry_count: Any = None
    strikes: Any = None
    attempt: Any = None
    verification_status: Any = None
    review: Any = None
    claimed_by: Any = None
    created_at: Any = None
    updated_at: Any = None


class Numbered(NamedTuple):
    """A task and the line it stands on."""

    number: int
    task: TaskLine


_DECODE: Final = msgspec.json.Decoder(TaskLine).decode


def write(task: Task, blockers: Sequence[TaskId], feature: str | None) -> dict[str, Any]:
    """The object that stands for a task."""
    return msgspec.structs.asdict(task) | {"feature": feature, "blockers": blockers}


def read(lines: Iterable[bytes]) -> list[Numbered]:
    """The tasks of a file; UnusableData, with the line's number, for what is not one."""
    found = list(_read(lines))
    _refuse_twins(found)
    return found


def _read(lines: Iterable[bytes]) -> Iterator[Numbered]:
    for number, line in enumerate(lines, 1):
        text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        if not text.strip():
            continue
        try:
            task = _DECODE(text)
        except NOT_JSON as error:
            raise UnusableData(f"line {number}: {_lower(str(error))}") from error
        if flaw := flaw_of(task):
            raise UnusableData(f"line {number}: {flaw}")
        # A claim stays where it was made.
        status = Status.PENDING if task.status is Status.IN_PROGRESS else task.status
        files = _files(task.files, number)
        yield Numbered(number, replace(task, status=status, title=task.title.strip(), files=files))


def _files(paths: tuple[str, ...], number: int) -> tuple[str, ...]:
    try:
        return named(paths)
    except UsageError as error:
        raise UnusableData(f"line {number}: {error}", hint=error.hint) from error


def _lower(text: str) -> str:
    return text if text.startswith("JSON") else text[:1].lower() + text[1:]


def flaw_of(task: TaskLine) -> str:
    """Why it cannot be taken in, whoever wrote it; empty: it can."""
    if not task.title.strip():
        return "the title is empty"
    if flaw := too_long("the title", task.title, LONGEST_TITLE) or too_long(
        "the description", task.description
    ):
        return flaw
    if task.id is not None and not is_task_id(task.id):
        # Ids become names of git refs and files.
        return (
            f"{one_line(task.id, 40)!r} is not a task's id (t- and six or more hex digits);"
            " a name of your own is an alias"
        )
    if task.alias is not None and (not task.alias.strip() or not task.alias.isprintable()):
        return f"{one_line(task.alias, 40)!r} cannot be an alias"
    if task.feature is not None and not task.feature.strip():
        return "the feature's name is empty"
    return ""


def is_task_id(text: str) -> bool:
    """`t-` and hex digits."""
    digits = text.removeprefix("t-")
    return len(digits) < len(text) and 6 <= len(digits) <= 40 and set(digits) <= HEX


def _refuse_twins(found: Sequence[Numbered]) -> None:
    seen: dict[str, int] = {}
    for number, task in found:
        if task.id is None:
            continue
        if task.id in seen:
            raise UnusableData(f"line {number}: task {task.id} is on line {seen[task.id]} already")
        seen[task.id] = number
