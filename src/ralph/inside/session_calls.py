"""The calls that a session may make over the control socket, and the store that makes them.

A call is one line of JSON, `{"token": …, "method": "tasks.find", "args": {…}}`; so is its answer,
`{"value": …}` or `{"error": class, "message": …, "hint": …}`. Types come from the signatures of the
store and of `GuardrailWriter`, so both ends agree.
"""

from functools import partial
from typing import Any, get_type_hints

import msgspec

from ralph.core import errors
from ralph.inside.socket_client import SocketUnavailable, send_line
from ralph.ports.project_files import GuardrailWriter

READ_METHODS = frozenset(
    {
        "tasks.get", "tasks.planning", "tasks.find", "tasks.select", "tasks.subtree",
        "tasks.children", "tasks.blockers", "tasks.dependents", "tasks.blocker_ids", "tasks.logs",
        "features.get", "features.all", "claims.counts", "claims.user_counts", "claims.has_open",
        "claims.has_tasks", "claims.in_progress", "claims.next_ready", "events.select",
        "events.last_seq", "events.kept_work", "events.of_task", "runs.newest", "runs.get",
        "runs.find", "runs.live", "sessions.get", "sessions.select", "sessions.usage_limit_until",
        "sessions.segments",
        "costs.total", "costs.sums", "messages.peek_guidance", "memories.search", "tasks.ready",
        "memories.select", "checks.of_session", "reviews.thread", "reviews.comments_about",
        "breakers.get", "breakers.all", "workers.of_run", "workers.results", "screens.nodes",
        "screens.edges", "screens.clusters", "screens.bars", "screens.run_tasks", "screens.stuck",
        "screens.work_times", "screens.newest_endings", "screens.disputes", "screens.shown_status",
        "tasks.names_of",
    }
)  # fmt: skip
ADD_TASK, ADD_TASKS = "tasks.add", "tasks.add_many"
ADD_METHODS = frozenset({ADD_TASK, ADD_TASKS, "tasks.link", "features.add", "tasks.log"})
GUARDRAIL_METHODS = frozenset({"add_guardrail"})
FORCE_DONE, FORCE_FAILED = "tasks.force_done", "tasks.force_failed"
CLAIM_METHODS = frozenset({FORCE_DONE, FORCE_FAILED, "tasks.apply"})
"""About the session's own task only; Ralph judges them."""

HOOK_METHOD = "hook"
"""What an agent asks before and after it uses a tool, and when it wants to end."""
TOOL_METHOD = "use_tool"
"""One of Ralph's own tools, by name."""


class SessionCall(msgspec.Struct, frozen=True, kw_only=True):
    token: str
    method: str
    args: dict[str, Any] = {}


class HookCall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    payload: dict[str, Any]


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    arguments: dict[str, Any] = {}


class CallResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A value, or an error with the name of its class."""

    value: Any = None
    error: str = ""
    message: str = ""
    hint: str = ""


def method_types(method: str) -> dict[str, Any]:
    """The types of a method's arguments, and of its result under `return`."""
    if method in GUARDRAIL_METHODS:
        return get_type_hints(getattr(GuardrailWriter, method))
    from ralph.store.store import Store  # slow to import, and hooks need none of it

    part, _, name = method.partition(".")
    return get_type_hints(getattr(get_type_hints(Store)[part], name))


def decode_arguments(method: str, args: dict[str, Any]) -> dict[str, Any]:
    """Arguments as they came over the wire, as the values the store expects."""
    types = method_types(method)
    return {name: msgspec.convert(value, types[name]) for name, value in args.items()}


class RemoteStore:
    """The store inside a session, or a part: each method is a call to the run, which may refuse."""

    def __init__(self, path: str, token: str, part: str = "") -> None:
        self._path = path
        self._token = token
        self._part = part

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self._part or name in GUARDRAIL_METHODS:
            return partial(self._call, f"{self._part}.{name}".lstrip("."))
        return RemoteStore(self._path, self._token, name)

    def close(self) -> None:
        """Nothing is held open between calls."""

    def _call(self, method: str, /, *args: Any, **kwargs: Any) -> Any:
        types = method_types(method)
        names = (name for name in types if name != "return")
        named = dict(zip(names, args, strict=False)) | kwargs
        call = SessionCall(token=self._token, method=method, args=msgspec.to_builtins(named))
        try:
            said = send_line(self._path, msgspec.json.encode(call) + b"\n")
        except SocketUnavailable as error:
            hint = "outside a session, unset RALPH_SOCKET"
            raise errors.Unavailable(str(error), hint=hint) from error
        answer = msgspec.json.decode(said, type=CallResult)
        if answer.error:
            kind = getattr(errors, answer.error, errors.RalphError)
            raise kind(answer.message, hint=answer.hint)
        return msgspec.convert(answer.value, types["return"])
