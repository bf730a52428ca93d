"""Ralph's own tools, as sessions call them: what each takes, and what it does in the loop."""

import re
from collections.abc import Callable
from typing import Annotated, Any, Final

import msgspec
from msgspec.structs import replace

from ralph.core.errors import UsageError
from ralph.core.ids import FeatureId
from ralph.core.memory import Memory, MemoryKind
from ralph.core.named_files import named
from ralph.core.safe_text import one_line
from ralph.core.target import Everything, OneFeature
from ralph.core.task import Draft, Task
from ralph.core.transitions import Blocked
from ralph.ports.claims import Claim
from ralph.ports.history import Session
from ralph.ports.ledger import Asked
from ralph.ports.store import Filter, Store

SHOWN: Final = 100
"""Tasks in a summary: a session has better things to read."""
LEARNING_CHARS: Final = 4000
SHORT_NAME: Final = re.compile(r"\w[\w.-]{0,59}")
TAKEN: Final = re.compile(r"[tf]-[0-9a-f]{6,}")
SCHEMA: Final = ("type", "properties", "required", "additionalProperties")

MOST: Final = 2**31 - 1
"""Of any number: what a database takes, and more than anybody means."""

TITLE_CHARS: Final = 200
ADD_TASK: Final = "ralph_add_task"

Words = Annotated[str, msgspec.Meta(min_length=1, pattern=r"\S")]
"""More than blanks."""


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """The session that calls."""

    store: Store
    session: Session
    claim: Claim
    home: FeatureId | None = None
    """The feature that its tasks belong to, where that is not the one of its own task."""

    def placed(self, draft: Draft) -> Draft:
        """A task that names no place belongs to what the run works on."""
        if draft.feature_id is not None or draft.parent_id is not None:
            return draft
        if self.home is not None:
            return replace(draft, feature_id=self.home)
        # Beside its own: below it, it would have to wait for them.
        mine = self.task
        return replace(draft, feature_id=mine.feature_id, parent_id=mine.parent_id)

    @property
    def task(self) -> Task:
        """Its own task, as it is now."""
        return self.store.find(self.claim.task.id)

    def own(self, name: str) -> Task:
        """Its own task by id or alias; UsageError for any other."""
        task = self.store.find(name)
        if task.id != self.claim.task.id:
            raise UsageError(
                f"task {one_line(name, 60)} is not this session's",
                hint=f"this session's task is {self.claim.task.name}",
            )
        return task


class Nothing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """No arguments."""


