"""What a person is called for."""

import pytest

from ralph.core import events
from ralph.core.cost import CostSummary
from ralph.core.ids import RunId, TaskId
from ralph.core.notifications import NotificationKind, notification_of
from ralph.core.run import RunOutcome
from ralph.core.task import TaskStatus

NOW = "2026-11-15T08:00:00.000000Z"
RUN = RunId("run-1")


def recorded(event: events.Event) -> events.RecordedEvent:
    return events.RecordedEvent(seq=1, time=NOW, run_id=RUN, event=event)


def ended(outcome: RunOutcome, **fields: object) -> events.RunEnded:
    return events.RunEnded(run_id=RUN, outcome=outcome, exit_code=0, **fields)  # type: ignore[arg-type]


def failed(attempt: int, reason: str | None = "it cannot be done") -> events.TaskFailed:
    return events.TaskFailed(
        task_id=TaskId("t-1"),
        title="Read the\nconfig",
        status=TaskStatus.FAILED,
        attempt=attempt,
        retry_count=0,
        strikes=0,
        reason=reason,
    )


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (RunOutcome.COMPLETE, NotificationKind.COMPLETE),
        (RunOutcome.COMPLETE_WITH_FAILURES, NotificationKind.COMPLETE),
        (RunOutcome.FAILURE, NotificationKind.FAILED),
        (RunOutcome.BLOCKED, NotificationKind.FAILED),
        (RunOutcome.ERROR, NotificationKind.FAILED),
        (RunOutcome.PAUSED, NotificationKind.PAUSED),
        (RunOutcome.LIMIT_REACHED, NotificationKind.LIMIT),
        (RunOutcome.NO_PLAN, None),
        (RunOutcome.INTERRUPTED, None),
    ],
)
def test_every_outcome_is_news_of_a_kind_or_none(
    outcome: RunOutcome, kind: NotificationKind | None
) -> None:
    news = notification_of(recorded(ended(outcome)))
    assert (news.kind if news else None) == kind


def test_the_end_says_what_was_done_and_what_it_cost() -> None:
    spent = CostSummary(sessions=3, reported=3, reported_usd=1.2)
    event = ended(RunOutcome.COMPLETE_WITH_FAILURES, done=4, failed=1, spent=spent)
    news = notification_of(recorded(event))
    assert news is not None
    assert news.text == "complete: 4 done, 1 failed, cost $1.20"


def test_a_task_that_failed_for_good_is_news_on_one_line() -> None:
    news = notification_of(recorded(failed(attempt=4, reason="tests fail\n\x1b[31mred")))
    assert news is not None
    assert news.kind is NotificationKind.FAILED
    assert news.text == "failed: Read the config: tests fail \u241b[31mred"


def test_a_parent_that_fails_by_its_children_is_no_news_of_its_own() -> None:
    assert notification_of(recorded(failed(attempt=0))) is None


@pytest.mark.parametrize(
    ("until", "kind"),
    [
        ("2026-11-15T08:00:30.000000Z", None),
        ("2026-11-15T13:00:00.000000Z", NotificationKind.LIMIT),
    ],
)
def test_only_a_long_wait_is_news(until: str, kind: NotificationKind | None) -> None:
    event = events.RunWaiting(run_id=RUN, reason="claude: out of quota", until=until)
    news = notification_of(recorded(event))
    assert (news.kind if news else None) == kind


def test_a_pause_is_news() -> None:
    news = notification_of(recorded(events.RunPaused(run_id=RUN, reason="paused by a person")))
    assert news is not None
    assert (news.kind, news.text) == (NotificationKind.PAUSED, "paused: paused by a person")
