"""What kind of failure the program reports.

By its codes first, then by its own sentences, which are compared from their first word on: what a
model writes is never looked at.
"""

from collections.abc import Mapping
from typing import Final

from ralph.adapters.agents.claude.shapes import Result
from ralph.adapters.agents.failures import of_status
from ralph.core.ended import Ended

SUBTYPES: Final[Mapping[str, Ended]] = {
    "error_max_turns": Ended.TURN_LIMIT,
    "error_max_budget_usd": Ended.BUDGET_LIMIT,
}

REASONS: Final[Mapping[str, Ended]] = {
    "max_turns": Ended.TURN_LIMIT,
    "budget_exhausted": Ended.BUDGET_LIMIT,
    "prompt_too_long": Ended.PROMPT_TOO_LONG,
    "blocking_limit": Ended.PROMPT_TOO_LONG,
    # Somebody sent it a signal. If it was us, that is known from elsewhere and comes first.
    "aborted_tools": Ended.KILLED,
    "aborted_streaming": Ended.KILLED,
}

CODES: Final[Mapping[str, Ended]] = {
    "authentication_failed": Ended.AUTH_EXPIRED,
    "oauth_org_not_allowed": Ended.AUTH_EXPIRED,
    "billing_error": Ended.BILLING,
    "rate_limit": Ended.RATE_LIMITED,
    "overloaded": Ended.OVERLOADED,
    "server_error": Ended.OVERLOADED,
}

SENTENCES: Final = (
    ("You've hit your org's monthly", Ended.BILLING),
    ("You've hit your monthly", Ended.BILLING),
    ("You've hit your", Ended.USAGE_LIMIT),
    ("You've reached your", Ended.USAGE_LIMIT),
    ("You're out of usage credits", Ended.USAGE_LIMIT),
    ("You're out of extra usage", Ended.USAGE_LIMIT),
    ("Claude AI usage limit reached", Ended.USAGE_LIMIT),
    ("Claude usage limit reached", Ended.USAGE_LIMIT),
    ("Your org is out of usage", Ended.BILLING),
    ("Your seat type doesn't include", Ended.BILLING),
    ("Your usage allocation has been disabled", Ended.BILLING),
    ("Your group's usage limit is set to $0", Ended.BILLING),
    ("This service is disabled for your org", Ended.BILLING),
    ("Credit balance is too low", Ended.BILLING),
    ("Not logged in", Ended.AUTH_EXPIRED),
    ("Please run /login", Ended.AUTH_EXPIRED),
    ("Failed to authenticate", Ended.AUTH_EXPIRED),
    ("Authentication error", Ended.AUTH_EXPIRED),
    ("Invalid API key", Ended.AUTH_EXPIRED),
    ("OAuth token", Ended.AUTH_EXPIRED),
    ("Your ANTHROPIC_API_KEY belongs to a disabled", Ended.AUTH_EXPIRED),
    ("Your organization has disabled", Ended.AUTH_EXPIRED),
    ("Your organization does not have access", Ended.AUTH_EXPIRED),
    ("Prompt is too long", Ended.PROMPT_TOO_LONG),
    ("Request too large", Ended.PROMPT_TOO_LONG),
    ("API Error: API returned an empty", Ended.OVERLOADED),
    ("API Error: Unable to connect", Ended.OVERLOADED),
    ("API Error: Connection", Ended.OVERLOADED),
    ("API Error: Request timed out", Ended.OVERLOADED),
    ("Request timed out", Ended.OVERLOADED),
    ("API Error: Repeated 529", Ended.OVERLOADED),
)

STDERR: Final = (
    ("cannot be used with root/sudo privileges", Ended.CANNOT_RUN_AS_ROOT),
    # Of another age than this file: no session could ever start.
    ("error: unknown option", Ended.NOT_INSTALLED),
)


def of_result(result: Result) -> Ended | None:
    """What kind of error a session ended with. None where the program does not say."""
    return (
        SUBTYPES.get(result.subtype)
        or REASONS.get(result.terminal_reason or "")
        or (Ended.REFUSED if result.stop_reason == "refusal" else None)
        or of_sentence(result.result)
        or of_status(result.api_error_status)
    )


def of_message(code: str | None, sentence: str) -> Ended | None:
    """What kind of error the program reports in the place of the model."""
    return of_sentence(sentence) or CODES.get(code or "")


def of_sentence(sentence: str) -> Ended | None:
    """By the words of the program itself."""
    return next((ended for start, ended in SENTENCES if sentence.startswith(start)), None)


def of_stderr(text: str) -> Ended | None:
    """Why it did not even begin."""
    return next((ended for words, ended in STDERR if words in text), None)
