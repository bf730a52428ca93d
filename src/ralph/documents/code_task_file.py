"""Code tasks: their files, with title, blockers, files and a status block; and their order.

    ---
    Status: COMPLETED
    Completed-By: teammate-1
    Completed-At: 2026-02-10T14:30:00Z
    ---

Ralph changes nothing in the file but the status block. Older files have a heading
`## Status: PENDING` instead: it is read, and what Ralph writes above the text counts from then on.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from posixpath import basename, dirname, join, normpath
from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.core.errors import UnusableData
from ralph.core.graph import find_cycle
from ralph.core.safe_text import one_line
from ralph.core.task import TaskStatus, usable_paths
from ralph.documents.markdown import line_end, lines_with_ends, unified
from ralph.documents.prd import Box, Dependency, Prd, Story
from ralph.documents.task_import import NumberedTask, story_lines
from ralph.documents.text_encoding import readable

SUFFIX: Final = ".code-task.md"
FENCE: Final = "---"
CODE: Final = ("```", "~~~")
LONGEST: Final = 300
PAIR: Final = re.compile(r"[\w-]+(?: [\w-]+){0,3}[ \t]*:(?:[ \t]|$)")
STATUS: Final = re.compile(r"(?i)status[ \t]*:(.*)")
STATUS_HEADING: Final = re.compile(
    r"(?i)[ \t]{0,3}(?:#{1,6}[ \t]+|[*_]{2})status[*_]{0,2}[ \t]*:(.*)"
)
OTHER_HEADING: Final = re.compile(r"[ \t]{0,3}##")
TITLE: Final = re.compile(r"[ ]{0,3}#[ \t]+(?:(?:code[ -])?task[ \t]*[\d.-]*[ \t]*:)?(.*)", re.I)
LABEL: Final = r"[ \t]*(?:#{1,6}[ \t]+|[-*+][ \t]+)?[*_]{0,2}"
"""What may be before the name of a field."""
BLOCKED_BY: Final = re.compile(LABEL + r"blocked-by\b(.*)", re.I)
FILES: Final = re.compile(LABEL + r"files to modify\b(.*)", re.I)
ITEM: Final = re.compile(r"[ \t]*[-*+][ \t]+(.*)")
QUOTED: Final = re.compile(r"`([^`\n]+)`")
NUMBERED: Final = re.compile(r"(?i)task-\d+(?:\.\d+)?")
MOST_NEW: Final = 50
"""New tasks that are tried one by one, if not all fit."""
NOTHING: Final = frozenset({"", "none", "n/a", "-", "nothing", "no", "—", "null"})


class CodeTaskStatus(StrEnum):
    PENDING = "PENDING"
    IN_PROGRESS = "IN_PROGRESS"
    IN_REVIEW = "IN_REVIEW"
    COMPLETED = "COMPLETED"
    BLOCKED = "BLOCKED"


STATUS_ALIASES: Final = {
    "DONE": CodeTaskStatus.COMPLETED,
    "COMPLETE": CodeTaskStatus.COMPLETED,
    "TODO": CodeTaskStatus.PENDING,
    "OPEN": CodeTaskStatus.PENDING,
    "FAILED": CodeTaskStatus.BLOCKED,
}
STATUS_WORDS: Final = {
    TaskStatus.PENDING: CodeTaskStatus.PENDING,
    TaskStatus.IN_PROGRESS: CodeTaskStatus.IN_PROGRESS,
    TaskStatus.DONE: CodeTaskStatus.COMPLETED,
    TaskStatus.BLOCKED: CodeTaskStatus.BLOCKED,
    TaskStatus.FAILED: CodeTaskStatus.BLOCKED,
}
BY_AND_AT: Final = {
    CodeTaskStatus.IN_PROGRESS: ("Started-By", "Started-At"),
    CodeTaskStatus.IN_REVIEW: ("Implemented-By", "Implemented-At"),
    CodeTaskStatus.COMPLETED: ("Completed-By", "Completed-At"),
    CodeTaskStatus.BLOCKED: ("Worked-By", "Blocked-At"),
}
"""The keys of the worker and the time. (`Blocked-By` names other tasks.)"""
REASON: Final = "Blocked-Reason"
OWN_KEYS: Final = frozenset(
    {"status", REASON.lower(), *(key.lower() for pair in BY_AND_AT.values() for key in pair)}
)


class StatusBlock(msgspec.Struct, frozen=True, kw_only=True):
    status: CodeTaskStatus
    by: str = ""
    at: str = ""
    reason: str = ""


class CodeTask(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    name: str
    """Its name for commands, from its path: `step01-task-02`."""
    title: str
    body: str
    """The text without the status block and the title."""
    status: CodeTaskStatus | None = None
    unknown_status: str = ""
    blocked_by: tuple[str, ...] = ()
    """Paths, file names or names of tasks, as written."""
    files: tuple[str, ...] = ()
    """The files that it names as those that it will modify."""
    needs: tuple[str, ...] = ()
    """The names of the tasks in `blocked_by`, once the tasks are ordered."""


def code_task_status(status: TaskStatus, *, in_review: bool = False) -> CodeTaskStatus:
    if in_review and status is TaskStatus.IN_PROGRESS:
        return CodeTaskStatus.IN_REVIEW
    return STATUS_WORDS[status]


def name_of(path: str, folder: str) -> str:
    """The name of a code task, from its path below the goal's folder. The words after the number
    may change without making it another task."""
    inside = path.removeprefix(f"{folder}/").removesuffix(SUFFIX)
    # A path from one folder higher names the same task.
    *above, last = inside.removeprefix("implementation/").split("/")
    numbered = NUMBERED.match(last)
    return "-".join([*above, numbered[0].lower() if numbered else last])


def read_code_task(path: str, text: str, folder: str) -> CodeTask:
    """Parse a file. Every part of it is optional."""
    block, below = _split(text)
    pairs = dict(_pairs(block))
    heading = _status_heading(below)
    lines = unified("".join(one for at, one in enumerate(below) if at != heading)).split("\n")
    status = read_status(text)
    title, at = _title(lines)
    blockers = pairs.get("blocked-by")
    body = "\n".join(lines[:at] + lines[at + 1 :] if at is not None else lines)
    known = status if isinstance(status, CodeTaskStatus) else None
    return CodeTask(
        path=path,
        name=name_of(path, folder),
        title=one_line(readable(title), 200).strip() or _title_from(path),
        body=readable(body).strip(),
        status=known,
        unknown_status=one_line(status or "", 40) if known is None else "",
        blocked_by=_names(blockers) if blockers is not None else _names_after(lines, BLOCKED_BY),
        files=_names_after(lines, FILES),
    )


def read_status(text: str) -> CodeTaskStatus | str | None:
    """The status in a file; the text in its place if that is none; None if there is nothing."""
    block, below = _split(text)
    found = next((found for line in block if (found := STATUS.match(line))), None)
    if found is None and (at := _status_heading(below)) is not None:
        found = STATUS_HEADING.match(below[at])
    said = found[1].strip().strip("*_`\"'[]").strip() if found else ""
    if not said:
        return None
    name = "_".join(said.upper().replace("-", " ").replace("_", " ").split())
    return CodeTaskStatus(name) if name in {*CodeTaskStatus} else STATUS_ALIASES.get(name, said)


def with_status_block(text: str, block: StatusBlock) -> str:
    """The text with this status block and its own line ends."""
    lines, end = lines_with_ends(text), line_end(text)
    written = [f"{line}{end}" for line in _lines_of(block)]
    close = _block_end(lines)
    if close is None:
        return "".join([FENCE + end, *written, FENCE + end, *lines])
    return "".join([lines[0], *written, *_other_lines(lines[1:close]), *lines[close:]])


def without_status_block(text: str) -> str:
    """The part of the text that is the same whatever the status is."""
    lines = lines_with_ends(text)
    close = _block_end(lines)
    if close is None:
        return text
    others = _other_lines(lines[1:close])
    if not any(line.strip() for line in others):
        return "".join(lines[close + 1 :])
    return "".join([lines[0], *others, *lines[close:]])


# The status block


def _split(text: str) -> tuple[list[str], list[str]]:
    lines = lines_with_ends(text)
    close = _block_end(lines)
    return ([], lines) if close is None else (lines[1:close], lines[close + 1 :])


def _block_end(lines: Sequence[str]) -> int | None:
    """The line that closes the block at the top; None if there is only a rule with text below."""
    if not lines or lines[0].rstrip() != FENCE:
        return None
    for at, line in enumerate(lines[1:], 1):
        if line.rstrip() == FENCE:
            return at
        if line.strip() and not (line[0] in " \t#-" or PAIR.match(line)):
            return None
    return None


def _pairs(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The keys in lower case, each with the value beside it and in the list below it."""
    name, value = "", ""
    for line in lines:
        if PAIR.match(line):
            if name:
                yield name, value
            name, _, value = line.partition(":")
            name, value = name.strip().lower(), value.strip()
        elif name and line.strip() and line[0] in " \t-":
            value = f"{value}\n{line.strip()}".strip()
    if name:
        yield name, value


