"""What a session cost, worked out from its tokens where its agent does not say."""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.core.agent_events import Usage
from ralph.core.ending import Ending

MILLION: Final = 1_000_000
MOST: Final = 10**12
"""No session reads, writes or costs that much; a sum of larger numbers would burst the database."""


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """USD per million tokens."""

    input: float = 0.0
    cached: float | None = None
    """Of what is read from a cache; None: the same as what is not."""
    output: float = 0.0


def priced(ending: Ending, prices: Mapping[str, Price], asked: str) -> Ending:
    """The ending with its cost. A reported one stays; without tokens or a price it is unknown, and
    so is what cannot be true.

    `asked` is the model that was asked for, since not every agent says what it ran on.
    """
    ending = _believed(ending)
    price = prices.get(ending.model) or prices.get(asked)
    if ending.cost_usd is not None or price is None:
        return ending
    used = Usage(
        input_tokens=ending.input_tokens or 0,
        cached_tokens=ending.cached_tokens or 0,
        output_tokens=ending.output_tokens or 0,
    )
    if not used.input_tokens + used.output_tokens:
        # No tokens at all is an agent that does not count, not a session for nothing.
        return ending
    return replace(ending, cost_usd=round(worth(used, price), 9), estimated=True)


def worth(used: Usage, price: Price) -> float:
    """What tokens cost, in dollars."""
    cached = min(used.cached_tokens, used.input_tokens)
    return (
        (used.input_tokens - cached) * price.input
        + cached * (price.input if price.cached is None else price.cached)
        + used.output_tokens * price.output
    ) / MILLION


def _believed(ending: Ending) -> Ending:
    cost = ending.cost_usd
    return replace(
        ending,
        cost_usd=cost if cost is not None and 0 <= cost <= MOST else None,
        input_tokens=_count(ending.input_tokens),
        cached_tokens=_count(ending.cached_tokens),
        output_tokens=_count(ending.output_tokens),
    )


def _count(number: int | None) -> int | None:
    return number if number is not None and 0 <= number <= MOST else None
