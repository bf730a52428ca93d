"""What a person is called for."""

import pytest

from ralph.core import events
from ralph.core.ids import RunId, TaskId
from ralph.core.news import Kind, news_of
from ralph.core.outcome import Outcome
from ralph.core.spent import Spent
from ralph.core.task import Status

NOW = "2026-11-15T08:00:00.000000Z"
RUN = RunId("run-1")


def recorded(event: events.Event) -> events.Recorded:
    return events.Recorded(seq=1, time=NOW, run_id=RUN, event=event)


def ended(outcome: Outcome, **fields: object) -> events.RunEnded:
    return events.RunEnded(run_id=RUN, outcome=outcome, exit_code=0, **fields)  # type: ignore[arg-type]


def failed(attempt: int, reason: str | None = "it cannot be done") -> events.TaskFailed:
    return events.TaskFailed(
        task_id=TaskId("t-1"),
        title="Read the\nconfig",
        status=Status.FAILED,
        attempt=attempt,
        retry_count=0,
        strikes=0,
        reason=reason,
    )


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (Outcome.COMPLETE, Kind.COMPLETE),
        (Outcome.COMPLETE_WITH_FAILURES, Kind.COMPLETE),
        (Outcome.FAILURE, Kind.FAILED),
        (Outcome.BLOCKED, Kind.FAILED),
        (Outcome.ERROR, Kind.FAILED),
        (Outcome.PAUSED, Kind.PAUSED),
        (Outcome.LIMIT_REACHED, Kind.LIMIT),
        (Outcome.NO_PLAN, None),
        (Outcome.INTERRUPTED, None),
    ],
)
def test_every_outcome_is_news_of_a_kind_or_none(outcome: Outcome, kind: Kind | None) -> None:
    news = news_of(recorded(ended(outcome)))
    assert (news.kind if news else None) == kind


def test_the_end_says_what_was_done_and_what_it_cost() -> None:
    spent = Spent(sessions=3, reported=3, reported_usd=1.2)
    event = ended(Outcome.COMPLETE_WITH_FAILURES, done=4, failed=1, spent=spent)
    news = news_of(recorded(event))
    assert news is not None
    assert news.text == "complete: 4 done, 1 failed, cost $1.20"


def test_a_task_that_failed_for_good_is_news_on_one_line() -> None:
    news = news_of(recorded(failed(attempt=4, reason="tests fail\n\x1b[31mred")))
    assert news is not None
    assert news.kind is Kind.FAILED
    assert news.text == "failed: Read the config: tests fail \u241b[31mred"


def test_a_parent_that_fails_by_its_children_is_no_news_of_its_own() -> None:
    assert news_of(recorded(failed(attempt=0))) is None


@pytest.mark.parametrize(
    ("until", "kind"),
    [("2026-11-15T08:00:30.000000Z", None), ("2026-11-15T13:00:00.000000Z", Kind.LIMIT)],
)
def test_only_a_long_wait_is_news(until: str, kind: Kind | None) -> None:
    event = events.RunWaiting(run_id=RUN, reason="claude: out of quota", until=until)
    news = news_of(recorded(event))
    assert (news.kind if news else None) == kind


def test_a_pause_is_news() -> None:
    news = news_of(recorded(events.RunPaused(run_id=RUN, reason="paused by a person")))
    assert news is not None
    assert (news.kind, news.text) == (Kind.PAUSED, "paused: paused by a person")
