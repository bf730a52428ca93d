"""When a run that only fails stops trying, and when it tries again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ralph.core.breaker import (
    TRIALS,
    Breaker,
    BreakerCause,
    BreakerRecovery,
    BreakerState,
    choose_recovery,
    count_iteration,
    current_breaker,
    describe_breaker,
    half_open,
)
from ralph.core.ids import TaskId
from ralph.core.run import IterationProgress
from ralph.core.settings import BreakerSection

A, B = TaskId("t-00000a"), TaskId("t-00000b")
DONE = IterationProgress(done=True, moved=True)
STRUCK = IterationProgress(struck=True, reason="no claim")
FAILED = IterationProgress(failed=True, moved=True, reason="gave up")
REJECTED = IterationProgress(reason="a gate fails")
RESEARCH = IterationProgress(struck=True, moved=True, reason="no claim, but notes")
LIMITS = BreakerSection(failures=3, stagnation=5, cooldown="5m", max_age="2h")
PROGRESSES = st.builds(
    IterationProgress,
    done=st.booleans(),
    struck=st.booleans(),
    failed=st.booleans(),
    moved=st.booleans(),
)


def after(
    *progresses: IterationProgress,
    limits: BreakerSection = LIMITS,
    breaker: Breaker | None = None,
) -> Breaker:
    breaker = breaker or Breaker()
    for progress in progresses:
        breaker = count_iteration(breaker, limits, A, progress, 1000.0)
    return breaker


OPEN = after(STRUCK, STRUCK, STRUCK)
TRIED = half_open(OPEN, 1300.0)


# Closed


def test_strikes_and_failures_in_a_row_add_up() -> None:
    assert after(STRUCK, FAILED).failures == 2


def test_a_done_task_forgets_all_that_was_counted() -> None:
    assert after(STRUCK, REJECTED, STRUCK, DONE) == Breaker(at=1000.0)


def test_a_rejection_neither_adds_to_the_row_nor_breaks_it() -> None:
    assert after(STRUCK, REJECTED, STRUCK).failures == 2


def test_standing_still_is_counted_until_something_moves() -> None:
    assert after(REJECTED, STRUCK, REJECTED).stagnation == 3
    assert after(REJECTED, STRUCK, FAILED).stagnation == 0


def test_research_that_leaves_something_to_build_on_never_opens_it() -> None:
    assert after(*[RESEARCH] * 50).is_closed


# Opening


def test_three_failures_in_a_row_open_it_and_it_says_why() -> None:
    assert (OPEN.state, OPEN.cause) == (BreakerState.OPEN, BreakerCause.FAILURES)
    assert describe_breaker(OPEN) == "open (3 failures in a row; the last: no claim)"


def test_five_iterations_without_progress_open_it_and_it_says_why() -> None:
    stuck = after(*[REJECTED] * 5)
    assert (stuck.state, stuck.cause) == (BreakerState.OPEN, BreakerCause.STAGNATION)
    assert stuck.why == "5 iterations without progress; the last: a gate fails"


def test_zero_means_never() -> None:
    never = BreakerSection(failures=0, stagnation=0)
    assert after(*[STRUCK] * 100, limits=never).is_closed


def test_it_knows_the_task_on_which_all_failed() -> None:
    assert OPEN.task == A
    mixed = count_iteration(
        count_iteration(Breaker(), LIMITS, A, STRUCK, 1.0), LIMITS, B, STRUCK, 2.0
    )
    assert mixed.task is None
    assert count_iteration(mixed, LIMITS, B, STRUCK, 3.0).task is None


# Recovery


def test_first_it_backs_off_and_tries_one() -> None:
    assert choose_recovery(OPEN, LIMITS, has_worked=True, others=False) is BreakerRecovery.BACK_OFF


def test_then_the_task_is_put_aside_if_there_is_another() -> None:
    again = after(STRUCK, breaker=TRIED)
    assert (again.state, again.trials) == (BreakerState.OPEN, 1)
    assert choose_recovery(again, LIMITS, has_worked=True, others=True) is BreakerRecovery.SKIP


def test_without_another_task_a_fresh_session_is_told_what_was_seen_of_the_last() -> None:
    again = after(STRUCK, breaker=TRIED)
    assert choose_recovery(again, LIMITS, has_worked=True, others=False) is BreakerRecovery.HAND_OFF


def test_a_failure_of_another_task_does_not_put_the_first_one_aside() -> None:
    again = count_iteration(TRIED, LIMITS, B, STRUCK, 1300.0)
    assert choose_recovery(again, LIMITS, has_worked=True, others=True) is BreakerRecovery.PERSON


def test_in_the_end_a_person_is_needed() -> None:
    worn_out = replace(OPEN, trials=TRIALS)
    assert choose_recovery(worn_out, LIMITS, has_worked=True, others=True) is BreakerRecovery.PERSON


@pytest.mark.parametrize("trials", range(TRIALS + 1))
def test_without_a_cooldown_a_person_is_told_at_once(trials: int) -> None:
    limits = BreakerSection(cooldown="")
    breaker = replace(OPEN, trials=trials)
    assert choose_recovery(breaker, limits, has_worked=True, others=True) is BreakerRecovery.PERSON


def test_whoever_has_just_started_a_run_is_told_at_once_that_nothing_works() -> None:
    assert choose_recovery(OPEN, LIMITS, has_worked=False, others=True) is BreakerRecovery.PERSON
    soon = BreakerSection(cooldown="10s")
    assert choose_recovery(OPEN, soon, has_worked=False, others=True) is BreakerRecovery.BACK_OFF


def test_a_spent_budget_needs_a_person() -> None:
    broke = Breaker(state=BreakerState.OPEN, cause=BreakerCause.BUDGET, reason="$50 of $50 spent")
    assert choose_recovery(broke, LIMITS, has_worked=True, others=True) is BreakerRecovery.PERSON
    assert broke.why == "$50 of $50 spent"


# Half open


def test_one_success_closes_it() -> None:
    assert after(DONE, breaker=TRIED) == Breaker(at=1000.0)


def test_a_rejected_claim_shows_that_the_agent_works_again() -> None:
    assert after(REJECTED, breaker=TRIED).is_closed


def test_a_rejected_claim_is_no_progress_for_a_run_that_stood_still() -> None:
    stuck = half_open(after(*[REJECTED] * 5), 1300.0)
    assert after(REJECTED, breaker=stuck).state is BreakerState.OPEN
    assert after(replace(REJECTED, moved=True), breaker=stuck).is_closed


def test_one_failure_opens_it_again() -> None:
    again = after(replace(STRUCK, reason="still nothing"), breaker=TRIED)
    assert again.state is BreakerState.OPEN
    assert "still nothing" in describe_breaker(again)


# Age


def test_yesterdays_failures_do_not_count() -> None:
    counted_once = after(STRUCK, STRUCK)
    assert current_breaker(counted_once, LIMITS, 1000.0 + 7199.0) == counted_once
    assert current_breaker(counted_once, LIMITS, 1000.0 + 7201.0).failures == 0
    assert current_breaker(OPEN, LIMITS, 1000.0 + 86_400.0).is_closed


def test_without_an_age_limit_they_count_for_ever() -> None:
    assert current_breaker(OPEN, replace(LIMITS, max_age=""), 1e9) == OPEN


def test_what_is_switched_off_does_not_keep_it_open() -> None:
    assert current_breaker(OPEN, replace(LIMITS, failures=0), 1000.0).is_closed
    assert current_breaker(OPEN, replace(LIMITS, stagnation=0), 1000.0) == OPEN


def test_a_clock_that_was_set_back_does_not_keep_it_open_for_years() -> None:
    assert current_breaker(replace(OPEN, at=1e9), LIMITS, 1000.0).is_closed


@given(st.lists(PROGRESSES, max_size=30))
def test_it_is_open_only_with_a_cause_and_closed_only_without(
    progresses: list[IterationProgress],
) -> None:
    breaker = Breaker()
    for progress in progresses:
        if breaker.state is BreakerState.OPEN:
            breaker = half_open(breaker, 0.0)
        breaker = count_iteration(breaker, LIMITS, A, progress, 0.0)
        assert breaker.is_closed == (breaker.cause is None)
        assert breaker.state is not BreakerState.HALF_OPEN
        if breaker.is_closed:
            assert breaker.failures < LIMITS.failures
            assert breaker.stagnation < LIMITS.stagnation
