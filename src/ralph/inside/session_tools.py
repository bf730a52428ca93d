"""Ralph's tools for sessions. A tool is a function: its name is the tool's name, its docstring what
the session reads about it, and its keyword arguments what it takes."""

import re
from collections.abc import Callable
from typing import Annotated, Any, Final

import msgspec
from msgspec.structs import replace

from ralph.core.errors import UsageError
from ralph.core.ids import FeatureId
from ralph.core.memory import Memory, MemoryKind
from ralph.core.run import AllTasks, OneFeature
from ralph.core.safe_text import one_line
from ralph.core.task import Task, TaskDraft, normalize_paths
from ralph.core.transitions import Blocked
from ralph.store.claims import Claim
from ralph.store.costs import CostFilter
from ralph.store.sessions import Session
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter

SHOWN: Final = 100
LEARNING_CHARS: Final = 4000
SHORT_NAME: Final = re.compile(r"\w[\w.-]{0,59}")
RESERVED_NAME: Final = re.compile(r"[tf]-[0-9a-f]{6,}")
SCHEMA: Final = ("type", "properties", "required", "additionalProperties")

MOST: Final = 2**31 - 1
"""The largest number in an argument: more than that fits into no database."""
TITLE_CHARS: Final = 200

Words = Annotated[str, msgspec.Meta(min_length=1, pattern=r"\S")]
"""Text that is not blank."""


class CallingSession(msgspec.Struct, frozen=True, kw_only=True):
    store: Store
    session: Session
    claim: Claim
    home: FeatureId | None = None
    """The feature of the tasks that it adds, if that is not the one of its own task."""

    def placed(self, draft: TaskDraft) -> TaskDraft:
        """Put a task that names no feature and no parent where the run works."""
        is_placed = draft.feature_id is not None or draft.parent_id is not None
        if self.home is not None and draft.parent_id == self.claim.task.id:
            # A planning task is removed when it is left undone, with everything below it.
            is_placed, draft = False, replace(draft, parent_id=None)
        if is_placed:
            return draft
        if self.home is not None:
            return replace(draft, feature_id=self.home)
        # Beside its own task: below it, that would have to wait for the new one.
        mine = self.task
        return replace(draft, feature_id=mine.feature_id, parent_id=mine.parent_id)

    @property
    def task(self) -> Task:
        return self.store.tasks.find(self.claim.task.id)

    def own(self, name: str) -> Task:
        """Its own task by id or alias; UsageError for any other."""
        task = self.store.tasks.find(name)
        if task.id != self.claim.task.id:
            raise UsageError(
                f"task {one_line(name, 60)} is not this session's",
                hint=f"this session's task is {self.claim.task.name}",
            )
        return task


TaskName = Annotated[Words, msgspec.Meta(description="the id or alias of this session's task")]


def ralph_get_next_task(caller: CallingSession) -> dict[str, Any]:
    """The task of this session, with all that is known about it."""
    return {
        "task": _task_fields(caller.task),
        "note": "this session works on this task and no other",
    }


def ralph_mark_task_in_progress(caller: CallingSession, *, task_id: TaskName) -> dict[str, Any]:
    """Say that you begin with your task. It is yours already; this changes nothing."""
    return {"task": _task_fields(caller.own(task_id))}


def ralph_mark_task_complete(
    caller: CallingSession,
    *,
    task_id: TaskName,
    verification_notes: Annotated[
        str, msgspec.Meta(description="how it was checked; later sessions read it")
    ] = "",
    tokens_used: Annotated[int, msgspec.Meta(ge=0, le=MOST, description="as far as known")] = 0,
) -> dict[str, Any]:
    """Claim that your task is done. Ralph checks it when the session ends."""
    task = caller.own(task_id)
    if verification_notes.strip():
        caller.store.tasks.log(task.id, verification_notes.strip())
    if tokens_used:
        caller.store.tasks.log(task.id, f"tokens used, as the session says: {tokens_used:,}")
    caller.store.sessions.save_socket_claim(caller.session.id, "done", caller.claim)
    return {"claimed": task.name, "note": "Ralph judges it when this session ends"}


def ralph_mark_task_blocked(
    caller: CallingSession,
    *,
    task_id: TaskName,
    reason: Annotated[Words, msgspec.Meta(description="what a person has to do about it")],
) -> dict[str, Any]:
    """Say that your task cannot go on without a person, and why. This ends the session."""
    task = caller.own(task_id)
    return {"task": _task_fields(caller.store.tasks.apply(task.id, [Blocked(reason)]))}


def ralph_append_learning(
    caller: CallingSession,
    *,
    learning: Annotated[
        Words, msgspec.Meta(description="what later sessions should know, in a sentence or two")
    ],
) -> dict[str, Any]:
    """Keep something for later sessions: what surprised you, what to avoid, what works."""
    memory = Memory(
        kind=MemoryKind.KNOWLEDGE,
        text=learning[:LEARNING_CHARS],
        task_id=caller.claim.task.id,
        attempt=caller.claim.attempt,
    )
    caller.store.memories.add(memory, caller.session.run_id)
    return {"kept": one_line(learning, 120)}