def _other_lines(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if _key(line) not in OWN_KEYS]


def _key(line: str) -> str:
    name, colon, _ = line.partition(":")
    return name.strip().lower() if colon and name == name.lstrip() else ""


def _lines_of(block: StatusBlock) -> Iterator[str]:
    yield f"Status: {block.status.value}"
    pairs = zip(BY_AND_AT.get(block.status, ()), (block.by, block.at), strict=False)
    for key, value in (*pairs, (REASON, block.reason)):
        if value:
            yield f"{key}: {one_line(value, LONGEST).strip()}"


def _status_heading(lines: Sequence[str]) -> int | None:
    """The line with the status as a heading, if it comes before other headings and code."""
    for at, line in enumerate(lines):
        if STATUS_HEADING.match(line):
            return at
        if OTHER_HEADING.match(line) and "blocked-by" not in line.lower():
            return None
        if line.lstrip().startswith(CODE):
            return None
    return None


# The text


def _outside_code(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    is_code = False
    for at, line in enumerate(lines):
        is_code ^= line.lstrip().startswith(CODE)
        if not is_code:
            yield at, line


def _title(lines: list[str]) -> tuple[str, int | None]:
    """The first heading of the first rank, and its line."""
    for at, line in _outside_code(lines):
        if found := TITLE.match(line):
            return found[1].strip().rstrip("#").strip(), at
    return "", None


def _title_from(path: str) -> str:
    stem = basename(path).removesuffix(SUFFIX)
    words = re.sub(r"^(?i:task)-\d+(?:\.\d+)?-?", "", stem) or stem
    return words.replace("-", " ").replace("_", " ").strip().capitalize() or stem


def _names_after(lines: list[str], heading: re.Pattern[str]) -> tuple[str, ...]:
    """The names beside a heading, or in the list below it."""
    for at, line in _outside_code(lines):
        found = heading.match(line)
        if found is None:
            continue
        said = found[1].lstrip("*_ \t")
        if said and not said.startswith(":"):
            continue  # a sentence that begins with the same words
        beside = said.removeprefix(":").strip("*_ \t")
        return _names(beside) if beside else _list_names(lines[at + 1 :])
    return ()


def _list_names(lines: list[str]) -> tuple[str, ...]:
    names: list[str] = []
    for line in lines:
        item = ITEM.match(line)
        if item is not None:
            names += _names(item[1])
        elif line.strip() or names:
            break
    return tuple(dict.fromkeys(names))


def _names(text: str) -> tuple[str, ...]:
    """The names in a line or in a list: those in quotes, otherwise the words before a remark."""
    found: list[str] = []
    for line in text.strip().strip("[]").split("\n"):
        item = ITEM.match(line)
        for part in (item[1] if item else line).strip().split(","):
            quoted = QUOTED.search(part)
            # People add remarks: `src/a.py (new)`, `task-01 - the parser`.
            plain = re.split(r"\s+[(\u2013\u2014-]", part.strip(), maxsplit=1)[0]
            bare = (quoted[1] if quoted else plain).strip().strip("\"'*_").strip()
            if bare.lower().rstrip(".") not in NOTHING:
                found.append(bare)
    return tuple(dict.fromkeys(found))


# The order


def order_code_tasks(tasks: Sequence[CodeTask]) -> tuple[CodeTask, ...]:
    """Find the blockers of all tasks. UnusableData if two have the same name, if one names a task
    that does not exist, or if some wait for each other."""
    seen: dict[str, str] = {}
    for task in tasks:
        if (other := seen.setdefault(task.name, task.path)) != task.path:
            raise UnusableData(
                f"{other} and {task.path} are both {task.name}",
                hint="give one of them another number",
            )
    index = _index(tasks)
    needs = {
        one.name: tuple(dict.fromkeys(_blocker(one, said, index) for said in one.blocked_by))
        for one in tasks
    }
    if circle := find_cycle(needs, needs.__getitem__):
        names = ", ".join([one.name for one in tasks if one.name in circle][:10])
        raise UnusableData(
            f"these code tasks wait for each other: {names}", hint="fix their Blocked-By"
        )
    return tuple(replace(one, needs=needs[one.name]) for one in tasks)


def order_usable_tasks(
    tasks: Sequence[CodeTask], known: Mapping[str, str]
) -> tuple[tuple[CodeTask, ...], tuple[str, ...]]:
    """The same, but leave out new tasks that do not fit, so that they do not stop the others.
    Also returns a line about each. `known` are the paths of the other tasks, by name."""
    try:
        return order_code_tasks(tasks), ()
    except UnusableData:
        # A known task stays one after its file was renamed.
        renamed = {one.name: one.path for one in reversed(tasks) if one.name in known}
        there = {one.name: one.path for one in tasks if one.path == known.get(one.name)}
        kept = {*(renamed | there).values()}
        if not kept:
            raise
    ordered = order_code_tasks([one for one in tasks if one.path in kept])
    warnings: list[str] = []
    new = [one for one in tasks if one.path not in kept]
    for task in new[:MOST_NEW]:
        try:
            ordered = order_code_tasks([one for one in tasks if one.path in kept | {task.path}])
            kept.add(task.path)
        except UnusableData as error:
            warnings.append(f"{error}; {basename(task.path)} is left out")
    warnings += [f"{one.path} is left out: too many code tasks are new" for one in new[MOST_NEW:]]
    return ordered, tuple(warnings)


def as_prd(tasks: Sequence[CodeTask]) -> Prd:
    """The tasks as stories, which are synced with the store."""
    return Prd(text="", stories=tuple(map(_story, tasks)))


def _story(task: CodeTask) -> Story:
    return Story(
        id=task.name,
        title=task.title,
        box=Box(at=0, ticked=task.status is CodeTaskStatus.COMPLETED),
        body=task.body,
        depends_on=tuple(Dependency(id=name) for name in task.needs),
        files=usable_paths(task.files),
    )


def as_lines(tasks: Sequence[CodeTask], feature: str) -> list[NumberedTask]:
    lines = story_lines(as_prd(tasks), feature)
    blocked = {
        one.name: {"status": TaskStatus.BLOCKED, "reason": f"{one.path} says so"}
        for one in tasks
        if one.status is CodeTaskStatus.BLOCKED
    }
    return [
        NumberedTask(number, replace(line, **blocked.get(line.alias or "", {})))
        for number, line in lines
    ]


def _index(tasks: Sequence[CodeTask]) -> dict[str, list[CodeTask]]:
    """The tasks by every name that people may use: its own, and that of its file, whole or up to
    the number, with any of the folders above it."""
    found: dict[str, list[CodeTask]] = {}
    for task in tasks:
        *above, stem = _bare(task.path).split("/")
        short = "-".join(stem.split("-")[:2])
        tails = [[*above[at:], name] for name in (stem, short) for at in range(len(above) + 1)]
        for name in dict.fromkeys((_bare(task.name), *("/".join(tail) for tail in tails))):
            found.setdefault(name, []).append(task)
    return found


def _bare(path: str) -> str:
    """A path or a name as it is compared: in lower case, without its suffix."""
    return path.lower().removesuffix(".md").removesuffix(SUFFIX.removesuffix(".md"))


def _blocker(task: CodeTask, said: str, index: Mapping[str, Sequence[CodeTask]]) -> str:
    words = normpath(_bare(said)).split("/")
    # From the task's own folder first, then from any folder above.
    near = normpath(join(dirname(task.path.lower()), *words))
    ways = (near, *("/".join(words[at:]) for at in range(len(words))))
    found = next((index[way] for way in ways if way in index), ())
    if len(found) == 1:
        return found[0].name
    several = ", ".join(one.path for one in found[:3])
    why = f"which may be {several}" if found else "and there is no such code task"
    raise UnusableData(
        f"{task.path} is blocked by {one_line(said, 80)}, {why}",
        hint="Blocked-By: names files by their paths, or none",
    )
