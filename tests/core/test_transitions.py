"""The state machine: every status meets every transition."""

import pytest
from msgspec.structs import replace

from ralph.core.errors import IllegalTransition
from ralph.core.ids import WorkerId
from ralph.core.task import Task, TaskStatus
from ralph.core.transitions import (
    BY_HAND,
    STRIKES_PER_RETRY,
    Accepted,
    Blocked,
    ChildFailed,
    ChildrenDone,
    ChildReopened,
    Claimed,
    Conflicted,
    GaveUp,
    Postponed,
    Rejected,
    Released,
    Reset,
    Retried,
    Struck,
    Transition,
    Unblocked,
    advance,
    steps_to_done,
    steps_to_failed,
    steps_to_pending,
)
from tests.core.small_graph import a_task

WORKER = WorkerId("agent-1")

PENDING, IN_PROGRESS, DONE, BLOCKED, FAILED = (
    TaskStatus.PENDING,
    TaskStatus.IN_PROGRESS,
    TaskStatus.DONE,
    TaskStatus.BLOCKED,
    TaskStatus.FAILED,
)

ALL: tuple[Transition, ...] = (
    Claimed(WORKER),
    Accepted(),
    Rejected("red"),
    Struck("silent"),
    Released("interrupted"),
    Postponed("not judged yet"),
    Conflicted("both in a.py"),
    GaveUp("impossible"),
    Blocked("held"),
    Unblocked(),
    Retried(),
    Reset(),
    ChildrenDone(),
    ChildFailed("1 of its children failed"),
    ChildReopened(),
)

LEGAL: dict[tuple[TaskStatus, type], TaskStatus] = {
    (PENDING, Claimed): IN_PROGRESS,
    (IN_PROGRESS, Accepted): DONE,
    (IN_PROGRESS, Rejected): PENDING,
    (IN_PROGRESS, Struck): PENDING,
    (IN_PROGRESS, Released): PENDING,
    (IN_PROGRESS, Postponed): PENDING,
    (IN_PROGRESS, Conflicted): PENDING,
    (IN_PROGRESS, GaveUp): FAILED,
    (PENDING, Blocked): BLOCKED,
    (IN_PROGRESS, Blocked): BLOCKED,
    (BLOCKED, Unblocked): PENDING,
    (FAILED, Retried): PENDING,
    (BLOCKED, Retried): PENDING,
    (PENDING, Reset): PENDING,
    (IN_PROGRESS, Reset): PENDING,
    (DONE, Reset): PENDING,
    (BLOCKED, Reset): PENDING,
    (FAILED, Reset): PENDING,
    (PENDING, ChildrenDone): DONE,
    (BLOCKED, ChildrenDone): DONE,
    (FAILED, ChildrenDone): DONE,
    (PENDING, ChildFailed): FAILED,
    (DONE, ChildReopened): PENDING,
    (FAILED, ChildReopened): PENDING,
}

PAIRS = [(status, transition) for status in TaskStatus for transition in ALL]


def said(pair: tuple[TaskStatus, Transition]) -> str:
    return f"{pair[0]}-{type(pair[1]).__name__}"


def in_status(status: TaskStatus) -> Task:
    held = status is IN_PROGRESS
    return a_task(status=status, attempt=1, claimed_by=WORKER if held else None)


@pytest.mark.parametrize("pair", [p for p in PAIRS if (p[0], type(p[1])) in LEGAL], ids=said)
def test_a_legal_step_leads_where_the_table_says(pair: tuple[TaskStatus, Transition]) -> None:
    status, transition = pair
    assert advance(in_status(status), transition).status is LEGAL[status, type(transition)]


@pytest.mark.parametrize("pair", [p for p in PAIRS if (p[0], type(p[1])) not in LEGAL], ids=said)
def test_any_other_step_is_refused_with_the_tasks_state(
    pair: tuple[TaskStatus, Transition],
) -> None:
    status, transition = pair
    with pytest.raises(IllegalTransition, match=f"task t-1 is {status}, so it cannot be "):
        advance(in_status(status), transition)


@pytest.mark.parametrize("pair", PAIRS, ids=said)
def test_only_a_task_in_progress_is_in_somebodys_hands(pair: tuple[TaskStatus, Transition]) -> None:
    status, transition = pair
    if (status, type(transition)) in LEGAL:
        after = advance(in_status(status), transition)
        assert (after.claimed_by is not None) == (after.status is IN_PROGRESS)


def test_a_claim_takes_the_next_number_and_keeps_the_reason() -> None:
    before = a_task(attempt=4, reason="red", retry_count=1, strikes=2)
    after = advance(before, Claimed(WORKER))
    assert (after.attempt, after.claimed_by) == (5, WORKER)
    assert (after.reason, after.retry_count, after.strikes) == ("red", 1, 2)


def test_max_retries_of_three_allows_four_tries() -> None:
    task = a_task(max_retries=3)
    tries = 0
    while task.status is PENDING:
        task = advance(advance(task, Claimed(WORKER)), Rejected("red"))
        tries += 1
    assert (tries, task.status, task.retry_count) == (4, FAILED, 3)
    assert task.reason == "red"