def ralph_add_task(
    caller: CallingSession,
    *,
    task_id: Annotated[Words, msgspec.Meta(description="a short name of your choice: auth-01")],
    description: Annotated[
        Words, msgspec.Meta(description="what is to be done; its first line is the title")
    ],
    priority: Annotated[
        int, msgspec.Meta(ge=-MOST, le=MOST, description="lower numbers come first")
    ] = 0,
    dependencies: Annotated[
        tuple[str, ...], msgspec.Meta(description="ids or names of tasks that must be done before")
    ] = (),
    verification_criteria: Annotated[
        tuple[str, ...], msgspec.Meta(description="how one sees that it is done")
    ] = (),
    files: Annotated[
        tuple[str, ...],
        msgspec.Meta(description="what it will modify, from the top of the project"),
    ] = (),
    estimated_tokens: Annotated[int, msgspec.Meta(ge=0, le=MOST, description="a guess")] = 0,
) -> dict[str, Any]:
    """Add a task to the plan, beside your own."""
    if not SHORT_NAME.fullmatch(task_id) or RESERVED_NAME.fullmatch(task_id):
        raise UsageError(
            f"{one_line(task_id, 60)!r} cannot be the name of a task",
            hint="up to 60 letters, digits, dots and dashes that do not look like an id: auth-01",
        )
    title, _, rest = description.strip().partition("\n")
    if len(title) > TITLE_CHARS:
        title, rest = one_line(title, TITLE_CHARS), description
    criteria = "\n".join(f"- [ ] {one_line(one)}" for one in verification_criteria)
    parts = (
        rest.strip(),
        f"Acceptance criteria:\n{criteria}" if criteria else "",
        f"Estimate: {estimated_tokens:,} tokens" if estimated_tokens else "",
    )
    draft = TaskDraft(
        title=title,
        description="\n\n".join(filter(None, parts)),
        alias=task_id,
        priority=priority,
        blocked_by=tuple(caller.store.tasks.find(name).id for name in dependencies),
        files=normalize_paths(files),
    )
    return {"task": _task_fields(caller.store.tasks.add(caller.placed(draft)))}


def ralph_get_plan_summary(caller: CallingSession) -> dict[str, Any]:
    """The tasks of your feature, or all, with their status and what they wait for."""
    feature = caller.task.feature_id
    target = OneFeature(feature, "") if feature is not None else AllTasks()
    tasks = caller.store.tasks.select(TaskFilter(feature=feature, limit=SHOWN))
    blockers = caller.store.tasks.blocker_ids([one.id for one in tasks])
    return {
        "counts": msgspec.to_builtins(caller.store.claims.counts(target)),
        "tasks": [
            {
                "id": one.name,
                "title": one.title,
                "status": one.status.value,
                "priority": one.priority,
                "dependencies": list(blockers.get(one.id, ())),
            }
            for one in tasks
        ],
    }


def ralph_get_state_summary(caller: CallingSession) -> dict[str, Any]:
    """How the run is doing: counts, sessions, cost."""
    spent = caller.store.costs.total(CostFilter(run=caller.session.run_id))
    return {
        "run_id": caller.session.run_id,
        "task": _task_fields(caller.task),
        "attempt": caller.claim.attempt,
        "counts": msgspec.to_builtins(caller.store.claims.counts(AllTasks())),
        "sessions": spent.sessions,
        "cost": str(spent),
    }


def _task_fields(task: Task) -> dict[str, Any]:
    names = ("id", "alias", "title", "description", "status", "priority", "reason")
    return {name: getattr(task, name) for name in names}


class SessionTool:
    def __init__(self, does: Callable[..., dict[str, Any]]) -> None:
        self.does = does
        self.name = does.__name__
        self.about = does.__doc__ or ""
        defaults = {name: (value,) for name, value in (does.__kwdefaults__ or {}).items()}
        fields = [
            (name, kind, *defaults.get(name, ()))
            for name, kind in does.__annotations__.items()
            if name not in ("caller", "return")
        ]
        self.takes = msgspec.defstruct(
            self.name, fields, frozen=True, kw_only=True, forbid_unknown_fields=True
        )

    @property
    def schema(self) -> dict[str, Any]:
        _, components = msgspec.json.schema_components([self.takes])
        found: dict[str, Any] = components[self.takes.__name__]
        return {key: found[key] for key in SCHEMA}


_FUNCTIONS: Final = (
    *(ralph_get_next_task, ralph_mark_task_in_progress, ralph_mark_task_complete),
    *(ralph_mark_task_blocked, ralph_append_learning, ralph_add_task),
    *(ralph_get_plan_summary, ralph_get_state_summary),
)
TOOLS: Final = {one.__name__: SessionTool(one) for one in _FUNCTIONS}
ADD_TASK: Final = "ralph_add_task"
ADDING: Final = frozenset({ADD_TASK, "ralph_append_learning"})
"""Tools that leave something that later sessions build on."""


def run_tool(caller: CallingSession, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Run a tool. UsageError for arguments that do not fit it."""
    tool = TOOLS.get(name)
    if tool is None:
        raise UsageError(f"there is no tool {one_line(name, 60)}", hint=", ".join(TOOLS))
    try:
        args = msgspec.convert(arguments, tool.takes)
    except msgspec.ValidationError as error:
        raise UsageError(f"{name}: {error}", hint="look at the tool's schema") from error
    return tool.does(caller, **msgspec.structs.asdict(args))
