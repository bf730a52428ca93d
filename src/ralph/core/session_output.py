"""A summary of what a session prints: how it ended, and how full its context window is."""

from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.core import agent_events as agent
from ralph.core.message_tags import shorten_message
from ralph.core.process_exit import ProcessExit, signal_of_exit_code
from ralph.core.safe_text import one_line
from ralph.core.session_ending import CONSEQUENCES, Consequence, EndingKind, SessionEnding

FINAL_MESSAGE_BYTES: Final = 64 * 1024
"""Of a message that is longer, its end is kept, and all that it says to Ralph."""
CHARS_PER_TOKEN: Final = 4
MAX_TOOL_OUTPUT_CHARS: Final = 40_000
"""Characters of a tool's answer that a model gets to read, about: agents cut out the middle of what
is longer, and say it to us in full."""
MAX_MESSAGE_CHARS: Final = 500_000
"""Characters that a model can say at once, about: a message that is longer did not cost more."""
MOST_OPEN_CALLS: Final = 1000
MOST_DENIALS: Final = 20
ERROR_CHARS: Final = 200


class StreamSummary(msgspec.Struct, kw_only=True):
    """A bounded summary of a session's output events."""

    model: str = ""
    result: agent.SessionResultEvent | None = None
    limit: agent.UsageLimit | None = None
    """The provider's last word about the allowance."""
    trouble: agent.AgentProblem | None = None
    """The last thing that failed around the agent, if it has not got over it."""
    usage: agent.TokenUsage | None = None
    used: agent.TokenUsage = agent.TokenUsage()
    """What its requests have used so far, where it reports them while it works."""
    cost_usd: float | None = None
    """What these requests have cost, where it reports that."""
    context: int = 0
    """Tokens in its context after the last of them."""
    opened: int = 0
    """Tokens in its context with the first of them."""
    size: int = 0
    """Characters that it has said, thought and read from its tools."""
    from_tools: int = 0
    """What of it came from its tools."""
    tail: str = ""
    """The last 64 KiB of text."""
    said: str = ""
    """What was said last, if nothing was done after it: the final message of an agent whose result
    does not repeat it."""
    open_calls: set[str] = msgspec.field(default_factory=set)
    tool_uses: int = 0
    tool_errors: int = 0
    tool_error: str = ""
    """How the last tool failed, if it did."""
    denied: list[str] = msgspec.field(default_factory=list)

    def add(self, event: agent.AgentEvent) -> None:  # noqa: C901 - one table
        match event:
            case agent.Text(partial=True) | agent.Thinking(partial=True):
                pass  # first, since there are so many of them
            case agent.Thinking(text=text):
                self.size += len(text)
            case agent.AgentStarted(model=model):
                self.model = model or self.model
            case agent.Text(text=text):
                self.size += min(len(text), MAX_MESSAGE_CHARS)
                self.tail = (self.tail + text[-FINAL_MESSAGE_BYTES:])[-FINAL_MESSAGE_BYTES:]
                self.trouble = None
                if self.result is None:
                    self.said = shorten_message(text, FINAL_MESSAGE_BYTES)
            case agent.ToolUse(call=call):
                self.tool_uses += 1
                self.trouble = None
                if self.result is None:
                    self.said = ""
                # A call without a name cannot be closed again, and an agent that never reports
                # results must not fill the memory.
                if call and len(self.open_calls) < MOST_OPEN_CALLS:
                    self.open_calls.add(call)
            case agent.ToolResult(call=call, text=text, cut=cut, error=error):
                read = min(len(text) + cut, MAX_TOOL_OUTPUT_CHARS)
                self.size += read
                self.from_tools += read
                self.tool_errors += error
                self.tool_error = one_line(text, ERROR_CHARS) or "it failed" if error else ""
                self.open_calls.discard(call)
            case agent.ToolDenied(name=name):
                if len(self.denied) < MOST_DENIALS:
                    self.denied.append(name)
            case agent.TokenUsage():
                self.usage = event
            case agent.ModelRequest():
                self._request(event)
            case agent.UsageLimit():
                self.limit = event
            case agent.AgentProblem():
                self.trouble = event
            case agent.SessionResultEvent():
                short = shorten_message(event.text, FINAL_MESSAGE_BYTES)
                self.result = _together(self.result, msgspec.structs.replace(event, text=short))
            case agent.AgentRetry() | agent.UnknownLine():
                pass

    def _request(self, event: agent.ModelRequest) -> None:
        self.used = agent.sum_of_usage((self.used, event))
        if event.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + event.cost_usd
        if event.is_main:
            self.opened = self.opened or event.input_tokens
            # What it writes is read again with the next request.
            self.context = (event.input_tokens or self.context) + event.output_tokens

    @property
    def tokens(self) -> int:
        """All that it has used so far: as reported, else guessed from what went to and fro."""
        return self.used.input_tokens + self.used.output_tokens or self.size // CHARS_PER_TOKEN


