"""How a session ended: what is remembered of its stream, and what follows from it."""

from enum import StrEnum
from typing import Final

import msgspec

from ralph.core.agent_events import (
    AgentEvent,
    Denied,
    Limit,
    LimitStatus,
    Request,
    Result,
    Retry,
    Started,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Trouble,
    Unknown,
    Usage,
)
from ralph.core.ended import COSTS, Cost, Ended
from ralph.core.safe_text import one_line
from ralph.core.sigils import condensed

FINAL_MESSAGE_BYTES: Final = 64 * 1024
"""Of a message that is longer, its end is kept, and all that it says to Ralph."""
CHARS_PER_TOKEN: Final = 4
MOST_TOLD: Final = 40_000
"""Characters of a tool's answer that a model gets to read, about: agents cut out the middle of what
is longer, and say it to us in full."""
MOST_SAID: Final = 500_000
"""Characters that a model can say at once, about: a message that is longer did not cost more."""
MOST_OPEN_CALLS: Final = 1000
MOST_DENIALS: Final = 20
ERROR_CHARS: Final = 200
KILLED_CODES: Final = frozenset({129, 130, 137, 143})
"""What a shell makes of a child that a signal ended."""


class Stop(StrEnum):
    """Why Ralph itself stopped a process."""

    HARD = "hard"
    IDLE = "idle"
    AFTER_RESULT = "after_result"
    BUDGET = "budget"
    HAND_OFF = "hand_off"
    """Its context is nearly full, or a person wants it: a fresh session goes on."""
    OVER_LIMIT = "over_limit"
    """It used more of the machine than it may."""
    INTERRUPTED = "interrupted"
    """A signal, `ralph stop --now`, `ralph skip`, or a claim that was lost."""


class Exit(msgspec.Struct, frozen=True, kw_only=True):
    """How a process went away. The exit code is evidence, never the verdict."""

    code: int | None = None
    """None when it could not be started at all."""
    stop: Stop | None = None
    ended_at: float = 0.0
    """When, in seconds since the epoch: some agents tell a time of day and mean the next one."""
    duration_s: float = 0.0
    stderr: str = ""
    """Its last 16 KiB."""
    swept: int = 0
    """Descendants that had to be ended after it."""
    error: str = ""
    """Why it could not be started."""
    limit: str = ""
    """Which limit it was over, in words."""


class Digest(msgspec.Struct, kw_only=True):
    """What is remembered of a stream of agent events: bounded, whatever the stream's size."""

    model: str = ""
    result: Result | None = None
    limit: Limit | None = None
    """The provider's last word about the allowance."""
    trouble: Trouble | None = None
    """The last thing that failed around the agent, if it has not got over it."""
    usage: Usage | None = None
    used: Usage = Usage()
    """What its requests have used so far, where it reports them while it works."""
    context: int = 0
    """Tokens in its context after the last of them."""
    opened: int = 0
    """Tokens in its context with the first of them."""
    size: int = 0
    """Characters that it has said, thought and been told by its tools."""
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

    def take(self, event: AgentEvent) -> None:  # noqa: C901 - one table
        """Fold one event in."""
        match event:
            case Text(partial=True) | Thinking(partial=True):
                pass  # first, since there are so many of them
            case Thinking(text=text):
                self.size += len(text)
            case Started(model=model):
                self.model = model or self.model
            case Text(text=text):
                self.size += min(len(text), MOST_SAID)
                self.tail = (self.tail + text[-FINAL_MESSAGE_BYTES:])[-FINAL_MESSAGE_BYTES:]
                self.trouble = None
                if self.result is None:
                    self.said = condensed(text, FINAL_MESSAGE_BYTES)
            case ToolUse(call=call):
                self.tool_uses += 1
                self.trouble = None
                if self.result is None:
                    self.said = ""
                # A call without a name cannot be closed again, and an agent that never reports
                # results must not fill the memory.
                if call and len(self.open_calls) < MOST_OPEN_CALLS:
                    self.open_calls.add(call)
            case ToolResult(call=call, text=text, cut=cut, error=error):
                told = min(len(text) + cut, MOST_TOLD)
                self.size += told
                self.from_tools += told
                self.tool_errors += error
                self.tool_error = one_line(text, ERROR_CHARS) or "it failed" if error else ""
                self.open_calls.discard(call)
            case Denied(name=name):
                if len(self.denied) < MOST_DENIALS:
                    self.denied.append(name)
            case Usage():
                self.usage = event
            case Request():
                self._request(event)
            case Limit():
                self.limit = event
            case Trouble():
                self.trouble = event
            case Result():
                short = condensed(event.text, FINAL_MESSAGE_BYTES)
                self.result = _together(self.result, msgspec.structs.replace(event, text=short))
            case Retry() | Unknown():
                pass

    def _request(self, event: Request) -> None:
        self.used = Usage(
            input_tokens=self.used.input_tokens + event.input_tokens,
            cached_tokens=self.used.cached_tokens + event.cached_tokens,
            output_tokens=self.used.output_tokens + event.output_tokens,
        )
        if event.is_main:
            self.opened = self.opened or event.input_tokens
            # What it writes is read again with the next request.
            self.context = (event.input_tokens or self.context) + event.output_tokens

    @property
    def tokens(self) -> int:
        """All that it has used so far: as reported, else guessed from what went to and fro."""
        return self.used.input_tokens + self.used.output_tokens or self.size // CHARS_PER_TOKEN


