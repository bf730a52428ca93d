"""When a run stops although work is left."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.limits import Limits, Progress, Tally, back_off_s, count, spent, tripped

DONE = Progress(done=True, moved=True)
STRUCK = Progress(struck=True)
FAILED = Progress(failed=True, moved=True)
REJECTED = Progress()
PROGRESSES = st.builds(
    Progress, done=st.booleans(), struck=st.booleans(), failed=st.booleans(), moved=st.booleans()
)


def after(*progresses: Progress) -> Tally:
    tally = Tally()
    for progress in progresses:
        tally = count(tally, progress)
    return tally


@given(st.lists(PROGRESSES, max_size=20))
def test_every_iteration_is_counted(progresses: list[Progress]) -> None:
    assert after(*progresses).iterations == len(progresses)


def test_strikes_and_failures_in_a_row_add_up() -> None:
    assert after(STRUCK, FAILED, STRUCK).failures == 3


def test_a_done_task_breaks_the_row() -> None:
    assert after(STRUCK, STRUCK, DONE).failures == 0


def test_a_rejection_neither_adds_to_the_row_nor_breaks_it() -> None:
    assert after(STRUCK, REJECTED, STRUCK).failures == 2


def test_standing_still_is_counted_until_something_moves() -> None:
    assert after(REJECTED, STRUCK, REJECTED).stagnation == 3
    assert after(REJECTED, STRUCK, FAILED).stagnation == 0


def test_the_breaker_trips_on_either_and_says_which() -> None:
    limits = Limits(failures=3, stagnation=5)
    assert tripped(limits, Tally(failures=2, stagnation=4)) is None
    assert tripped(limits, Tally(failures=3)) == "3 failures in a row"
    assert tripped(limits, Tally(stagnation=5)) == "5 iterations without progress"


def test_zero_means_without_limit() -> None:
    never = Limits(iterations=0, run_s=0, failures=0, stagnation=0)
    worn_out = Tally(iterations=10**6, failures=10**6, stagnation=10**6)
    assert tripped(never, worn_out) is None
    assert spent(never, worn_out, 10**9) is None


def test_a_limit_is_reached_at_its_number() -> None:
    limits = Limits(iterations=3, run_s=60)
    assert spent(limits, Tally(iterations=2), 59.9) is None
    assert spent(limits, Tally(iterations=3), 0) == "the limit of 3 iterations is reached"
    assert spent(limits, Tally(), 60) == "the run's time of 60 s is used up"


@pytest.mark.parametrize(
    ("strikes", "waits"), [(-1, 0.0), (0, 0.0), (1, 0.25), (2, 0.5), (3, 1.0), (6, 5.0)]
)
def test_the_wait_after_a_strike_grows(strikes: int, waits: float) -> None:
    assert back_off_s(strikes) == waits


@given(st.integers(1, 10**6))
def test_the_wait_after_a_strike_is_never_long(strikes: int) -> None:
    assert 0 < back_off_s(strikes) <= back_off_s(strikes + 1) <= 5.0