def _together(
    first: agent.SessionResultEvent | None, later: agent.SessionResultEvent
) -> agent.SessionResultEvent:
    """What a session says in the end, where it says so more than once.

    One that left work in the background ends its turn, is shown how that went, and speaks again:
    what it claims may be in either word. An error is never made good by what follows, and what
    follows a success is not its error.
    """
    if first is None:
        return later
    if first.error or later.error or first.text == later.text:
        return first
    both = f"{first.text}\n\n{later.text}"
    turns = (first.turns or 0) + (later.turns or 0) or None
    return msgspec.structs.replace(
        later, text=shorten_message(both, FINAL_MESSAGE_BYTES), turns=turns
    )


def classify_ending(
    digest: StreamSummary, exit_: ProcessExit, in_stderr: EndingKind | None = None
) -> SessionEnding:
    """Classify the ending of a session that reports events. `in_stderr` is the failure that
    its stderr names; it counts only if the session never started.

    First what we did to it, then what it said, then how it went away.
    """
    ended, detail = _ended(digest, exit_, in_stderr)
    result = digest.result
    # A session that was cut short never summed up.
    so_far = digest.used if digest.used.input_tokens + digest.used.output_tokens else None
    usage = (result.usage if result else None) or digest.usage or so_far
    return SessionEnding(
        ended=ended,
        message=result.text if result and ended is EndingKind.FINISHED else "",
        detail=detail,
        resets_at=_resets_at(digest) if CONSEQUENCES[ended] is Consequence.WAIT else None,
        model=(result.model if result else "") or digest.model,
        cost_usd=digest.cost_usd if result is None or result.cost_usd is None else result.cost_usd,
        input_tokens=usage.input_tokens if usage else None,
        cached_tokens=usage.cached_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        turns=result.turns if result else None,
        denied=tuple(digest.denied),
    )


def _ended(
    digest: StreamSummary, exit_: ProcessExit, in_stderr: EndingKind | None
) -> tuple[EndingKind, str]:
    result, limit, trouble = digest.result, digest.limit, digest.trouble
    if exit_.stop not in (None, EndingKind.FINISHED):
        return exit_.stop, exit_.limit or f"stopped: {exit_.stop}"
    if exit_.code is None:
        return EndingKind.NOT_INSTALLED, exit_.error
    if result is not None and not result.error:
        return EndingKind.FINISHED, result.detail
    if limit is not None and limit.status is agent.LimitStatus.REJECTED:
        said = (result.detail if result else "") or (trouble.message if trouble else "")
        return EndingKind.USAGE_LIMIT, said or "the usage limit is reached"
    if result is not None:
        kind = result.failure or (trouble.failure if trouble else None)
        return kind or EndingKind.AGENT_ERROR, result.detail or (trouble.message if trouble else "")
    if trouble is not None:
        return trouble.failure or EndingKind.AGENT_ERROR, trouble.message
    said = last_line(exit_.stderr)
    has_begun = bool(digest.tail or digest.tool_uses)
    if in_stderr is not None and not has_begun:
        return in_stderr, said
    if signal := signal_of_exit_code(exit_.code, lowest=129):
        return EndingKind.KILLED, f"killed by signal {signal}"
    if exit_.code in (126, 127) and not has_begun:
        return EndingKind.NOT_INSTALLED, said or "command not found"
    return EndingKind.NO_RESULT, ": ".join(
        filter(None, (f"no result, exit code {exit_.code}", said))
    )


