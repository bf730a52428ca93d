"""What the loop answers when an agent's own program asks, in the words of Claude Code's hooks."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from ralph.core.errors import UsageError
from ralph.core.events import Event, ToolJudged
from ralph.core.policy.deciding import decide
from ralph.core.policy.decision import Allow, Decision, Deny, Rewrite
from ralph.core.policy.inputs import command_of, with_command
from ralph.core.policy.leash import Leash
from ralph.core.safe_text import one_line
from ralph.core.sigils import read_sigils
from ralph.inside.tool_results import error_of, tokens_of
from ralph.inside.tools import Caller
from ralph.ports.history import Session

NAMES: Final = ("pre-tool-use", "post-tool-use", "stop", "session-start")
Answered = tuple[dict[str, Any], Event | None]
"""What the program gets, and what is worth telling."""


def answer(name: str, payload: Mapping[str, Any], caller: Caller, leash: Leash) -> Answered:
    """An empty answer: go on as you were."""
    if not leash.speaks and name != "pre-tool-use":
        return {}, None
    match name:
        case "pre-tool-use":
            return _before(payload, caller, leash)
        case "post-tool-use":
            return _after(payload, caller), None
        case "stop":
            return _stop(payload, caller), None
        case "session-start":
            return _start(payload, caller), None
        case _:
            raise UsageError(f"there is no hook {one_line(name, 40)}", hint=", ".join(NAMES))


def decided(payload: Mapping[str, Any], leash: Leash) -> Decision:
    """What the policy says about the tool that a session wants to use."""
    cwd = payload.get("cwd")
    ground = replace(leash.ground, cwd=cwd) if isinstance(cwd, str) and cwd else leash.ground
    return decide(
        str(payload.get("tool_name", "")),
        _given(payload),
        phase=leash.phase,
        policy=leash.policy,
        ground=ground,
        toolbox=leash.toolbox,
    )


def in_words(decision: Decision, payload: Mapping[str, Any]) -> dict[str, Any]:
    """A decision as the agent's program understands it."""
    match decision:
        case Deny(reason=reason, suggestion=suggestion):
            told = "; ".join(filter(None, (reason, suggestion)))
            return _permission("deny", permissionDecisionReason=told)
        case Rewrite(command=command):
            return _permission("allow", updatedInput=with_command(_given(payload), command))
        case Allow():
            return {}


def _given(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    match payload.get("tool_input"):
        case dict(given):
            return given
        case str(text):
            # A tool that takes nothing but a text, such as a patch.
            return {"input": text}
        case _:
            return {}


def _before(payload: Mapping[str, Any], caller: Caller, leash: Leash) -> Answered:
    decision = decided(payload, leash)
    said = in_words(decision, payload)
    judged = ToolJudged(
        task_id=caller.claim.task.id,
        session_id=caller.session.id,
        tool=one_line(str(payload.get("tool_name", "")), 60),
        decision="doubtful",
        command=one_line(command_of(_given(payload)), 300),
    )
    match decision:
        case Deny(reason=reason):
            return said, replace(judged, decision="denied", reason=one_line(reason, 300))
        case Rewrite(command=command):
            return said, replace(judged, decision="rewritten", reason=one_line(command, 300))
        case Allow(doubts=(first, *_)):
            return said, replace(judged, reason=one_line(first, 300))
        case Allow():
            return said, None


def _permission(decision: str, **more: Any) -> dict[str, Any]:
    said = {"hookEventName": "PreToolUse", "permissionDecision": decision, **more}
    return {"hookSpecificOutput": said}


def _after(payload: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
    """Count what the session has been told, and remember what failed."""
    uses = _session(caller).tools.after(tokens_of(payload), error_of(payload))
    caller.store.note_tools(caller.session.id, uses)
    return {}


def _start(payload: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
    """A session that begins has been told everything. One that goes on with a summary of what it
    was told may have lost what counts."""
    if payload.get("source") not in ("compact", "clear", "resume"):
        return {}
    caller.store.note_tools(caller.session.id, _session(caller).tools.condensed())
    name, title = caller.task.name, one_line(caller.task.title, 200)
    reminder = (
        f"Your task is still {name}: {title}. `ralph task show {name}` tells all of it. When it is"
        " done, or cannot be done, end with the tag for that."
    )
    said = {"hookEventName": "SessionStart", "additionalContext": reminder}
    return {"hookSpecificOutput": said}


def _session(caller: Caller) -> Session:
    """As it is now."""
    kept = caller.store.session(caller.claim.task.id, caller.claim.attempt)
    return kept if kept is not None else caller.session


def _stop(payload: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
    """Remind a session, once, that wants to end without a word about its task."""
    sigils = read_sigils(str(payload.get("last_assistant_message") or ""))
    has_spoken = sigils.task_done or sigils.task_failed or sigils.promise
    if payload.get("stop_hook_active") or has_spoken or _session(caller).told:
        return {}
    name = caller.claim.task.name
    return {
        "decision": "block",
        "reason": f"You have not said how task {name} stands. If it is done, or cannot be done, end"
        " with the tag for that, as the rules at the beginning say. If not, go on with it.",
    }
