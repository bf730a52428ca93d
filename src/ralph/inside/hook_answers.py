"""Answer the hooks of an agent, in the format of Claude Code."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace

from ralph.core.brief_sections import estimate_tokens
from ralph.core.errors import UsageError
from ralph.core.events import Event, ToolJudged
from ralph.core.message_tags import read_message_tags
from ralph.core.policy.decide import decide
from ralph.core.policy.decision import Allow, Decision, Deny, Rewrite
from ralph.core.policy.tools import ToolPermissions, command_of, with_command
from ralph.core.safe_text import one_line
from ralph.inside.session_tools import CallingSession
from ralph.inside.socket_client import HOOKS
from ralph.store.sessions import Session

ERROR_CHARS: Final = 200
DEEPEST: Final = 20
PATCH: Final = "structuredPatch"
"""The key of a change in full, which people see; the model reads one line."""
ANSWERS: Final = ("tool_response", "tool_result", "tool_output")
"""What agents call the answer of a tool."""
PICTURES: Final = ("base64", "data")
"""Keys of letters that the model does not read."""

HookAnswer = tuple[dict[str, Any], Event | None]
"""What the agent's program gets (empty: go on), and what is recorded."""


def answer_hook(
    name: str, payload: Mapping[str, Any], caller: CallingSession, permissions: ToolPermissions
) -> HookAnswer:
    if not permissions.speaks and name != "pre-tool-use":
        return {}, None
    match name:
        case "pre-tool-use":
            return _before_tool(payload, caller, permissions)
        case "post-tool-use":
            return _after_tool(payload, caller), None
        case "stop":
            return _stop(payload, caller), None
        case "session-start":
            return _start(payload, caller), None
        case _:
            raise UsageError(f"there is no hook {one_line(name, 40)}", hint=", ".join(HOOKS))


def decide_tool_use(payload: Mapping[str, Any], permissions: ToolPermissions) -> Decision:
    cwd, context = payload.get("cwd"), permissions.context
    if isinstance(cwd, str) and cwd:
        permissions = replace(permissions, context=replace(context, cwd=cwd))
    return decide(str(payload.get("tool_name", "")), _tool_input(payload), permissions)


def decision_json(decision: Decision, payload: Mapping[str, Any]) -> dict[str, Any]:
    match decision:
        case Deny(reason=reason, suggestion=suggestion):
            why = "; ".join(filter(None, (reason, suggestion)))
            return _permission("deny", permissionDecisionReason=why)
        case Rewrite(command=command):
            return _permission("allow", updatedInput=with_command(_tool_input(payload), command))
        case Allow():
            return {}


def _permission(decision: str, **more: Any) -> dict[str, Any]:
    said = {"hookEventName": "PreToolUse", "permissionDecision": decision, **more}
    return {"hookSpecificOutput": said}


def _tool_input(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    match payload.get("tool_input"):
        case dict(given):
            return given
        case str(text):
            # A tool that takes nothing but a text, such as a patch.
            return {"input": text}
        case _:
            return {}


def _before_tool(
    payload: Mapping[str, Any], caller: CallingSession, permissions: ToolPermissions
) -> HookAnswer:
    decision = decide_tool_use(payload, permissions)
    kind, reason = _recorded(decision)
    if not kind:
        return {}, None
    judged = ToolJudged(
        task_id=caller.claim.task.id,
        session_id=caller.session.id,
        tool=one_line(str(payload.get("tool_name", "")), 60),
        decision=kind,
        command=one_line(command_of(_tool_input(payload)), 300),
        reason=one_line(reason, 300),
    )
    return decision_json(decision, payload), judged


def _recorded(decision: Decision) -> tuple[str, str]:
    """The kind of a decision that is recorded, and the reason; both empty for others."""
    match decision:
        case Deny(reason=reason):
            return "denied", reason
        case Rewrite(command=command):
            return "rewritten", command
        case Allow(doubts=doubts):
            return ("doubtful", doubts[0]) if doubts else ("", "")


def _after_tool(payload: Mapping[str, Any], caller: CallingSession) -> dict[str, Any]:
    """Count what the session has read, and remember what failed."""
    uses = _session(caller).tools.with_result(_tokens_of(payload), _error_of(payload))
    caller.store.sessions.save_tool_usage(caller.session.id, uses, caller.claim)
    return {}


def _tokens_of(payload: Mapping[str, Any]) -> int:
    if payload.get("agent_id"):
        return 0  # a sub-agent has one of its own
    said = (*(payload.get(name) for name in ANSWERS), payload.get("error"))
    return estimate_tokens("".join(text for one in said for text in _texts(one)))


def _error_of(payload: Mapping[str, Any]) -> str:
    """What went wrong, in a line; empty if only the session's output may say so."""
    error = payload.get("error")
    if not error:
        return ""
    text = "".join(_texts(error)).strip() or "it failed"
    return one_line(f"{payload.get('tool_name', '')}: {text}", ERROR_CHARS)


def _texts(value: object, depth: int = 0) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping() if PATCH in value:
            pass
        case Mapping() if depth < DEEPEST:
            for key, one in value.items():
                if key not in PICTURES:
                    yield from _texts(one, depth + 1)
        case list() if depth < DEEPEST:
            for one in value:
                yield from _texts(one, depth + 1)
        case _:
            pass


def _start(payload: Mapping[str, Any], caller: CallingSession) -> dict[str, Any]:
    """Remind a session of its task when it goes on with a summary of its context."""
    if payload.get("source") not in ("compact", "clear", "resume"):
        return {}
    usage = _session(caller).tools.after_context_summary()
    caller.store.sessions.save_tool_usage(caller.session.id, usage, caller.claim)
    name, title = caller.task.name, one_line(caller.task.title, 200)
    reminder = (
        f"Your task is still {name}: {title}. `ralph task show {name}` tells all of it. When it is"
        " done, or cannot be done, end with the tag for that."
    )
    said = {"hookEventName": "SessionStart", "additionalContext": reminder}
    return {"hookSpecificOutput": said}


def _stop(payload: Mapping[str, Any], caller: CallingSession) -> dict[str, Any]:
    """Remind a session, once, that ends without a claim about its task."""
    tags = read_message_tags(str(payload.get("last_assistant_message") or ""))
    has_spoken = tags.task_done or tags.task_failed or tags.promise
    if payload.get("stop_hook_active") or has_spoken or _session(caller).socket_claim:
        return {}
    name = caller.claim.task.name
    return {
        "decision": "block",
        "reason": f"You have not reported the state of task {name}. If it is done, or cannot be"
        " done, end with the tag for that, as the rules at the beginning say. If not, go on with"
        " it.",
    }


def _session(caller: CallingSession) -> Session:
    kept = caller.store.sessions.get(caller.claim.task.id, caller.claim.attempt)
    return kept if kept is not None else caller.session
