"""The ways in which a session can end, as one closed set, and what each of them costs."""

from enum import StrEnum
from typing import Final


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
    OVER_LIMIT = "over_limit"
    """It used more processes, memory or disk than it may."""
    USAGE_LIMIT = "usage_limit"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    AUTH_EXPIRED = "auth_expired"
    BILLING = "billing"
    NOT_INSTALLED = "not_installed"
    CANNOT_RUN_AS_ROOT = "cannot_run_as_root"
    HANDED_OVER = "handed_over"
    """Its context was nearly full, or a person wanted it: a fresh session goes on."""
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
    Ended.OVER_LIMIT: Cost.STRIKE,
    Ended.USAGE_LIMIT: Cost.WAIT,
    Ended.RATE_LIMITED: Cost.WAIT,
    Ended.OVERLOADED: Cost.BACK_OFF,
    Ended.AUTH_EXPIRED: Cost.PAUSE,
    Ended.BILLING: Cost.PAUSE,
    Ended.NOT_INSTALLED: Cost.END_RUN,
    Ended.CANNOT_RUN_AS_ROOT: Cost.END_RUN,
    Ended.HANDED_OVER: Cost.NOTHING,
    Ended.INTERRUPTED: Cost.NOTHING,
    Ended.LOST: Cost.NOTHING,
}
