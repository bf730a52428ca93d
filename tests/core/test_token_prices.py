"""What a session cost, where nobody says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.cost import CostSummary, dollars, session_cost, with_cost
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.settings import PriceSection

PRICES = {"gpt": PriceSection(input=1.0, cached=0.1, output=10.0), "free": PriceSection()}


def an_ending(**fields: object) -> SessionEnding:
    return SessionEnding(ended=EndingKind.FINISHED, **fields)  # type: ignore[arg-type]


def test_a_reported_cost_stays() -> None:
    ending = an_ending(cost_usd=0.5, model="gpt", input_tokens=1_000_000)
    assert with_cost(ending, PRICES, "gpt") == ending


def test_tokens_have_their_price_and_cached_ones_are_among_the_read() -> None:
    ending = an_ending(
        model="gpt", input_tokens=1_000_000, cached_tokens=500_000, output_tokens=100_000
    )
    after = with_cost(ending, PRICES, "")
    assert after.cost_usd == pytest.approx(0.5 + 0.05 + 1.0)
    assert after.estimated


def test_the_model_that_was_asked_for_serves_where_the_session_names_none() -> None:
    ending = an_ending(output_tokens=1_000_000)
    assert with_cost(ending, PRICES, "gpt").cost_usd == pytest.approx(10.0)
    assert with_cost(an_ending(model="other", output_tokens=9), PRICES, "gpt").cost_usd is not None


@pytest.mark.parametrize(
    "ending",
    [
        an_ending(model="gpt"),
        an_ending(model="gpt", input_tokens=0, output_tokens=0),
        an_ending(model="nobody knows", input_tokens=5, output_tokens=5),
    ],
)
def test_without_tokens_or_price_it_stays_unknown(ending: SessionEnding) -> None:
    after = with_cost(ending, PRICES, "")
    assert after.cost_usd is None
    assert not after.estimated


def test_a_price_of_nothing_is_an_estimate_of_nothing() -> None:
    after = with_cost(an_ending(model="free", output_tokens=5), PRICES, "")
    assert (after.cost_usd, after.estimated) == (0.0, True)


def test_without_a_price_of_their_own_cached_tokens_cost_as_much_as_others() -> None:
    prices = {"gpt": PriceSection(input=2.0, output=1.0)}
    ending = an_ending(model="gpt", input_tokens=1_000_000, cached_tokens=900_000)
    assert with_cost(ending, prices, "").cost_usd == pytest.approx(2.0)


@pytest.mark.parametrize("number", [-1, 10**30, 2**63])
def test_what_cannot_be_true_is_unknown(number: int) -> None:
    ending = an_ending(
        cost_usd=float(number), input_tokens=number, cached_tokens=number, output_tokens=number
    )
    after = with_cost(ending, PRICES, "gpt")
    assert (after.cost_usd, after.input_tokens) == (None, None)
    assert (after.cached_tokens, after.output_tokens) == (None, None)
    assert with_cost(an_ending(cost_usd=float("nan")), PRICES, "").cost_usd is None


tokens = st.one_of(st.none(), st.integers(0, 10**9))


@given(tokens, tokens, tokens)
def test_an_estimate_is_never_negative_and_never_more_than_without_a_cache(
    read: int | None, cached: int | None, said: int | None
) -> None:
    ending = an_ending(model="gpt", input_tokens=read, cached_tokens=cached, output_tokens=said)
    cost = with_cost(ending, PRICES, "").cost_usd
    if (read or 0) + (said or 0) == 0:
        assert cost is None
    else:
        assert cost is not None
        assert 0 <= cost <= ((read or 0) * 1.0 + (said or 0) * 10.0) / 1e6 + 1e-6


# Sums


def test_a_sum_says_what_it_does_not_know() -> None:
    known, guess, unknown = session_cost(1.0), session_cost(0.2, estimated=True), session_cost(None)
    assert str(CostSummary()) == "nothing"
    assert str(known) == "$1.00"
    assert str(known + guess) == "~$1.20"
    assert str(unknown + unknown) == "unknown"
    assert str(known + unknown) == "$1.00 and 1 session of unknown cost"
    assert str(guess + unknown + unknown) == "~$0.20 and 2 sessions of unknown cost"


def test_a_total_is_known_only_if_every_part_is() -> None:
    known, unknown = session_cost(1.5), session_cost(None)
    assert CostSummary().total_usd is None
    assert (known + known).total_usd == 3.0
    assert (known + unknown).total_usd is None
    assert (known + unknown).known_usd == 1.5


@pytest.mark.parametrize(
    ("cost", "estimated", "words"),
    [
        (None, False, "unknown"),
        (0.0, False, "$0.00"),
        (0.004, False, "under $0.01"),
        (0.004, True, "under ~$0.01"),
        (12.345, False, "$12.35"),
        (0.12, True, "~$0.12"),
    ],
)
def test_money_in_words(cost: float | None, estimated: bool, words: str) -> None:  # noqa: FBT001
    assert dollars(cost, estimated=estimated) == words