def _resets_at(digest: StreamSummary) -> float | None:
    if digest.limit is not None and digest.limit.resets_at is not None:
        return digest.limit.resets_at
    if digest.result is not None and digest.result.resets_at is not None:
        return digest.result.resets_at
    return digest.trouble.resets_at if digest.trouble is not None else None


def last_line(text: str) -> str:
    """What a program said last, for people."""
    lines = text.strip().splitlines()
    return lines[-1][:200] if lines else ""


# The context window


class ToolUsage(msgspec.Struct, frozen=True, kw_only=True):
    """The tool usage of one session, as its hooks report it."""

    tokens: int = 0
    """Of the results that are in its context, estimated."""
    errors: int = 0
    """How many uses have failed."""
    last_error: str = ""
    """Of the last use, if that failed."""

    def with_result(self, tokens: int, error: str) -> "ToolUsage":
        return ToolUsage(
            tokens=self.tokens + tokens, errors=self.errors + bool(error), last_error=error
        )

    def with_stream_errors(self, errors: int, last_error: str) -> "ToolUsage":
        """With what its stream tells: not every agent's hooks hear of tools that fail."""
        return ToolUsage(
            tokens=self.tokens,
            errors=max(self.errors, errors),
            last_error=self.last_error or last_error,
        )

    def after_context_summary(self) -> "ToolUsage":
        """The agent has made a summary of its context: the results are not in it any more."""
        return replace(self, tokens=0)


OVERHEAD: Final = 5000
"""Tokens that an agent's own instructions take, where the number is not reported."""
MARGIN: Final = 0.2
"""The share that no session should reach: agents cut their context down by themselves there."""
MOST: Final = 10
"""Hand-offs of one attempt that follow from its context; a person may ask for more."""


class ContextUsage(msgspec.Struct, frozen=True, kw_only=True):
    """How many tokens a context window holds."""

    used: int = 0
    opened: int = 0
    """What was in it before the session did anything: its brief, its tools, its instructions."""
    from_tools: int = 0
    """What tools have answered."""
    capacity: int = 0

    @property
    def share(self) -> float:
        """From 0 to 1, or more where the capacity is not what was thought."""
        return self.used / self.capacity if self.capacity else 0.0


def context_usage(digest: StreamSummary, brief_tokens: int, capacity: int) -> ContextUsage:
    """The usage by the agent's requests, or estimated from the text that was exchanged."""
    opened = digest.opened or brief_tokens + OVERHEAD
    return ContextUsage(
        used=digest.context or opened + digest.size // CHARS_PER_TOKEN,
        opened=opened,
        from_tools=digest.from_tools // CHARS_PER_TOKEN,
        capacity=capacity,
    )


def is_handoff_due(now: ContextUsage, handoff_at: float) -> bool:
    """Decide whether to hand off now. A session that started nearly full gets some room first;
    otherwise the next one would start as full and hand off at once."""
    if not (handoff_at and now.capacity) or now.opened >= now.capacity:
        return False
    sure = now.opened + (now.capacity - now.opened) * handoff_at / 2
    return now.used >= max(now.capacity * handoff_at, sure)


def is_context_full(now: ContextUsage) -> bool:
    """Decide whether there is no room left to wrap up."""
    return 0 < now.capacity * (1 - MARGIN) <= now.used