def test_without_retries_the_first_rejection_fails() -> None:
    task = advance(a_task(max_retries=0), Claimed(WORKER))
    assert advance(task, Rejected("red")).status is FAILED


def test_strikes_add_up_to_a_retry_and_start_again() -> None:
    task = a_task(max_retries=1)
    counted = []
    for _ in range(STRIKES_PER_RETRY):
        task = advance(advance(task, Claimed(WORKER)), Struck("silent"))
        counted.append((task.strikes, task.retry_count))
    assert counted == [(1, 0), (2, 0), (0, 1)]


def test_strikes_can_fail_a_task_whose_retries_are_spent() -> None:
    task = a_task(max_retries=0)
    for _ in range(STRIKES_PER_RETRY):
        task = advance(advance(task, Claimed(WORKER)), Struck("silent"))
    assert (task.status, task.reason, task.strikes) == (FAILED, "silent", 0)


def test_a_rejection_clears_the_strikes() -> None:
    task = a_task(status=IN_PROGRESS, strikes=2, attempt=3)
    assert advance(task, Rejected("red")).strikes == 0


@pytest.mark.parametrize("back", [Released("interrupted"), Postponed("not judged yet")], ids=repr)
def test_giving_back_costs_nothing(back: Transition) -> None:
    before = a_task(status=IN_PROGRESS, attempt=3, retry_count=1, strikes=2, reason="red")
    assert advance(before, back) == replace(before, status=PENDING, claimed_by=None)


def test_done_forgets_why_it_was_rejected() -> None:
    before = a_task(status=IN_PROGRESS, reason="red", strikes=1, retry_count=2)
    after = advance(before, Accepted())
    assert (after.reason, after.strikes, after.retry_count) == (None, 0, 2)


def test_a_retry_remembers_why_it_failed_and_a_reset_does_not() -> None:
    failed = a_task(status=FAILED, reason="red", retry_count=3, attempt=4)
    retried, reset = advance(failed, Retried()), advance(failed, Reset())
    assert (retried.reason, retried.retry_count, retried.attempt) == ("red", 0, 4)
    assert (reset.reason, reset.retry_count, reset.attempt) == (None, 0, 4)


@pytest.mark.parametrize(
    ("transition", "status", "verified"),
    [
        (Accepted(verified=True), DONE, "passed"),
        (Accepted(), DONE, None),
        (Rejected("wrong", by_verifier=True), PENDING, "failed"),
        (Rejected("a gate is red"), PENDING, None),
        (Postponed("Ralph was stopped"), PENDING, "failed"),
        (Conflicted("both in a.py"), PENDING, "failed"),
        (Reset(), PENDING, None),
    ],
    ids=repr,
)
def test_a_task_says_what_its_verifier_has_said_last(
    transition: Transition, status: TaskStatus, verified: str | None
) -> None:
    before = a_task(status=IN_PROGRESS, verification_status="failed")
    after = advance(before, transition)
    assert (after.status, after.verification_status) == (status, verified)


def test_a_verifier_that_refuses_too_often_fails_the_task() -> None:
    last = a_task(status=IN_PROGRESS, retry_count=3, max_retries=3)
    after = advance(last, Rejected("verification failed: wrong", by_verifier=True))
    assert (after.status, after.verification_status) == (FAILED, "failed")
    assert (after.retry_count, after.reason) == (3, "verification failed: wrong")


def test_a_block_says_why_until_it_is_lifted() -> None:
    held = advance(a_task(), Blocked("ask Ada"))
    assert held.reason == "ask Ada"
    assert advance(held, Unblocked()).reason is None


@pytest.mark.parametrize("status", list(TaskStatus))
def test_a_person_can_walk_any_task_anywhere_by_legal_steps(status: TaskStatus) -> None:
    task = in_status(status)
    assert walk(task, steps_to_done(task)).status is DONE
    assert walk(task, steps_to_failed(task, "dropped")).status is FAILED
    assert walk(task, steps_to_pending(task)).status is PENDING


@pytest.mark.parametrize("status", [DONE, FAILED, PENDING])
def test_a_task_that_is_there_already_is_not_moved(status: TaskStatus) -> None:
    task = in_status(status)
    way = {
        DONE: steps_to_done(task),
        FAILED: steps_to_failed(task, task.reason or ""),
        PENDING: steps_to_pending(task),
    }
    assert way[status] == ()


def test_a_failed_task_gets_another_reason_from_a_person() -> None:
    task = in_status(FAILED)
    again = walk(task, steps_to_failed(task, "the API is gone"))
    assert (again.status, again.reason) == (FAILED, "the API is gone")
    assert steps_to_failed(again, "") == ()


def test_a_forced_task_was_in_a_persons_hands() -> None:
    assert Claimed(BY_HAND) in steps_to_done(a_task())


def walk(task: Task, steps: tuple[Transition, ...]) -> Task:
    for step in steps:
        task = advance(task, step)
    return task
