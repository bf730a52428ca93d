"""What every store promises about runs, sessions, messages and events."""

from itertools import pairwise

import pytest
from msgspec.structs import replace

from ralph.core.errors import ClaimLost, Missing
from ralph.core.events import (
    GuidanceDelivered,
    RunEnded,
    SessionEnded,
    TaskAdded,
    TaskClaimed,
    Warned,
    WorkCommitted,
)
from ralph.core.gates import GateResult
from ralph.core.graph import Schedule
from ralph.core.ids import RunId, SessionId
from ralph.core.run import AllTasks, RunOutcome
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.session_events import VerificationEnded, VerificationStarted
from ralph.core.session_output import ToolUsage
from ralph.core.snapshot import Snapshot
from ralph.core.task import TaskEdit
from ralph.core.transitions import Blocked, Rejected, Released, Unblocked
from ralph.store.costs import CostFilter
from ralph.store.messages import ControlWord
from ralph.store.sessions import Checkpoint, Session, WorkCheck
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from tests.contracts.store_test_helpers import (
    RUN,
    WORKER,
    Contract,
    add,
    an_owner,
    begin,
    claim,
    claim_of,
    fail,
    settle,
    start,
    take_over,
    work,
)
from tests.core.replay import replay
from tests.doubles.clock import FrozenClock

LATER = RunId("run-2")
RED = GateResult(name="test", passed=False, code=1, output="1 failed")
GREEN = GateResult(name="lint", passed=True, code=0)


def end(store: Store, run: RunId = RUN) -> None:
    event = RunEnded(run_id=run, outcome=RunOutcome.COMPLETE, exit_code=0)
    store.runs.end(run, RunOutcome.COMPLETE, "every task is done", event)


def end_session(store: Store, session: Session) -> None:
    event = SessionEnded(session_id=session.id, task_id=session.task_id, ended=EndingKind.FINISHED)
    store.sessions.end(session, claim_of(store, session), event)


class RunsContract(Contract):
    """One invocation of the loop after the other."""

    def test_a_run_lives_until_it_ends(self, store: Store) -> None:
        run = begin(store)
        assert store.runs.get(RUN) == run
        assert store.runs.live() == [(run, an_owner())]
        end(store)
        assert store.runs.live() == []
        ended = store.runs.get(RUN)
        assert ended is not None
        assert ended.ended_at
        assert (ended.outcome, ended.reason) == (RunOutcome.COMPLETE, "every task is done")

    def test_an_unknown_run_is_nobody(self, store: Store) -> None:
        assert store.runs.get(RunId("run-nobody")) is None

    def test_runs_are_told_newest_first(self, store: Store) -> None:
        for number in range(3):
            begin(store, RunId(f"run-{number}"))
        assert [run.id for run in store.runs.newest()] == ["run-2", "run-1", "run-0"]
        assert [run.id for run in store.runs.newest(limit=2)] == ["run-2", "run-1"]
        assert len(store.runs.newest(limit=0)) == 3

    def test_a_baseline_is_kept_with_its_run(self, store: Store) -> None:
        begin(store)
        store.runs.save_baseline(RUN, (RED, GREEN))
        run = store.runs.get(RUN)
        assert run is not None
        assert run.baseline == (RED, GREEN)

    def test_a_run_begins_and_ends_in_the_events(self, store: Store) -> None:
        begin(store)
        end(store)
        recorded = store.events.select()
        assert [one.run_id for one in recorded] == [RUN, RUN]
        assert isinstance(recorded[-1].event, RunEnded)


