"""Events: what they say about a move, how they are written down, and the way back to the state."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ralph.core import events
from ralph.core.errors import IllegalTransition
from ralph.core.ids import FeatureId, RunId, TaskId, WorkerId
from ralph.core.run import RunOutcome
from ralph.core.task import Feature, FeatureStatus, Task, TaskEdit, TaskStatus, TaskType
from ralph.core.transitions import (
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
    event_of_transition,
)
from tests.core.replay import replay
from tests.core.small_graph import a_task

TASK = TaskId("t-1")
WORKER = WorkerId("agent-1")
TRANSITIONS: tuple[Transition, ...] = (
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


class TestMoved:
    @pytest.mark.parametrize(
        ("before", "transition", "kind"),
        [
            ("pending", Claimed(WORKER), events.TaskClaimed),
            ("in_progress", Accepted(), events.TaskDone),
            ("in_progress", Rejected("red"), events.TaskRejected),
            ("in_progress", Struck("silent"), events.TaskStruck),
            ("in_progress", Released("interrupted"), events.TaskReleased),
            ("in_progress", Postponed("later"), events.TaskReleased),
            ("in_progress", Conflicted("both in a.py"), events.TaskConflicted),
            ("in_progress", GaveUp("impossible"), events.TaskFailed),
            ("pending", Blocked("held"), events.TaskBlocked),
            ("blocked", Unblocked(), events.TaskUnblocked),
            ("failed", Retried(), events.TaskReopened),
            ("done", Reset(), events.TaskReopened),
            ("pending", ChildrenDone(), events.TaskDone),
            ("pending", ChildFailed("1"), events.TaskFailed),
            ("done", ChildReopened(), events.TaskReopened),
        ],
        ids=str,
    )
    def test_each_move_has_its_event(
        self, before: str, transition: Transition, kind: type[events.Event]
    ) -> None:
        after = advance(a_task(status=TaskStatus(before)), transition)
        event = event_of_transition(after, transition)
        assert type(event) is kind
        assert (event.task_id, event.status) == (after.id, after.status)

    @pytest.mark.parametrize("last", [Rejected("red"), Struck("silent")], ids=repr)
    def test_the_try_that_was_one_too_many_is_told_as_a_failure(self, last: Transition) -> None:
        before = a_task(status=TaskStatus.IN_PROGRESS, max_retries=0, strikes=2)
        assert isinstance(event_of_transition(advance(before, last), last), events.TaskFailed)

    def test_a_release_says_why_even_where_an_older_reason_is_kept(self) -> None:
        back = Released("interrupted")
        after = advance(a_task(status=TaskStatus.IN_PROGRESS, reason="red"), back)
        assert after.reason == "red"
        assert event_of_transition(after, back).reason == "interrupted"


class TestReplay:
    @given(st.lists(st.sampled_from(TRANSITIONS), max_size=30))
    def test_any_life_of_a_task_can_be_told_again(self, steps: list[Transition]) -> None:
        task = a_task(max_retries=1)
        recorded: list[events.Event] = [events.TaskAdded(task=task)]
        for step in steps:
            try:
                task = advance(task, step)
            except IllegalTransition:
                continue
            recorded.append(event_of_transition(task, step))
        assert replay(recorded).tasks == {task.id: task}

    def test_edits_change_what_they_name(self) -> None:
        edit = TaskEdit(title="new", parent_id=TaskId("t-0"), priority=3)
        recorded = [
            events.TaskAdded(task=a_task(description="kept")),
            events.TaskEdited(task_id=TASK, edit=edit),
        ]
        replayed = replay(recorded).tasks[TASK]  # type: ignore[arg-type]
        assert replayed.title == "new"
        assert (replayed.parent_id, replayed.priority, replayed.description) == ("t-0", 3, "kept")

    def test_a_new_feature_makes_it_part_of_one(self) -> None:
        recorded = [
            events.TaskAdded(task=a_task()),
            events.TaskEdited(task_id=TASK, edit=TaskEdit(feature_id=FeatureId("f-1"))),
        ]
        assert replay(recorded).tasks[TASK].task_type is TaskType.FEATURE  # type: ignore[arg-type]

    def test_edges_come_and_go_and_go_with_their_tasks(self) -> None:
        a, b, c = TaskId("a"), TaskId("b"), TaskId("c")
        recorded = [
            *(events.TaskAdded(task=a_task(name)) for name in (a, b, c)),
            events.EdgeAdded(blocker_id=a, blocked_id=b),
            events.EdgeAdded(blocker_id=b, blocked_id=c),
            events.EdgeAdded(blocker_id=a, blocked_id=c),
            events.EdgeRemoved(blocker_id=a, blocked_id=c),
            events.TaskDeleted(task_id=b, title="b"),
        ]
        replayed = replay(recorded)  # type: ignore[arg-type]
        assert set(replayed.tasks) == {a, c}
        assert replayed.edges == set()

    def test_a_take_over_changes_only_the_hands(self) -> None:
        held = advance(a_task(reason="red"), Claimed(WORKER))
        other = WorkerId("agent-2")
        recorded = [
            events.TaskAdded(task=a_task(reason="red")),
            event_of_transition(held, Claimed(WORKER)),
            event_of_transition(replace(held, claimed_by=other), Claimed(other)),
        ]
        assert replay(recorded).tasks[TASK] == replace(held, claimed_by=other)

    def test_what_changes_no_state_is_passed_over(self) -> None:
        recorded: list[events.Event] = [
            events.Warned(message="x"),
            events.TaskLogged(task_id=TASK, message="x"),
            events.RunResumed(run_id=RunId("r")),
        ]
        assert replay(recorded).tasks == {}


class TestWriting:
    @given(st.from_type(Task))
    def test_an_event_survives_being_written_down(self, task: Task) -> None:
        event = events.TaskAdded(task=task)
        assert events.DECODE(events.ENCODE(event)) == event

    def test_an_edit_tells_none_from_not_changed(self) -> None:
        event = events.TaskEdited(task_id=TASK, edit=TaskEdit(parent_id=None))
        assert events.DECODE(events.ENCODE(event)) == event

    def test_a_feature_survives_too(self) -> None:
        feature = Feature(id="f-1", name="x", status=FeatureStatus.READY)  # type: ignore[arg-type]
        event = events.FeatureAdded(feature=feature)
        assert events.DECODE(events.ENCODE(event)) == event

    def test_a_line_is_one_flat_object(self) -> None:
        ended = events.RunEnded(run_id=RunId("r-1"), outcome=RunOutcome.COMPLETE, exit_code=0)
        recorded = events.RecordedEvent(seq=7, time="now", run_id=RunId("r-1"), event=ended)
        line = json.loads(events.event_json(recorded))
        assert (line["seq"], line["time"], line["run_id"]) == (7, "now", "r-1")
        assert (line["event"], line["outcome"]) == ("run_ended", "complete")
        assert b"\n" not in events.event_json(recorded)
