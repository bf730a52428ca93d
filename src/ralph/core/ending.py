"""How a session ended, as one closed set, and what each ending costs."""

from enum import StrEnum
from typing import Final

import msgspec

from ralph.core.agent_events import AgentEvent, Limit, Result, Text, ToolResult, ToolUse

FINAL_MESSAGE_BYTES: Final = 64 * 1024
MOST_OPEN_CALLS: Final = 1000


class Ended(StrEnum):
    """The ways in which a session can end."""

    FINISHED = "finished"
    AGENT_ERROR = "agent_error"
    REFUSED = "refused"
    PROMPT_TOO_LONG = "prompt_too_long"
    NO_RESULT = "no_result"
    KILLED = "killed"
    TIMED_OUT = "timed_out"
    IDLE = "idle"
    TURN_LIMIT = "turn_limit"
    BUDGET_LIMIT = "budget_limit"
    USAGE_LIMIT = "usage_limit"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    AUTH_EXPIRED = "auth_expired"
    BILLING = "billing"
    NOT_INSTALLED = "not_installed"
    CANNOT_RUN_AS_ROOT = "cannot_run_as_root"
    INTERRUPTED = "interrupted"
    LOST = "lost"
    """Ralph itself died while the session ran."""


class Cost(StrEnum):
    """What an ending does to the task and the run (design: one table, here)."""

    JUDGE = "judge"
    STRIKE = "strike"
    WAIT = "wait"
    BACK_OFF = "back_off"
    PAUSE = "pause"
    END_RUN = "end_run"
    NOTHING = "nothing"


COSTS: Final[dict[Ended, Cost]] = {
    Ended.FINISHED: Cost.JUDGE,
    Ended.AGENT_ERROR: Cost.STRIKE,
    Ended.REFUSED: Cost.STRIKE,
    Ended.PROMPT_TOO_LONG: Cost.STRIKE,
    Ended.NO_RESULT: Cost.STRIKE,
    Ended.KILLED: Cost.STRIKE,
    Ended.TIMED_OUT: Cost.STRIKE,
    Ended.IDLE: Cost.STRIKE,
    Ended.TURN_LIMIT: Cost.STRIKE,
    Ended.BUDGET_LIMIT: Cost.STRIKE,
    Ended.USAGE_LIMIT: Cost.WAIT,
    Ended.RATE_LIMITED: Cost.WAIT,
    Ended.OVERLOADED: Cost.BACK_OFF,
    Ended.AUTH_EXPIRED: Cost.PAUSE,
    Ended.BILLING: Cost.PAUSE,
    Ended.NOT_INSTALLED: Cost.END_RUN,
    Ended.CANNOT_RUN_AS_ROOT: Cost.END_RUN,
    Ended.INTERRUPTED: Cost.NOTHING,
    Ended.LOST: Cost.NOTHING,
}


class Stop(StrEnum):
    """Why Ralph itself stopped a process."""

    HARD = "hard"
    IDLE = "idle"
    AFTER_RESULT = "after_result"
    INTERRUPTED = "interrupted"
    """A signal, `ralph stop --now`, `ralph skip`, or a claim that was lost."""


class Exit(msgspec.Struct, frozen=True, kw_only=True):
    """How a process went away. The exit code is evidence, never the verdict."""

    code: int | None = None
    """None when it could not be started at all."""
    stop: Stop | None = None
    duration_s: float = 0.0
    stderr: str = ""
    """Its last 16 KiB."""
    swept: int = 0
    """Descendants that had to be ended after it."""
    error: str = ""
    """Why it could not be started."""


class Digest(msgspec.Struct, kw_only=True):
    """What is remembered of a stream of agent events: bounded, whatever the stream's size."""

    result: Result | None = None
    limit: Limit | None = None
    tail: str = ""
    """The last 64 KiB of text."""
    open_calls: set[str] = msgspec.field(default_factory=set)
    tool_uses: int = 0
    tool_errors: int = 0

    def take(self, event: AgentEvent) -> None:
        """Fold one event in."""
        match event:
            case Text(text=text, partial=False):
                self.tail = (self.tail + text)[-FINAL_MESSAGE_BYTES:]
            case ToolUse(call=call):
                self.tool_uses += 1
                # An agent that never reports results must not fill the memory.
                if len(self.open_calls) < MOST_OPEN_CALLS:
                    self.open_calls.add(call)
            case ToolResult(call=call, error=error):
                self.tool_errors += error
                self.open_calls.discard(call)
            case Limit():
                self.limit = event
            case Result():
                # The first result is the session's; what follows comes from its children.
                self.result = self.result or event
            case _:
                pass


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """The classified end of a session."""

    ended: Ended
    message: str = ""
    """The final message: the only text in which a claim counts."""
    detail: str = ""
    """One line for people."""
    resets_at: float | None = None
    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def cost(self) -> Cost:
        """What it does to the task and the run."""
        return COSTS[self.ended]


def stopped_by_us(exit_: Exit) -> Ended | None:
    """The ending that follows from our own stopping of the process, whatever the agent said.

    After its result a session may be ended and still counts, so that is not in here.
    """
    match exit_.stop:
        case Stop.HARD:
            return Ended.TIMED_OUT
        case Stop.IDLE:
            return Ended.IDLE
        case Stop.INTERRUPTED:
            return Ended.INTERRUPTED
        case Stop.AFTER_RESULT | None:
            return None