def _together(first: Result | None, later: Result) -> Result:
    """What a session says in the end, where it says so more than once.

    One that left work in the background ends its turn, is told how that went, and speaks again:
    what it claims may be in either word. An error is never made good by what follows, and what
    follows a success is not its error.
    """
    if first is None:
        return later
    if first.error or later.error or first.text == later.text:
        return first
    both = f"{first.text}\n\n{later.text}"
    turns = (first.turns or 0) + (later.turns or 0) or None
    return msgspec.structs.replace(later, text=condensed(both, FINAL_MESSAGE_BYTES), turns=turns)


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """The classified end of a session."""

    ended: Ended
    message: str = ""
    """The final message: the only text in which a claim counts."""
    detail: str = ""
    """One line for people."""
    resets_at: float | None = None
    model: str = ""
    """What it says that it ran on."""
    cost_usd: float | None = None
    estimated: bool = False
    """The cost is worked out from a price table."""
    input_tokens: int | None = None
    """All that was read, from a cache or not."""
    cached_tokens: int | None = None
    output_tokens: int | None = None
    turns: int | None = None
    denied: tuple[str, ...] = ()
    """Tools that it was not permitted to use."""
    context_tokens: int | None = None
    """What was in its context at the end, as far as that can be told."""
    tool_tokens: int | None = None
    """What of it came from its tools."""

    @property
    def cost(self) -> Cost:
        """What it does to the task and the run."""
        return COSTS[self.ended]


def conclude(digest: Digest, exit_: Exit, heard: Ended | None = None) -> Ending:
    """How a session ended that reports in events. `heard`: why it did not even begin, by what its
    stderr says; once it has begun, anybody may have written there.

    First what we did to it, then what it said, then how it went away.
    """
    ended, detail = _ended(digest, exit_, heard)
    result = digest.result
    # A session that was cut short never summed up.
    usage = (result.usage if result else None) or digest.usage or _so_far(digest)
    return Ending(
        ended=ended,
        message=result.text if result and ended is Ended.FINISHED else "",
        detail=detail,
        resets_at=_resets_at(digest) if COSTS[ended] is Cost.WAIT else None,
        model=(result.model if result else "") or digest.model,
        cost_usd=result.cost_usd if result else None,
        input_tokens=usage.input_tokens if usage else None,
        cached_tokens=usage.cached_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        turns=result.turns if result else None,
        denied=tuple(digest.denied),
    )


def _so_far(digest: Digest) -> Usage | None:
    return digest.used if digest.used.input_tokens + digest.used.output_tokens else None


def _ended(digest: Digest, exit_: Exit, heard: Ended | None) -> tuple[Ended, str]:
    result, limit, trouble = digest.result, digest.limit, digest.trouble
    if stopped := stopped_by_us(exit_):
        return stopped, exit_.limit or f"stopped: {stopped}"
    if exit_.code is None:
        return Ended.NOT_INSTALLED, exit_.error
    if result is not None and not result.error:
        return Ended.FINISHED, result.detail
    if limit is not None and limit.status is LimitStatus.REJECTED:
        said = (result.detail if result else "") or (trouble.message if trouble else "")
        return Ended.USAGE_LIMIT, said or "the usage limit is reached"
    if result is not None:
        kind = result.failure or (trouble.failure if trouble else None)
        return kind or Ended.AGENT_ERROR, result.detail or (trouble.message if trouble else "")
    if trouble is not None:
        return trouble.failure or Ended.AGENT_ERROR, trouble.message
    said = last_line(exit_.stderr)
    has_begun = bool(digest.tail or digest.tool_uses)
    if heard is not None and not has_begun:
        return heard, said
    if exit_.code < 0 or exit_.code in KILLED_CODES:
        signal = -exit_.code if exit_.code < 0 else exit_.code - 128
        return Ended.KILLED, f"killed by signal {signal}"
    if exit_.code in (126, 127) and not has_begun:
        return Ended.NOT_INSTALLED, said or "command not found"
    return Ended.NO_RESULT, ": ".join(filter(None, (f"no result, exit code {exit_.code}", said)))


def _resets_at(digest: Digest) -> float | None:
    if digest.limit is not None and digest.limit.resets_at is not None:
        return digest.limit.resets_at
    if digest.result is not None and digest.result.resets_at is not None:
        return digest.result.resets_at
    return digest.trouble.resets_at if digest.trouble is not None else None


def last_line(text: str) -> str:
    """What a program said last, for people."""
    lines = text.strip().splitlines()
    return lines[-1][:200] if lines else ""


def stopped_by_us(exit_: Exit) -> Ended | None:
    """The ending that follows from our own stopping of the process, whatever the agent said.

    After its result a session may be ended and still counts, so that is not in here.
    """
    match exit_.stop:
        case Stop.HARD:
            return Ended.TIMED_OUT
        case Stop.IDLE:
            return Ended.IDLE
        case Stop.BUDGET:
            return Ended.BUDGET_LIMIT
        case Stop.OVER_LIMIT:
            return Ended.OVER_LIMIT
        case Stop.HAND_OFF:
            return Ended.HANDED_OVER
        case Stop.INTERRUPTED:
            return Ended.INTERRUPTED
        case Stop.AFTER_RESULT | None:
            return None
