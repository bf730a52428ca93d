"""What may be spent, by whom."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.budget import Bill, Budget, Level, left_usd, near, reached, told

TREE = Budget(session_usd=2.0, run_usd=50.0, project_usd=200.0, session_tokens=1000)
USD = st.floats(0, 1000)


@pytest.mark.parametrize(
    ("bill", "level"),
    [
        (Bill(), None),
        (Bill(session_usd=1.99, run_usd=40.0, project_usd=100.0), None),
        (Bill(session_usd=2.0), Level.SESSION),
        (Bill(run_usd=50.0), Level.RUN),
        (Bill(session_usd=1.0, run_usd=49.5), Level.RUN),
        (Bill(project_usd=200.0), Level.PROJECT),
        (Bill(session_usd=1.0, run_usd=10.0, project_usd=199.5), Level.PROJECT),
        (Bill(session_usd=2.0, run_usd=50.0, project_usd=200.0), Level.PROJECT),
        (Bill(session_tokens=999), None),
        (Bill(session_tokens=1000), Level.SESSION),
        (Bill(session_usd=0.5, session_tokens=5000), None),
        (Bill(session_usd=0.5, is_guess=True, session_tokens=5000), Level.SESSION),
    ],
)
def test_the_limit_that_is_used_up(bill: Bill, level: Level | None) -> None:
    assert reached(TREE, bill) is level


def test_a_session_gets_what_is_left_of_the_scarcest() -> None:
    assert left_usd(TREE, Bill()) == 2.0
    assert left_usd(TREE, Bill(run_usd=49.0)) == 1.0
    assert left_usd(TREE, Bill(run_usd=49.0, project_usd=199.5)) == 0.5
    assert left_usd(TREE, Bill(run_usd=60.0)) == 0.0


def test_zero_is_without_limit() -> None:
    endless = Budget()
    assert left_usd(endless, Bill(run_usd=1e6)) is None
    assert reached(endless, Bill(session_usd=1e6, session_tokens=10**9)) is None
    assert list(near(endless, Bill(session_usd=1e6))) == []
    assert left_usd(Budget(run_usd=5.0), Bill(run_usd=1.0)) == 4.0


def test_at_four_fifths_a_person_is_warned() -> None:
    assert list(near(TREE, Bill(run_usd=39.9))) == []
    assert list(near(TREE, Bill(run_usd=40.0))) == [Level.RUN]
    assert list(near(TREE, Bill(session_usd=1.7, project_usd=170.0))) == [
        Level.PROJECT,
        Level.SESSION,
    ]


def test_tokens_are_warned_of_as_well() -> None:
    assert list(near(TREE, Bill(session_tokens=799))) == []
    assert list(near(TREE, Bill(session_tokens=800))) == [Level.SESSION]
    assert list(near(TREE, Bill(session_usd=0.1, session_tokens=800))) == []
    assert list(near(Budget(session_tokens=1000, warn_at=0.0), Bill(session_tokens=999))) == []


def test_a_session_is_told_what_is_scarcer() -> None:
    guess = Bill(session_usd=1.9, is_guess=True, session_tokens=810)
    assert told(TREE, guess, Level.SESSION).startswith("$1.90 of $2.00")
    guess = Bill(session_usd=0.1, is_guess=True, session_tokens=810)
    assert told(TREE, guess, Level.SESSION).startswith("810 of 1,000 tokens")


def test_what_is_told_says_how_to_raise_it() -> None:
    line = told(TREE, Bill(run_usd=41.2), Level.RUN)
    assert line == "$41.20 of $50.00 for this run are spent; [budget] run_usd sets that"
    line = told(TREE, Bill(session_tokens=1200), Level.SESSION)
    assert line.startswith("1,200 of 1,000 tokens")
    assert "[budget] session_tokens" in line


@given(USD, USD, USD)
def test_nothing_is_left_exactly_when_a_limit_is_reached(
    session: float, run: float, project: float
) -> None:
    bill = Bill(session_usd=session, run_usd=run, project_usd=project)
    assert (left_usd(TREE, bill) == 0.0) == (reached(TREE, bill) is not None)
