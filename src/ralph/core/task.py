"""What a task and a feature are."""

from enum import StrEnum

import msgspec

from ralph.core.ids import FeatureId, TaskId, WorkerId


class Status(StrEnum):
    """The five words of `tasks.status`."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    BLOCKED = "blocked"
    FAILED = "failed"


class TaskType(StrEnum):
    """Part of a feature, or on its own."""

    FEATURE = "feature"
    STANDALONE = "standalone"


class FeatureStatus(StrEnum):
    """How far a feature has come."""

    DRAFT = "draft"
    PLANNED = "planned"
    READY = "ready"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


OPEN = frozenset({Status.PENDING, Status.IN_PROGRESS, Status.BLOCKED})
"""A task with one of these is not settled."""


OPEN_REVIEW = "open"


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A node of the graph. `attempt` numbers claims and only grows."""

    id: TaskId
    title: str
    description: str = ""
    status: Status = Status.PENDING
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


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A task that does not exist yet. Without an id the store makes one."""

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
    """What it will modify (see `core.named_files`)."""
    status: Status = Status.PENDING
    """Only imports say anything but pending; an import never brings a claim along."""
    reason: str | None = None
    """Why it is blocked or failed."""


class Edit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a person changes about a task; UNSET leaves it as it is."""

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
