"""When a run stops although work is left."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.run import RunLimits, reached_run_limit, strike_wait_s


def test_zero_means_without_limit() -> None:
    assert reached_run_limit(RunLimits(iterations=0, run_s=0), 10**6, 10**9) is None


def test_a_limit_is_reached_at_its_number() -> None:
    limits = RunLimits(iterations=3, run_s=60)
    assert reached_run_limit(limits, 2, 59.9) is None
    assert reached_run_limit(limits, 3, 0) == "the limit of 3 iterations is reached"
    assert reached_run_limit(RunLimits(iterations=1), 1, 0) == "the limit of 1 iteration is reached"
    assert (
        reached_run_limit(limits, 0, 60)
        == "the run's time of 60 s is used up; raise [timeouts] run"
    )


@pytest.mark.parametrize(
    ("strikes", "waits"), [(-1, 0.0), (0, 0.0), (1, 0.25), (2, 0.5), (3, 1.0), (6, 5.0)]
)
def test_the_wait_after_a_strike_grows(strikes: int, waits: float) -> None:
    assert strike_wait_s(strikes) == waits


@given(st.integers(1, 10**6))
def test_the_wait_after_a_strike_is_never_long(strikes: int) -> None:
    assert 0 < strike_wait_s(strikes) <= strike_wait_s(strikes + 1) <= 5.0
