"""Tasks and features: their fields, the files that they name, and how long their texts may be."""

from collections.abc import Iterable, Set
from enum import StrEnum
from posixpath import normpath
from typing import Final

import msgspec

from ralph.core.errors import UnusableData, UsageError
from ralph.core.ids import FeatureId, TaskId, WorkerId, is_task_id
from ralph.core.safe_text import one_line


class TaskStatus(StrEnum):
    """The values of `tasks.status`."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    BLOCKED = "blocked"
    FAILED = "failed"


class TaskType(StrEnum):
    FEATURE = "feature"
    STANDALONE = "standalone"


class FeatureStatus(StrEnum):
    DRAFT = "draft"
    PLANNED = "planned"
    READY = "ready"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


OPEN = frozenset({TaskStatus.PENDING, TaskStatus.IN_PROGRESS, TaskStatus.BLOCKED})
"""A task with one of these is not settled."""
OPEN_REVIEW = "open"


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A node of the graph. `attempt` numbers claims and only grows."""

    id: TaskId
    title: str
    description: str = ""
    status: TaskStatus = TaskStatus.PENDING
    parent_id: TaskId | None = None
    feature_id: FeatureId | None = None
    task_type: TaskType = TaskType.STANDALONE
    priority: int = 0
    retry_count: int = 0
    max_retries: int = 3
    strikes: int = 0
    attempt: int = 0
    verification_status: str | None = None
    review: str | None = None
    """`open` while a reviewer reads the change; `passed` or `failed` since the last review."""
    claimed_by: WorkerId | None = None
    alias: str | None = None
    needs_change: bool = True
    """False for a task that may be done without touching the tree (research, a check)."""
    reason: str | None = None
    """Why the last attempt did not count, why the task failed, or why it is blocked."""
    files: tuple[str, ...] = ()
    """What it will modify, from the top of the project; in order, each once."""
    created_at: str = ""
    updated_at: str = ""

    @property
    def name(self) -> str:
        """What people call it: the story's alias where there is one."""
        return self.alias or self.id


class TaskDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A new task. The store creates the id if none is given."""

    title: str
    description: str = ""
    id: TaskId | None = None
    parent_id: TaskId | None = None
    feature_id: FeatureId | None = None
    priority: int = 0
    max_retries: int = 3
    alias: str | None = None
    needs_change: bool = True
    blocked_by: tuple[TaskId, ...] = ()
    files: tuple[str, ...] = ()
    """What it will modify."""
    status: TaskStatus = TaskStatus.PENDING
    """Only imports say anything but pending; an import never brings a claim along."""
    reason: str | None = None
    """Why it is blocked or failed."""


class TaskEdit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A change of a task; UNSET leaves a field as it is."""

    title: str | msgspec.UnsetType = msgspec.UNSET
    description: str | msgspec.UnsetType = msgspec.UNSET
    priority: int | msgspec.UnsetType = msgspec.UNSET
    max_retries: int | msgspec.UnsetType = msgspec.UNSET
    parent_id: TaskId | msgspec.UnsetType | None = msgspec.UNSET
    feature_id: FeatureId | msgspec.UnsetType | None = msgspec.UNSET
    needs_change: bool | msgspec.UnsetType = msgspec.UNSET
    files: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    """In the place of those before."""


class Feature(msgspec.Struct, frozen=True, kw_only=True):
    """A named piece of work: spec, plan, tasks."""

    id: FeatureId
    name: str
    spec_path: str | None = None
    plan_path: str | None = None
    status: FeatureStatus = FeatureStatus.DRAFT
    created_at: str = ""
    updated_at: str = ""


