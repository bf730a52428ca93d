"""The newest actions of an agent, and agent events in a few words."""

from collections import deque
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

import msgspec

from ralph.core import agent_events as agent
from ralph.core.safe_text import one_line
from ralph.core.times import format_duration
from ralph.ui.formatting import count_text, dollars, format_time

KEPT_CHARS: Final = 2000
KEPT_ACTIONS: Final = 24
CALL_CHARS: Final = 100
ALIKE: Final = 3
"""An error that comes again within so many actions is the same one, reported twice."""
LONGEST_DELAY_S: Final = 1e6
"""Longer delays are not shown: an agent's numbers are data and may be nonsense."""


class ActivityKind(StrEnum):
    THINKING = "thinking"
    TEXT = "text"
    TOOL = "tool"
    ERROR = "error"
    PROBLEM = "problem"
    DENIED = "denied"
    NOTE = "note"
    RETRY = "retry"


class AgentAction(msgspec.Struct, kw_only=True):
    """One action or message of the agent. The text is bounded, and not yet safe to display."""

    kind: ActivityKind
    text: str
    tool: str = ""
    call: str = ""
    """Set while the tool runs."""
    since: float | None = None
    is_partial: bool = False


class Activity:
    """The last few actions of a session."""

    def __init__(self, model: str = "", started: float | None = None) -> None:
        self.actions: deque[AgentAction] = deque(maxlen=KEPT_ACTIONS)
        self.model = model
        self.last_output_at = started

    def end(self) -> None:
        """Mark every tool call as ended: the session has ended."""
        for action in self.actions:
            action.call = ""

    @property
    def is_in_tool(self) -> bool:
        return any(action.call for action in self.actions)

    def add(self, event: agent.AgentEvent, now: float | None = None) -> None:
        self.last_output_at = now
        if isinstance(event, agent.ToolResult):
            for action in self.actions:
                if action.call == event.call[:CALL_CHARS]:
                    action.call = ""
        elif isinstance(event, agent.AgentStarted):
            self.model = one_line(event.model, 60) or self.model
        elif isinstance(event, agent.AgentRetry):
            # The agent repeats what it had begun to say.
            self._forget_pieces(ActivityKind.TEXT, ActivityKind.THINKING)
        if new := action_of(event, now):
            self._keep(new)

    def _keep(self, new: AgentAction) -> None:
        last = self.actions[-1] if self.actions else new
        is_next = last is not new and last.kind is new.kind
        match new.kind:
            case ActivityKind.TEXT | ActivityKind.THINKING:
                new.text = new.text[-KEPT_CHARS:]
                if new.is_partial and is_next and last.is_partial:
                    new.text = (last.text + new.text)[-KEPT_CHARS:]
                    self.actions.pop()
                elif not new.is_partial:
                    # The whole message follows its pieces.
                    self._forget_pieces(new.kind)
            case ActivityKind.ERROR | ActivityKind.PROBLEM:
                new.text = shorten_middle(new.text.strip())
                if new.text in [one.text for one in list(self.actions)[-ALIKE:]]:
                    return
            case ActivityKind.RETRY if is_next:
                self.actions.pop()
            case _:
                pass
        if new.text or new.tool:
            self.actions.append(new)

    def _forget_pieces(self, *kinds: ActivityKind) -> None:
        kept = [one for one in self.actions if not one.is_partial or one.kind not in kinds]
        self.actions = deque(kept, maxlen=KEPT_ACTIONS)


def action_of(event: agent.AgentEvent, now: float | None = None) -> AgentAction | None:
    """The action or message that an event reports, if it reports one."""
    match event:
        case agent.Text(text=text, partial=partial):
            return AgentAction(kind=ActivityKind.TEXT, text=text, is_partial=partial)
        case agent.Thinking(text=text, partial=partial):
            return AgentAction(kind=ActivityKind.THINKING, text=text, is_partial=partial)
        case agent.ToolUse(name=name, summary=summary, call=call):
            return AgentAction(
                kind=ActivityKind.TOOL,
                text=summary[:KEPT_CHARS],
                tool=one_line(name, 40),
                call=call[:CALL_CHARS],
                since=now,
            )
        case agent.ToolResult(error=True, text=text):
            return AgentAction(kind=ActivityKind.ERROR, text=text)
        case agent.SessionResultEvent(error=True, text=text, detail=detail):
            return AgentAction(kind=ActivityKind.ERROR, text=detail or text)
        case agent.ToolDenied(name=name, summary=summary):
            words = f"{one_line(name, 40)}  {one_line(summary)}".rstrip()
            return AgentAction(kind=ActivityKind.DENIED, text=words)
        case agent.AgentProblem(message=message, failure=failure):
            words = failure.replace("_", " ") if failure else "something failed"
            text = message if message.strip() else words
            return AgentAction(kind=ActivityKind.PROBLEM, text=text)
        case agent.AgentRetry():
            return AgentAction(kind=ActivityKind.RETRY, text=retry_text(event))
        case agent.UsageLimit(status=status) if status is not agent.LimitStatus.ALLOWED:
            return AgentAction(kind=ActivityKind.NOTE, text=limit_text(event, now))
        case _:
            return None


def shorten_middle(text: str) -> str:
    """The beginning and the end of a text that is too long: both say what went wrong."""
    half = KEPT_CHARS // 2
    return text if len(text) <= KEPT_CHARS else f"{text[: half - 2]}\n…\n{text[1 - half :]}"


def limit_text(limit: agent.UsageLimit, now: float | None = None) -> str:
    """`95% of the five hour allowance is used; it resets at 14:05`"""
    window = one_line(limit.window.replace("_", " "), 40)
    allowance = f"the {window} allowance" if window else "the allowance"
    if limit.status is agent.LimitStatus.REJECTED:
        words = f"{allowance} is used up"
    elif limit.used is not None and 0 <= limit.used <= 10:
        words = f"{limit.used:.0%} of {allowance} is used"
    else:
        words = f"{allowance} is nearly used up"
    resets = format_time(limit.resets_at, now)
    return f"{words}; it resets at {resets}" if resets else words


def retry_text(retry: agent.AgentRetry) -> str:
    """`tries again (try 2, in 4.0s): overloaded`"""
    facts = [f"try {retry.attempt}"] if retry.attempt > 0 else []
    if retry.delay_s is not None and 0 < retry.delay_s < LONGEST_DELAY_S:
        facts.append(f"in {format_duration(retry.delay_s)}")
    how = f" ({', '.join(facts)})" if facts else ""
    why = one_line(retry.message)
    return f"tries again{how}: {why}" if why else f"tries again{how}"


def result_facts(result: agent.SessionResultEvent) -> Iterator[str]:
    """Turns, time, cost and tokens, as far as the session reports them."""
    if result.turns is not None:
        yield count_text(result.turns, "turn")
    if result.duration_s is not None and 0 <= result.duration_s < LONGEST_DELAY_S:
        yield format_duration(result.duration_s)
    if result.cost_usd is not None:
        yield dollars(result.cost_usd)
    usage = result.usage
    if usage is not None and (usage.input_tokens or usage.output_tokens):
        cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
        yield f"{usage.input_tokens:,} tokens in{cached}, {usage.output_tokens:,} out"