class Named(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A task."""

    task_id: Annotated[Words, msgspec.Meta(description="the id or alias of this session's task")]


class Complete(Named, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A claim."""

    verification_notes: Annotated[
        str, msgspec.Meta(description="how it was checked; later sessions read it")
    ] = ""
    tokens_used: Annotated[int, msgspec.Meta(ge=0, le=MOST, description="as far as known")] = 0


class Block(Named, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A way out."""

    reason: Annotated[Words, msgspec.Meta(description="what a person has to do about it")]


class Learning(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something worth knowing."""

    learning: Annotated[
        Words, msgspec.Meta(description="what later sessions should know, in a sentence or two")
    ]


class NewTask(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """More to do."""

    task_id: Annotated[Words, msgspec.Meta(description="a short name of your choice: auth-01")]
    description: Annotated[
        Words, msgspec.Meta(description="what is to be done; its first line is the title")
    ]
    priority: Annotated[
        int, msgspec.Meta(ge=-MOST, le=MOST, description="lower numbers come first")
    ] = 0
    dependencies: Annotated[
        tuple[str, ...], msgspec.Meta(description="ids or names of tasks that must be done before")
    ] = ()
    verification_criteria: Annotated[
        tuple[str, ...], msgspec.Meta(description="how one sees that it is done")
    ] = ()
    files: Annotated[
        tuple[str, ...],
        msgspec.Meta(description="what it will modify, from the top of the project"),
    ] = ()
    estimated_tokens: Annotated[int, msgspec.Meta(ge=0, le=MOST, description="a guess")] = 0


# What they do


def _next(caller: Caller, _: Nothing) -> dict[str, Any]:
    return {"task": _shown(caller.task), "note": "this session works on this task and no other"}


def _begin(caller: Caller, args: Named) -> dict[str, Any]:
    return {"task": _shown(caller.own(args.task_id))}


def _complete(caller: Caller, args: Complete) -> dict[str, Any]:
    task = caller.own(args.task_id)
    if args.verification_notes.strip():
        caller.store.log(task.id, args.verification_notes.strip())
    if args.tokens_used:
        caller.store.log(task.id, f"tokens used, as the session says: {args.tokens_used:,}")
    caller.store.tell(caller.session.id, "done")
    return {"claimed": task.name, "note": "Ralph judges it when this session ends"}


def _block(caller: Caller, args: Block) -> dict[str, Any]:
    task = caller.own(args.task_id)
    return {"task": _shown(caller.store.apply(task.id, [Blocked(args.reason)]))}


def _learn(caller: Caller, args: Learning) -> dict[str, Any]:
    memory = Memory(
        kind=MemoryKind.KNOWLEDGE,
        text=args.learning[:LEARNING_CHARS],
        task_id=caller.claim.task.id,
        attempt=caller.claim.attempt,
    )
    caller.store.learn(memory, caller.session.run_id)
    return {"kept": one_line(args.learning, 120)}


def _add(caller: Caller, args: NewTask) -> dict[str, Any]:
    _check_name(args.task_id)
    title, _, rest = args.description.strip().partition("\n")
    if len(title) > TITLE_CHARS:
        title, rest = one_line(title, TITLE_CHARS), args.description
    criteria = "\n".join(f"- [ ] {one_line(one)}" for one in args.verification_criteria)
    parts = (
        rest.strip(),
        f"Acceptance criteria:\n{criteria}" if criteria else "",
        f"Estimate: {args.estimated_tokens:,} tokens" if args.estimated_tokens else "",
    )
    draft = caller.placed(
        Draft(
            title=title,
            description="\n\n".join(filter(None, parts)),
            alias=args.task_id,
            priority=args.priority,
            blocked_by=tuple(caller.store.find(name).id for name in args.dependencies),
            files=named(args.files),
        )
    )
    added = caller.store.add_task(draft)
    return {"task": _shown(added)}


def _check_name(name: str) -> None:
    """Refuse names that could be taken for something else, or that nobody would type."""
    if not SHORT_NAME.fullmatch(name) or TAKEN.fullmatch(name):
        raise UsageError(
            f"{one_line(name, 60)!r} cannot be the name of a task",
            hint="up to 60 letters, digits, dots and dashes that do not look like an id: auth-01",
        )


def _plan(caller: Caller, _: Nothing) -> dict[str, Any]:
    mine = caller.task
    feature = mine.feature_id
    target = OneFeature(feature, "") if feature is not None else Everything()
    tasks = caller.store.tasks(Filter(feature=feature, limit=SHOWN))
    blockers = caller.store.blocker_ids([one.id for one in tasks])
    return {
        "counts": msgspec.to_builtins(caller.store.counts(target)),
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


def _state(caller: Caller, _: Nothing) -> dict[str, Any]:
    spent = caller.store.spent(Asked(run=caller.session.run_id))
    return {
        "run_id": caller.session.run_id,
        "task": _shown(caller.task),
        "attempt": caller.claim.attempt,
        "counts": msgspec.to_builtins(caller.store.counts(Everything())),
        "sessions": spent.sessions,
        "cost": str(spent),
    }


def _shown(task: Task) -> dict[str, Any]:
    return {
        "id": task.id,
        "alias": task.alias,
        "title": task.title,
        "description": task.description,
        "status": task.status.value,
        "priority": task.priority,
        "reason": task.reason,
    }


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One of them."""

    name: str
    about: str
    takes: type[msgspec.Struct]
    does: Callable[[Caller, Any], dict[str, Any]]
    adds: bool = False
    """Does it leave something to build on?"""

    @property
    def schema(self) -> dict[str, Any]:
        """What it takes, as JSON schema."""
        _, components = msgspec.json.schema_components([self.takes])
        found: dict[str, Any] = components[self.takes.__name__]
        return {key: found[key] for key in SCHEMA}


TOOLS: Final = (
    Tool(
        name="ralph_get_next_task",
        about="The task of this session, with all that is known about it.",
        takes=Nothing,
        does=_next,
    ),
    Tool(
        name="ralph_mark_task_in_progress",
        about="Say that you begin with your task. It is yours already; this changes nothing.",
        takes=Named,
        does=_begin,
    ),
    Tool(
        name="ralph_mark_task_complete",
        about="Claim that your task is done. Ralph checks it when the session ends.",
        takes=Complete,
        does=_complete,
    ),
    Tool(
        name="ralph_mark_task_blocked",
        about="Say that your task cannot go on without a person, and why. This ends the session.",
        takes=Block,
        does=_block,
    ),
    Tool(
        name="ralph_append_learning",
        about="Keep something for later sessions: what surprised you, what to avoid, what works.",
        takes=Learning,
        does=_learn,
        adds=True,
    ),
    Tool(
        name=ADD_TASK,
        about="Add a task to the plan, beside your own.",
        takes=NewTask,
        does=_add,
        adds=True,
    ),
    Tool(
        name="ralph_get_plan_summary",
        about="The tasks of your feature, or all, with their status and what they wait for.",
        takes=Nothing,
        does=_plan,
    ),
    Tool(
        name="ralph_get_state_summary",
        about="How the run is doing: counts, sessions, cost.",
        takes=Nothing,
        does=_state,
    ),
)

BY_NAME: Final = {tool.name: tool for tool in TOOLS}


def perform(caller: Caller, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Do what a tool does. UsageError for what cannot be understood."""
    tool = BY_NAME.get(name)
    if tool is None:
        raise UsageError(f"there is no tool {one_line(name, 60)}", hint=", ".join(BY_NAME))
    try:
        args = msgspec.convert(arguments, tool.takes)
    except msgspec.ValidationError as error:
        raise UsageError(f"{name}: {error}", hint="look at the tool's schema") from error
    return tool.does(caller, args)