class SessionsContract(Contract):
    """Sessions and their marks."""

    def test_a_session_is_kept_as_it_began(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        session = start(store, claim(store), model="opus", log="runs/1.log")
        assert store.sessions.get(a, 1) == session
        assert store.sessions.select() == [session]
        assert store.sessions.get(a, 2) is None

    def test_a_session_needs_a_claim(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        store.tasks.reset(a)
        with pytest.raises(ClaimLost, match="task t-a is no longer held"):
            start(store, taken)
        assert store.sessions.get(a, 1) is None
        assert store.claims.base(a) is None

    def test_an_ended_session_keeps_its_final_message_and_cost(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        session = start(store, claim(store))
        ended = replace(
            session,
            checkpoint=Checkpoint.ENDED,
            ended_at="2026-01-01T00:10:00.000000Z",
            after=Snapshot(head="c1", tree="t1", index="i1", dirty=("a.py",)),
            ending=SessionEnding(ended=EndingKind.FINISHED, message="<task-done>", cost_usd=0.25),
            commits=("c1",),
            duration_s=600.0,
        )
        end_session(store, ended)
        assert store.sessions.get(a, 1) == ended

    def test_what_a_session_told_outlives_its_end(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        session = start(store, claim(store))
        store.sessions.save_socket_claim(session.id, "done", claim_of(store, session))
        end_session(store, replace(session, checkpoint=Checkpoint.ENDED))
        kept = store.sessions.get(a, 1)
        assert kept is not None
        assert kept.socket_claim == "done"

    def test_what_its_tools_did_outlives_its_end(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        session = start(store, claim(store))
        uses = ToolUsage(tokens=1200, errors=2, last_error="Bash: exit code 1")
        store.sessions.save_tool_usage(session.id, uses, claim_of(store, session))
        end_session(store, replace(session, checkpoint=Checkpoint.ENDED))
        kept = store.sessions.get(a, 1)
        assert kept is not None
        assert kept.tools == uses

    def test_marks_and_gates_are_kept(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        session = start(store, taken)
        store.sessions.save_checkpoint(session.id, Checkpoint.GATED, taken, (RED, GREEN))
        store.sessions.save_checkpoint(session.id, Checkpoint.ACCEPTED, taken)
        kept = store.sessions.get(a, 1)
        assert kept is not None
        assert (kept.checkpoint, kept.gates) == (Checkpoint.ACCEPTED, (RED, GREEN))

    def test_what_ralph_commits_of_a_sessions_work_belongs_to_the_session(
        self, store: Store
    ) -> None:
        begin(store)
        task = add(store, "a")
        taken = claim(store)
        started = start(store, taken)
        event = WorkCommitted(task_id=task, commit="c2", files=1)
        store.sessions.add_commit(started.id, "c1", taken, replace(event, commit="c1"))
        store.sessions.add_commit(started.id, "c2", taken, event)
        kept = store.sessions.get(task, 1)
        assert kept is not None
        assert kept.commits == ("c1", "c2")
        last = store.events.select(limit=0)[-1]
        assert (last.event, last.run_id) == (event, started.run_id)
        with pytest.raises(Missing, match="there is no session t-nobody:1"):
            store.sessions.add_commit(SessionId("t-nobody:1"), "c3", taken, event)

    def test_who_was_asked_to_stop_stays_asked(self, store: Store) -> None:
        begin(store)
        store.messages.send_control(RUN, ControlWord.PAUSE)
        assert not store.messages.is_stop_requested(RUN)
        store.messages.send_control(RUN, ControlWord.STOP)
        store.messages.take_controls(RUN)
        assert store.messages.is_stop_requested(RUN)
        assert not store.messages.is_stop_requested(LATER)

    def test_what_is_passed_on_is_heard_once_and_told_nobody(self, store: Store) -> None:
        begin(store)
        store.messages.send_control(RUN, ControlWord.STOP, reason="enough")
        [asked] = store.messages.take_controls(RUN)
        last = store.events.last_seq()
        store.messages.forward_control(asked, LATER)
        assert store.events.last_seq() == last
        assert store.messages.take_controls(RUN) == []
        [heard] = store.messages.take_controls(LATER)
        assert (heard.word, heard.reason) == (ControlWord.STOP, "enough")
        assert store.messages.take_controls(LATER) == []

    def test_a_rebased_session_has_other_commits(self, store: Store) -> None:
        begin(store)
        task = add(store, "a")
        taken = claim(store)
        started = start(store, taken)
        store.sessions.add_commit(
            started.id, "c1", taken, WorkCommitted(task_id=task, commit="c1", files=1)
        )
        store.sessions.replace_commits(started.id, ("d1", "d2"), taken)
        found = store.sessions.get(started.task_id, started.attempt)
        assert found is not None
        assert found.commits == ("d1", "d2")
        with pytest.raises(Missing, match="there is no session t-nobody:1"):
            store.sessions.replace_commits(SessionId("t-nobody:1"), ("d1",), taken)

    def test_sessions_are_told_oldest_first_by_task_and_run(self, store: Store) -> None:
        begin(store)
        begin(store, LATER)
        a, b = add(store, "a"), add(store, "b", priority=1)
        for run in (RUN, LATER):
            taken = claim(store)
            start(store, taken, run_id=run)
            settle(store, taken, Released("interrupted"))
        taken = claim(store)
        settle(store, taken)
        start(store, claim(store), run_id=LATER)
        sessions = [(one.task_id, one.attempt) for one in store.sessions.select()]
        assert sessions == [(a, 1), (a, 2), (b, 1)]
        assert [one.attempt for one in store.sessions.select(task=a)] == [1, 2]
        assert [one.task_id for one in store.sessions.select(run=LATER)] == [a, b]
        assert [one.task_id for one in store.sessions.select(limit=2)] == [a, b]
        assert [one.attempt for one in store.sessions.select(task=a, limit=1)] == [2]

    def test_a_usage_limit_holds_for_its_agent_until_the_reset(
        self, store: Store, clock: FrozenClock
    ) -> None:
        begin(store)
        add(store, "a")
        session = start(store, claim(store))
        assert store.sessions.usage_limit_until(session.agent) is None
        until = clock.now() + 600
        limited = replace(
            session, ending=SessionEnding(ended=EndingKind.USAGE_LIMIT, resets_at=until)
        )
        store.sessions.end(limited, claim_of(store, session), Warned(message="out"))
        assert store.sessions.usage_limit_until(session.agent) == until
        assert store.sessions.usage_limit_until("another") is None
        clock.advance(601)
        assert store.sessions.usage_limit_until(session.agent) is None

    def test_a_check_is_kept_with_its_verdict_and_its_cost(
        self, store: Store, clock: FrozenClock
    ) -> None:
        begin(store)
        add(store, "a")
        taken = claim(store)
        session = start(store, taken)
        check = WorkCheck(
            session_id=session.id, number=1, task_id=session.task_id, run_id=RUN, agent="other"
        )
        store.checks.save(check, taken, "a subscription")
        assert store.checks.of_session(session.id) == [check]
        begun = store.events.select()[-1].event
        assert isinstance(begun, VerificationStarted)
        assert (begun.agent, begun.account) == ("other", "a subscription")
        until = clock.now() + 60
        ending = SessionEnding(ended=EndingKind.USAGE_LIMIT, resets_at=until, cost_usd=0.5)
        limited = replace(check, ending=ending, ended_at="2026-01-01T00:00:00.000000Z")
        store.checks.save(limited, taken)
        passed = replace(
            limited, number=2, passed=True, ending=SessionEnding(ended=EndingKind.FINISHED)
        )
        store.checks.save(passed, taken)
        ended = store.events.select()[-1].event
        assert isinstance(ended, VerificationEnded)
        assert (ended.number, ended.passed, ended.ended) == (2, True, EndingKind.FINISHED)
        assert store.checks.of_session(session.id) == [limited, passed]
        assert store.sessions.usage_limit_until("other") == until
        spent = store.costs.total(CostFilter())
        assert (spent.sessions, spent.known_usd) == (2, 0.5)
        store.sessions.clear_usage_limits()
        assert store.sessions.usage_limit_until("other") is None

    def test_a_person_may_lift_a_limit(self, store: Store, clock: FrozenClock) -> None:
        begin(store)
        add(store, "a")
        session = start(store, claim(store))
        ending = SessionEnding(ended=EndingKind.USAGE_LIMIT, resets_at=clock.now() + 600)
        end_session(store, replace(session, ending=ending))
        store.sessions.clear_usage_limits()
        assert store.sessions.usage_limit_until(session.agent) is None

    def test_work_left_in_a_checkout_is_found_again(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        start(store, taken)
        assert store.sessions.unfinished_in("/x") is None
        settle(store, taken, Rejected("red"))
        left = store.sessions.unfinished_in("/x")
        assert left is not None
        assert (left.task_id, left.attempt) == (a, 1)
        assert store.sessions.unfinished_in("/elsewhere") is None
        store.tasks.apply(a, [Blocked("not now")])
        assert store.sessions.unfinished_in("/x") is not None
        store.claims.forget_base(a, None)
        assert store.sessions.unfinished_in("/x") is None

    def test_a_worker_s_session_may_be_in_another_checkout_than_its_run(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        start(store, taken, checkout="/x/apart")
        settle(store, taken, Rejected("red"))
        assert store.sessions.unfinished_in("/x") is None
        left = store.sessions.unfinished_in("/x/apart")
        assert left is not None
        assert (left.task_id, left.checkout) == (a, "/x/apart")

    def test_work_that_was_accepted_is_not_left_over(self, store: Store) -> None:
        begin(store)
        add(store, "a")
        taken = claim(store)
        start(store, taken)
        settle(store, taken)
        assert store.sessions.unfinished_in("/x") is None


class MessagesContract(Contract):
    """What people say to a running loop."""

    def test_guidance_can_be_looked_at_without_being_heard(self, store: Store) -> None:
        a = add(store, "a")
        store.messages.add_guidance("use the pool", a)
        store.messages.add_guidance("be quick", None)
        before = store.events.last_seq()
        assert store.messages.peek_guidance(a) == ["use the pool", "be quick"]
        assert store.events.last_seq() == before
        assert store.messages.guidance(a, 1) == ["use the pool", "be quick"]
        assert store.messages.peek_guidance(a) == ["use the pool", "be quick"]

    def test_guidance_waits_for_the_next_brief_and_stays_with_its_task(self, store: Store) -> None:
        a, b = add(store, "a"), add(store, "b")
        store.messages.add_guidance("use the new API", a)
        store.messages.add_guidance("be brief", None)
        assert store.messages.guidance(a, 1) == ["use the new API", "be brief"]
        assert store.events.select()[-1].event == GuidanceDelivered(task_id=a, attempt=1, count=2)
        assert store.messages.guidance(b, 1) == []
        store.messages.add_guidance("and hurry", a)
        assert store.messages.guidance(a, 2) == ["use the new API", "be brief", "and hurry"]
        assert store.events.select()[-1].event == GuidanceDelivered(task_id=a, attempt=2, count=1)
        seq = store.events.last_seq()
        assert len(store.messages.guidance(a, 3)) == 3
        assert store.events.last_seq() == seq

    def test_a_word_is_handed_out_once_to_its_run(self, store: Store) -> None:
        begin(store)
        begin(store, LATER)
        a = add(store, "a")
        store.messages.send_control(RUN, ControlWord.PAUSE)
        store.messages.send_control(RUN, ControlWord.SKIP, a, "not now")
        assert store.messages.take_controls(LATER) == []
        taken = store.messages.take_controls(RUN)
        asked = [(one.word, one.task_id, one.reason) for one in taken]
        assert asked == [(ControlWord.PAUSE, None, ""), (ControlWord.SKIP, a, "not now")]
        assert store.messages.take_controls(RUN) == []


class EventsContract(Contract):
    """What happened, in order."""

    def test_an_event_is_kept_with_its_number_and_run(self, store: Store) -> None:
        assert store.events.last_seq() == 0
        begin(store)
        store.events.record(Warned(message="one"), RUN)
        store.events.record(Warned(message="two"))
        seq = store.events.last_seq()
        one, two = store.events.select(after=seq - 2)
        assert (one.event, one.run_id) == (Warned(message="one"), RUN)
        assert (two.event, two.run_id) == (Warned(message="two"), None)
        assert two.seq == seq
        assert two.time

    def test_events_are_read_in_pages(self, store: Store) -> None:
        for number in range(5):
            store.events.record(Warned(message=str(number)))
        first = store.events.select(limit=2)
        rest = store.events.select(after=first[-1].seq)
        assert [one.event.message for one in first + rest if isinstance(one.event, Warned)] == [
            "0",
            "1",
            "2",
            "3",
            "4",
        ]
        assert all(one.seq < two.seq for one, two in pairwise(first + rest))
        assert store.events.select(after=store.events.last_seq()) == []

    def test_an_event_tells_the_state_after_it(self, store: Store) -> None:
        a = add(store, "a")
        (added,) = store.events.select()
        assert added.event == TaskAdded(task=store.tasks.find(a))
        taken = store.claims.claim(WORKER, RUN, AllTasks(), Schedule.PRIORITY)
        assert taken is not None
        (claimed,) = store.events.select(after=added.seq)
        assert isinstance(claimed.event, TaskClaimed)
        assert claimed.run_id == RUN
        assert (claimed.event.task_id, claimed.event.worker) == (a, WORKER)
        assert claimed.event.attempt == 1

    def test_replaying_the_events_gives_the_stored_graph(self, store: Store) -> None:
        top = add(store, "top")
        a, b = add(store, "a", under=top), add(store, "b", under=top)
        late = add(store, "late", after=[top, a])
        gone = add(store, "gone", after=[b])
        fail(store, a)
        settle(store, claim(store), Rejected("red"))
        settle(store, claim(store), Released("interrupted"))
        work(store, b)
        store.tasks.retry(a)
        store.tasks.edit(late, TaskEdit(title="later", priority=4))
        store.tasks.edit(top, TaskEdit(feature_id=store.features.add("search").id))
        store.tasks.edit(a, TaskEdit(feature_id=None))
        store.tasks.apply(late, [Blocked("held"), Unblocked()])
        store.tasks.unlink(a, late)
        store.tasks.delete(gone)
        taken = claim(store)
        take_over(store, taken)
        replayed = replay(one.event for one in store.events.select())
        stored = {task.id: task for task in store.tasks.select(TaskFilter())}
        for task in (*replayed.tasks.values(), *stored.values()):
            same = [replace(graph[task.id], updated_at="") for graph in (replayed.tasks, stored)]
            assert same[0] == same[1]
        assert replayed.edges == {(one.id, late) for one in store.tasks.blockers(late)}

    def test_a_sound_store_has_nothing_to_report(self, store: Store) -> None:
        top = add(store, "top")
        a = add(store, "a", under=top)
        add(store, "late", after=[top])
        work(store, a)
        assert store.check() == []


class HistoryContract(RunsContract, SessionsContract, MessagesContract, EventsContract):
    """Runs, sessions, messages and events."""
