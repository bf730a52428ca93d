"""What kind of failure a request met, from the answer of the server.

Only for what a program or a provider says: what a model writes is never looked at.
"""

import re
from collections.abc import Mapping
from typing import Final

from ralph.core.ended import Ended

STATUSES: Final[Mapping[int, Ended]] = {
    401: Ended.AUTH_EXPIRED,
    402: Ended.BILLING,
    403: Ended.AUTH_EXPIRED,
    408: Ended.OVERLOADED,
    413: Ended.PROMPT_TOO_LONG,
    429: Ended.RATE_LIMITED,
}

TELLING: Final = (
    (Ended.USAGE_LIMIT, r"usage limit|hit your .{0,20}limit"),
    (
        Ended.BILLING,
        r"quota exceeded|exceeded your current quota|insufficient_quota|out of credits|spend cap"
        r"|credit balance|payment required|billing_error|upgrade to plus|deactivated_workspace",
    ),
    (
        Ended.PROMPT_TOO_LONG,
        r"context.(?:window|length|limit)|maximum context|(?:prompt|input) is too long"
        r"|request_too_large",
    ),
    (Ended.REFUSED, r"content moderation|content_filter|(?:usage|content) policy|was flagged"),
)
"""Says more than a status: what a server calls 429 may be a shortage of money, too."""

VAGUE: Final = (
    (
        Ended.AUTH_EXPIRED,
        r"(?:sign|log|logged) ?in\b|unauthorized|authentication|api key|could not be refreshed"
        r"|missing environment variable",
    ),
    (Ended.RATE_LIMITED, r"rate.?limit|too many requests"),
    (
        Ended.OVERLOADED,
        r"overloaded|at capacity|high demand|temporarily unavailable|stream disconnected"
        r"|connection (?:failed|error|refused|reset)|error sending request|tim(?:ed|e) ?out"
        r"|reading the server response",
    ),
)
"""For where there is no status."""


def of_status(status: int | None) -> Ended | None:
    """By the number."""
    if status is not None and 500 <= status < 600:
        return Ended.OVERLOADED
    return STATUSES.get(status or 0)


def of_answer(message: str, status: int | None = None) -> Ended | None:
    """By the words that leave no doubt, then by the number, then by any words."""
    words = message.lower()
    return _find(TELLING, words) or of_status(status) or _find(VAGUE, words)


def _find(table: tuple[tuple[Ended, str], ...], words: str) -> Ended | None:
    return next((ended for ended, pattern in table if re.search(pattern, words)), None)
