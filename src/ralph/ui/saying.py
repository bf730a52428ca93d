"""What an agent's events mean, in a few words that all screens share."""

from collections.abc import Iterator
from typing import Final

from ralph.core.agent_events import Denied, Limit, LimitStatus, Result, Retry, Trouble
from ralph.core.duration import spoken
from ralph.core.safe_text import one_line
from ralph.ui.wording import clock, dollars, many

LONGEST_DELAY_S: Final = 1e6
"""An agent that says more has lost its mind; its numbers are data like its words."""


def limit_words(limit: Limit, now: float | None = None) -> str:
    """`95% of the five hour allowance is used; it resets at 14:05`"""
    resets = clock(limit.resets_at, now)
    return f"{_used(limit)}; it resets at {resets}" if resets else _used(limit)


def _used(limit: Limit) -> str:
    window = one_line(limit.window.replace("_", " "), 40)
    allowance = f"the {window} allowance" if window else "the allowance"
    match limit.status:
        case LimitStatus.ALLOWED:
            return f"{allowance} lasts"
        case LimitStatus.WARNING if limit.used is not None and 0 <= limit.used <= 10:
            return f"{limit.used:.0%} of {allowance} is used"
        case LimitStatus.WARNING:
            return f"{allowance} is nearly used up"
        case LimitStatus.REJECTED:
            return f"{allowance} is used up"


def retry_words(retry: Retry) -> str:
    """`tries again (try 2, in 4.0s): overloaded`"""
    facts = [f"try {retry.attempt}"] if retry.attempt > 0 else []
    if retry.delay_s is not None and 0 < retry.delay_s < LONGEST_DELAY_S:
        facts.append(f"in {spoken(retry.delay_s)}")
    how = f" ({', '.join(facts)})" if facts else ""
    why = one_line(retry.message)
    return f"tries again{how}: {why}" if why else f"tries again{how}"


def trouble_words(trouble: Trouble) -> str:
    """Its own words; they may be long and are not yet safe to show."""
    kind = trouble.failure.replace("_", " ") if trouble.failure else "something failed"
    return trouble.message if trouble.message.strip() else kind


def denied_words(denied: Denied) -> str:
    """`Bash  rm -rf build`"""
    return f"{one_line(denied.name, 40)}  {one_line(denied.summary)}".rstrip()


def result_facts(result: Result) -> Iterator[str]:
    """What the session took, as far as it says so."""
    if result.turns is not None:
        yield many(result.turns, "turn")
    if result.duration_s is not None and 0 <= result.duration_s < LONGEST_DELAY_S:
        yield spoken(result.duration_s)
    if result.cost_usd is not None:
        yield dollars(result.cost_usd)
    usage = result.usage
    if usage is not None and (usage.input_tokens or usage.output_tokens):
        cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
        yield f"{usage.input_tokens:,} tokens in{cached}, {usage.output_tokens:,} out"