def feature_status(
    tasks: Set[TaskStatus], roots: Set[TaskStatus], *, has_plan: bool
) -> FeatureStatus:
    """`draft`, `planned` with a plan, `ready` with tasks, `running` once one of them was begun,
    then `done`, or `failed`: also when its root has failed, since what is left cannot run.

    `tasks` and `roots` are the statuses of its tasks and of those that are part of no other.
    """
    without_tasks = FeatureStatus.PLANNED if has_plan else FeatureStatus.DRAFT
    if not tasks & OPEN:
        if TaskStatus.FAILED in tasks:
            return FeatureStatus.FAILED
        return FeatureStatus.DONE if TaskStatus.DONE in tasks else without_tasks
    if TaskStatus.FAILED in roots and not (roots & OPEN or TaskStatus.IN_PROGRESS in tasks):
        return FeatureStatus.FAILED
    if tasks & {TaskStatus.IN_PROGRESS, TaskStatus.DONE, TaskStatus.FAILED}:
        return FeatureStatus.RUNNING
    # A root that is held back has not got all of its tasks yet.
    is_held = roots & OPEN == {TaskStatus.BLOCKED}
    return without_tasks if is_held else FeatureStatus.READY


# The files that a task says it will modify. Two tasks that name the same file never run at the
# same time.

MOST: Final = 200
"""The most files that are learned about a task: with more, it would hold up all others."""


def normalize_paths(paths: Iterable[str]) -> tuple[str, ...]:
    """As they are compared: each once, from the top of the project, without detours. UsageError
    for what cannot be such a path."""
    return unique_paths(_one(path) for path in paths)


def usable_paths(paths: Iterable[str]) -> tuple[str, ...]:
    """The same for a document, where people write many things: the rest is left out."""
    return unique_paths(filter(None, map(_plain, paths)))


def _one(path: str) -> str:
    plain = _plain(path)
    if not plain:
        raise UsageError(
            f"{one_line(path, 100)!r} is not a file below the top of the project",
            hint="name it as git does: src/app.py",
        )
    return plain


def _plain(path: str) -> str:
    """Without detours; nothing for what is outside of the project, or no name."""
    plain = normpath(path) if path else ""
    outside = plain.startswith("/") or plain.split("/", 1)[0] in ("", ".", "..")
    return plain if plain.isprintable() and not outside else ""


def unique_paths(paths: Iterable[str]) -> tuple[str, ...]:
    """Each once, in the order in which they are kept."""
    return tuple(sorted(set(paths)))


def with_touched_files(known: tuple[str, ...], touched: Iterable[str]) -> tuple[str, ...]:
    """What a task names, and what its session has touched besides, up to a limit. Names that
    cannot be stored are left out."""
    text = (path for path in touched if path and path.isprintable())
    new = [path for path in unique_paths(text) if path not in known]
    return unique_paths((*known, *new[: max(0, MOST - len(known))]))


# The length of texts

LONGEST_TITLE: Final = 10_000
LONGEST_TEXT: Final = 10_000_000
"""A description, a reason, a line of a log."""
LARGEST_DOCUMENT: Final = 1024 * 1024
"""Bytes of a PRD, a design, a code task: of what people and models read."""


def too_long(what: str, text: object, most: int = LONGEST_TEXT) -> str:
    """Why it is refused; empty if it is not."""
    if not isinstance(text, str) or len(text) <= most:
        return ""
    return f"{what} is {len(text):,} characters long, and may have {most:,}"


def task_flaw(title: str, description: str, task: str | None, alias: str | None) -> str:
    """Why a task that a file or a session describes cannot be added; empty if it can."""
    if not title.strip():
        return "the title is empty"
    if task is not None and not is_task_id(task):
        return (
            f"{one_line(task, 40)!r} is not a task's id (t- and six or more hex digits);"
            " a name of your own is an alias"
        )
    if alias is not None and (not alias.strip() or not alias.isprintable()):
        return f"{one_line(alias, 40)!r} cannot be an alias"
    return too_long("the title", title, LONGEST_TITLE) or too_long("the description", description)


def refuse_long_task(task: TaskDraft | TaskEdit) -> None:
    """UnusableData if a title or a description is too long."""
    flaw = too_long("the title", task.title, LONGEST_TITLE) or too_long(
        "the description", task.description
    )
    if flaw:
        raise UnusableData(flaw)


def refuse_long_texts(value: object) -> None:
    """The same for whatever a session sends, however it is nested."""
    left = [value]
    while left:
        one = left.pop()
        if flaw := too_long("a text", one):
            raise UnusableData(flaw)
        if isinstance(one, dict):
            left += one.values()
        elif isinstance(one, list):
            left += one
        elif isinstance(one, msgspec.Struct):
            left += msgspec.structs.astuple(one)
