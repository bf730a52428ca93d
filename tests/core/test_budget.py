"""What may be spent, by whom."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.cost import (
    BudgetLevel,
    BudgetUsage,
    describe_limit,
    left_usd,
    limits_nearly_reached,
    reached_limit,
)
from ralph.core.settings import BudgetSection

a_budget = partial(BudgetSection, session_usd=0.0, run_usd=0.0, project_usd=0.0)
TREE = a_budget(session_usd=2.0, run_usd=50.0, project_usd=200.0, session_tokens=1000)
USD = st.floats(0, 1000)


@pytest.mark.parametrize(
    ("bill", "level"),
    [
        (BudgetUsage(), None),
        (BudgetUsage(session_usd=1.99, run_usd=40.0, project_usd=100.0), None),
        (BudgetUsage(session_usd=2.0), BudgetLevel.SESSION),
        (BudgetUsage(run_usd=50.0), BudgetLevel.RUN),
        (BudgetUsage(session_usd=1.0, run_usd=49.5), BudgetLevel.RUN),
        (BudgetUsage(project_usd=200.0), BudgetLevel.PROJECT),
        (BudgetUsage(session_usd=1.0, run_usd=10.0, project_usd=199.5), BudgetLevel.PROJECT),
        (BudgetUsage(session_usd=2.0, run_usd=50.0, project_usd=200.0), BudgetLevel.PROJECT),
        (BudgetUsage(session_tokens=999), None),
        (BudgetUsage(session_tokens=1000), BudgetLevel.SESSION),
        (BudgetUsage(session_usd=0.5, session_tokens=5000), None),
        (BudgetUsage(session_usd=0.5, is_guess=True, session_tokens=5000), BudgetLevel.SESSION),
    ],
)
def test_the_limit_that_is_used_up(bill: BudgetUsage, level: BudgetLevel | None) -> None:
    assert reached_limit(TREE, bill) is level


def test_a_session_gets_what_is_left_of_the_scarcest() -> None:
    assert left_usd(TREE, BudgetUsage()) == 2.0
    assert left_usd(TREE, BudgetUsage(run_usd=49.0)) == 1.0
    assert left_usd(TREE, BudgetUsage(run_usd=49.0, project_usd=199.5)) == 0.5
    assert left_usd(TREE, BudgetUsage(run_usd=60.0)) == 0.0


def test_zero_is_without_limit() -> None:
    endless = a_budget()
    assert left_usd(endless, BudgetUsage(run_usd=1e6)) is None
    assert reached_limit(endless, BudgetUsage(session_usd=1e6, session_tokens=10**9)) is None
    assert list(limits_nearly_reached(endless, BudgetUsage(session_usd=1e6))) == []
    assert left_usd(a_budget(run_usd=5.0), BudgetUsage(run_usd=1.0)) == 4.0


def test_at_four_fifths_a_person_is_warned() -> None:
    assert list(limits_nearly_reached(TREE, BudgetUsage(run_usd=39.9))) == []
    assert list(limits_nearly_reached(TREE, BudgetUsage(run_usd=40.0))) == [BudgetLevel.RUN]
    assert list(limits_nearly_reached(TREE, BudgetUsage(session_usd=1.7, project_usd=170.0))) == [
        BudgetLevel.PROJECT,
        BudgetLevel.SESSION,
    ]


def test_tokens_are_warned_of_as_well() -> None:
    assert list(limits_nearly_reached(TREE, BudgetUsage(session_tokens=799))) == []
    assert list(limits_nearly_reached(TREE, BudgetUsage(session_tokens=800))) == [
        BudgetLevel.SESSION
    ]
    assert list(limits_nearly_reached(TREE, BudgetUsage(session_usd=0.1, session_tokens=800))) == []
    assert (
        list(
            limits_nearly_reached(
                a_budget(session_tokens=1000, warn_at=0.0), BudgetUsage(session_tokens=999)
            )
        )
        == []
    )


def test_a_session_is_told_what_is_scarcer() -> None:
    guess = BudgetUsage(session_usd=1.9, is_guess=True, session_tokens=810)
    assert describe_limit(TREE, guess, BudgetLevel.SESSION).startswith("$1.90 of $2.00")
    guess = BudgetUsage(session_usd=0.1, is_guess=True, session_tokens=810)
    assert describe_limit(TREE, guess, BudgetLevel.SESSION).startswith("810 of 1,000 tokens")


def test_what_is_told_says_how_to_raise_it() -> None:
    line = describe_limit(TREE, BudgetUsage(run_usd=41.2), BudgetLevel.RUN)
    assert line == "$41.20 of $50.00 for this run are spent; [budget] run_usd sets that"
    line = describe_limit(TREE, BudgetUsage(session_tokens=1200), BudgetLevel.SESSION)
    assert line.startswith("1,200 of 1,000 tokens")
    assert "[budget] session_tokens" in line


@given(USD, USD, USD)
def test_nothing_is_left_exactly_when_a_limit_is_reached(
    session: float, run: float, project: float
) -> None:
    bill = BudgetUsage(session_usd=session, run_usd=run, project_usd=project)
    assert (left_usd(TREE, bill) == 0.0) == (reached_limit(TREE, bill) is not None)
