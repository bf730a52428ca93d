"""How a session ended, and what follows from it."""

from enum import StrEnum
from typing import Final

import msgspec


class EndingKind(StrEnum):
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
    OVER_LIMIT = "over_limit"
    """It used more processes, memory or disk than it may."""
    USAGE_LIMIT = "usage_limit"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    NO_NETWORK = "no_network"
    UNKNOWN_MODEL = "unknown_model"
    AUTH_EXPIRED = "auth_expired"
    BILLING = "billing"
    NOT_INSTALLED = "not_installed"
    CANNOT_RUN_AS_ROOT = "cannot_run_as_root"
    HANDED_OVER = "handed_over"
    """Its context was nearly full, or a person wanted it: a fresh session goes on."""
    INTERRUPTED = "interrupted"
    LOST = "lost"
    """Ralph itself died while the session ran."""


class Consequence(StrEnum):
    """What an ending means for the task and the run."""

    JUDGE = "judge"
    STRIKE = "strike"
    WAIT = "wait"
    BACK_OFF = "back_off"
    PAUSE = "pause"
    END_RUN = "end_run"
    NOTHING = "nothing"


CONSEQUENCES: Final[dict[EndingKind, Consequence]] = dict.fromkeys(
    EndingKind, Consequence.STRIKE
) | {
    EndingKind.FINISHED: Consequence.JUDGE,
    EndingKind.USAGE_LIMIT: Consequence.WAIT,
    EndingKind.RATE_LIMITED: Consequence.WAIT,
    EndingKind.OVERLOADED: Consequence.BACK_OFF,
    EndingKind.NO_NETWORK: Consequence.BACK_OFF,
    EndingKind.UNKNOWN_MODEL: Consequence.END_RUN,
    EndingKind.AUTH_EXPIRED: Consequence.PAUSE,
    EndingKind.BILLING: Consequence.PAUSE,
    EndingKind.NOT_INSTALLED: Consequence.END_RUN,
    EndingKind.CANNOT_RUN_AS_ROOT: Consequence.END_RUN,
    EndingKind.HANDED_OVER: Consequence.NOTHING,
    EndingKind.INTERRUPTED: Consequence.NOTHING,
    EndingKind.LOST: Consequence.NOTHING,
}


class SessionEnding(msgspec.Struct, frozen=True, kw_only=True):
    ended: EndingKind
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
    """What was in its context at the end, as far as that is known."""
    tool_tokens: int | None = None
    """What of it came from its tools."""

    @property
    def consequence(self) -> Consequence:
        return CONSEQUENCES[self.ended]
