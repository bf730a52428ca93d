"""The language of the door: which calls a session may make, and how they travel.

A call is one line of JSON, `{"token": …, "method": …, "args": {…}}`; so is its answer,
`{"value": …}` or `{"error": class, "message": …, "hint": …}`. Types come from the signatures of the
store and of the lessons, so that both ends agree by construction.
"""

from typing import Any, get_type_hints

import msgspec

from ralph.ports.library import Lessons
from ralph.ports.store import Store

READS = frozenset(
    {
        "find", "tasks", "subtree", "children", "blockers", "dependents", "blocker_ids",
        "feature", "features", "logs", "counts", "has_open", "has_tasks", "in_progress",
        "next_ready", "events", "last_seq", "runs", "run", "live_runs", "session", "sessions",
        "spent", "costs", "limited_until", "guidance_for", "recall", "memories",
        "checks", "stints", "reviews", "dismissals", "breaker", "breakers", "crew", "achieved",
    }
)  # fmt: skip
ADDITIONS = frozenset({"add_task", "add_many", "link", "add_feature", "log"})
LESSONS = frozenset({"add_guardrail"})
CLAIMS = frozenset({"force_done", "force_failed", "apply"})
"""About the session's own task only; Ralph judges them."""

HOOK = "hook"
"""What an agent asks before and after it uses a tool, and when it wants to end."""
TOOL = "use_tool"
"""One of Ralph's own tools, by name."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A request."""

    token: str
    method: str
    args: dict[str, Any] = {}


class Hooked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an agent's program asks with HOOK."""

    name: str
    payload: dict[str, Any]


class Used(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a session does with TOOL."""

    name: str
    arguments: dict[str, Any] = {}


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A value, or an error with its class's name."""

    value: Any = None
    error: str = ""
    message: str = ""
    hint: str = ""


def hints(method: str) -> dict[str, Any]:
    """The types of a method's arguments, and of its result under `return`."""
    return get_type_hints(getattr(Lessons if method in LESSONS else Store, method))


def arguments(method: str, args: dict[str, Any]) -> dict[str, Any]:
    """Arguments as they came over the wire, as the values the store expects."""
    types = hints(method)
    return {name: msgspec.convert(value, types[name]) for name, value in args.items()}


def result(method: str, value: Any) -> Any:
    """A result as it came over the wire, as the caller expects it."""
    return msgspec.convert(value, hints(method)["return"])
