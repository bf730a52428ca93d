"""Classify how a session ended, and why a request failed, from what a program or a provider says.

What a model writes is never looked at.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from ralph.adapters.agents.usage_limit_reset import reset_time
from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import Consequence, EndingKind, SessionEnding
from ralph.core.session_output import StreamSummary, classify_ending

STATUSES: Final[Mapping[int, EndingKind]] = {
    401: EndingKind.AUTH_EXPIRED,
    402: EndingKind.BILLING,
    403: EndingKind.AUTH_EXPIRED,
    404: EndingKind.UNKNOWN_MODEL,
    408: EndingKind.OVERLOADED,
    413: EndingKind.PROMPT_TOO_LONG,
    429: EndingKind.RATE_LIMITED,
}

CLEAR: Final = (
    (EndingKind.USAGE_LIMIT, r"usage limit|hit your .{0,20}limit"),
    (
        EndingKind.BILLING,
        r"quota exceeded|exceeded your current quota|insufficient_quota|out of credits|spend cap"
        r"|credit balance|payment required|billing_error|upgrade to plus|deactivated_workspace",
    ),
    (
        EndingKind.PROMPT_TOO_LONG,
        r"context.(?:window|length|limit)|maximum context|(?:prompt|input) is too long"
        r"|prompt budget|request_too_large",
    ),
    (
        EndingKind.UNKNOWN_MODEL,
        r"model_not_found|model\b.{0,80}(?:does not exist|(?:is|was) not (?:found|supported))",
    ),
    (EndingKind.REFUSED, r"content moderation|content_filter|(?:usage|content) policy|was flagged"),
)
"""These words say more than a status: a server may answer 429 when money is short, too."""

VAGUE: Final = (
    (
        EndingKind.AUTH_EXPIRED,
        r"(?:sign|log|logged) ?in\b|unauthorized|authentication|api key|could not be refreshed"
        r"|missing environment variable",
    ),
    (EndingKind.RATE_LIMITED, r"rate.?limit|too many requests"),
    (
        EndingKind.NO_NETWORK,
        r"connection (?:failed|error|refused|reset)|could not connect|error sending request"
        r"|dns error",
    ),
    (
        EndingKind.OVERLOADED,
        r"overloaded|at capacity|high demand|temporarily unavailable|stream disconnected"
        r"|tim(?:ed|e) ?out|reading the server response",
    ),
)
"""These count only without a status."""


def ending_of_session(
    digest: StreamSummary, exit_: ProcessExit, stderr: Sequence[tuple[str, EndingKind]]
) -> SessionEnding:
    """The ending of a session; `stderr` says what words of a program that never started mean. The
    time at which a usage limit resets may be in the program's own words."""
    in_stderr = next((kind for words, kind in stderr if words in exit_.stderr), None)
    ending = classify_ending(digest, exit_, in_stderr)
    if ending.consequence is Consequence.WAIT and ending.resets_at is None:
        return replace(ending, resets_at=reset_time(ending.detail, exit_.ended_at))
    return ending


def of_status(status: int | None) -> EndingKind | None:
    if status is not None and 500 <= status < 600:
        return EndingKind.OVERLOADED
    return STATUSES.get(status or 0)


def of_answer(message: str, status: int | None = None) -> EndingKind | None:
    """The kind of failure by clear words, then by the status, then by any words."""
    words = message.lower()
    return _find(CLEAR, words) or of_status(status) or _find(VAGUE, words)


def _find(table: tuple[tuple[EndingKind, str], ...], words: str) -> EndingKind | None:
    return next((ended for ended, pattern in table if re.search(pattern, words)), None)
