"""What every store promises about runs, sessions, people's words and the journal."""

from itertools import pairwise

import pytest
from msgspec.structs import replace

from ralph.core.ended import Ended
from ralph.core.ending import Ending
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
from ralph.core.ids import RunId, SessionId
from ralph.core.order import Schedule
from ralph.core.outcome import Outcome
from ralph.core.replay import replay
from ralph.core.snapshot import Snapshot
from ralph.core.target import Everything
from ralph.core.task import Edit
from ralph.core.tool_uses import ToolUses
from ralph.core.transitions import Blocked, Rejected, Released, Unblocked
from ralph.ports.history import Check, Mark, Session, Word
from ralph.ports.ledger import Asked
from ralph.ports.store import Filter, Store
from ralph.testing.clock import FrozenClock
from ralph.testing.store_words import (
    OTHER,
    RUN,
    WORKER,
    Contract,
    add,
    an_owner,
    begin,
    claim,
    fail,
    settle,
    start,
    work,
)

LATER = RunId("run-2")
RED = GateResult(name="test", passed=False, code=1, output="1 failed")
GREEN = GateResult(name="lint", passed=True, code=0)


def end(store: Store, run: RunId = RUN) -> None:
    event = RunEnded(run_id=run, outcome=Outcome.COMPLETE, exit_code=0)
    store.end_run(run, Outcome.COMPLETE, "every task is done", event)


def end_session(store: Store, session: Session) -> None:
    event = SessionEnded(session_id=session.id, task_id=session.task_id, ended=Ended.FINISHED)
    store.end_session(session, event)


class RunsContract(Contract):
    """One invocation of the loop after the other."""

    def test_a_run_lives_until_it_ends(self, store: Store) -> None:
        run = begin(store)
        assert store.run(RUN) == run
        assert store.live_runs() == [(run, an_owner())]
        end(store)
        assert store.live_runs() == []
        ended = store.run(RUN)
        assert ended is not None
        assert ended.ended_at
        assert (ended.outcome, ended.reason) == (Outcome.COMPLETE, "every task is done")

    def test_an_unknown_run_is_nobody(self, store: Store) -> None:
        assert store.run(RunId("run-nobody")) is None

    def test_runs_are_told_newest_first(self, store: Store) -> None:
        for number in range(3):
            begin(store, RunId(f"run-{number}"))
        assert [run.id for run in store.runs()] == ["run-2", "run-1", "run-0"]
        assert [run.id for run in store.runs(limit=2)] == ["run-2", "run-1"]
        assert len(store.runs(limit=0)) == 3

    def test_a_baseline_is_kept_with_its_run(self, store: Store) -> None:
        begin(store)
        store.save_baseline(RUN, (RED, GREEN))
        run = store.run(RUN)
        assert run is not None
        assert run.baseline == (RED, GREEN)

    def test_a_run_begins_and_ends_in_the_journal(self, store: Store) -> None:
        begin(store)
        end(store)
        recorded = store.events()
        assert [one.run_id for one in recorded] == [RUN, RUN]
        assert isinstance(recorded[-1].event, RunEnded)


class SessionsContract(Contract):
    """Sessions and their marks."""

    def test_a_session_is_kept_as_it_began(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        session = start(store, claim(store), model="opus", log="runs/1.log")
        assert store.session(a, 1) == session
        assert store.sessions() == [session]
        assert store.session(a, 2) is None

    def test_a_session_needs_a_claim(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        store.reset(a)
        with pytest.raises(ClaimLost):
            start(store, taken)
        assert store.session(a, 1) is None
        assert store.base(a) is None

    def test_an_ended_session_keeps_its_final_message_and_cost(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        session = start(store, claim(store))
        ended = replace(
            session,
            mark=Mark.ENDED,
            ended_at="2026-01-01T00:10:00.000000Z",
            after=Snapshot(head="c1", tree="t1", index="i1", dirty=("a.py",)),
            ending=Ending(ended=Ended.FINISHED, message="<task-done>", cost_usd=0.25),
            commits=("c1",),
            duration_s=600.0,
        )
        end_session(store, ended)
        assert store.session(a, 1) == ended

    def test_what_a_session_told_outlives_its_end(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        session = start(store, claim(store))
        store.tell(session.id, "done")
        end_session(store, replace(session, mark=Mark.ENDED))
        kept = store.session(a, 1)
        assert kept is not None
        assert kept.told == "done"

    def test_what_its_tools_did_outlives_its_end(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        session = start(store, claim(store))
        uses = ToolUses(tokens=1200, errors=2, last_error="Bash: exit code 1")
        store.note_tools(session.id, uses)
        end_session(store, replace(session, mark=Mark.ENDED))
        kept = store.session(a, 1)
        assert kept is not None
        assert kept.tools == uses

    def test_marks_and_gates_are_kept(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        session = start(store, claim(store))
        store.mark_session(session.id, Mark.GATED, (RED, GREEN))
        store.mark_session(session.id, Mark.ACCEPTED)
        kept = store.session(a, 1)
        assert kept is not None
        assert (kept.mark, kept.gates) == (Mark.ACCEPTED, (RED, GREEN))

    def test_what_ralph_commits_of_a_sessions_work_belongs_to_the_session(
        self, store: Store
    ) -> None:
        begin(store)
        task = add(store, "a")
        started = start(store, claim(store))
        event = WorkCommitted(task_id=task, commit="c2", files=1)
        store.add_commit(started.id, "c1", replace(event, commit="c1"))
        store.add_commit(started.id, "c2", event)
        kept = store.session(task, 1)
        assert kept is not None
        assert kept.commits == ("c1", "c2")
        last = store.events(limit=0)[-1]
        assert (last.event, last.run_id) == (event, started.run_id)
        with pytest.raises(Missing):
            store.add_commit(SessionId("t-nobody:1"), "c3", event)

    def test_who_was_asked_to_stop_stays_asked(self, store: Store) -> None:
        begin(store)
        store.send(RUN, Word.PAUSE)
        assert not store.is_to_stop(RUN)
        store.send(RUN, Word.STOP)
        store.take_controls(RUN)
        assert store.is_to_stop(RUN)
        assert not store.is_to_stop(LATER)

    def test_what_is_passed_on_is_heard_once_and_told_nobody(self, store: Store) -> None:
        begin(store)
        store.send(RUN, Word.STOP, reason="enough")
        [asked] = store.take_controls(RUN)
        told = store.last_seq()
        store.forward(asked, LATER)
        assert store.last_seq() == told
        assert store.take_controls(RUN) == []
        [heard] = store.take_controls(LATER)
        assert (heard.word, heard.reason) == (Word.STOP, "enough")
        assert store.take_controls(LATER) == []

    def test_a_rebased_session_has_other_commits(self, store: Store) -> None:
        begin(store)
        task = add(store, "a")
        started = start(store, claim(store))
        store.add_commit(started.id, "c1", WorkCommitted(task_id=task, commit="c1", files=1))
        store.rename_commits(started.id, ("d1", "d2"))
        found = store.session(started.task_id, started.attempt)
        assert found is not None
        assert found.commits == ("d1", "d2")
        with pytest.raises(Missing):
            store.rename_commits(SessionId("t-nobody:1"), ("d1",))

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
        told = [(one.task_id, one.attempt) for one in store.sessions()]
        assert told == [(a, 1), (a, 2), (b, 1)]
        assert [one.attempt for one in store.sessions(task=a)] == [1, 2]
        assert [one.task_id for one in store.sessions(run=LATER)] == [a, b]
        assert [one.task_id for one in store.sessions(limit=2)] == [a, b]
        assert [one.attempt for one in store.sessions(task=a, limit=1)] == [2]

    def test_a_usage_limit_holds_for_its_agent_until_the_reset(
        self, store: Store, clock: FrozenClock
    ) -> None:
        begin(store)
        add(store, "a")
        session = start(store, claim(store))
        assert store.limited_until(session.agent) is None
        until = clock.now() + 600
        limited = replace(session, ending=Ending(ended=Ended.USAGE_LIMIT, resets_at=until))
        store.end_session(limited, Warned(message="out"))
        assert store.limited_until(session.agent) == until
        assert store.limited_until("another") is None
        clock.advance(601)
        assert store.limited_until(session.agent) is None

    def test_a_check_is_kept_with_its_verdict_and_its_cost(
        self, store: Store, clock: FrozenClock
    ) -> None:
        begin(store)
        add(store, "a")
        session = start(store, claim(store))
        check = Check(
            session_id=session.id, number=1, task_id=session.task_id, run_id=RUN, agent="other"
        )
        event = Warned(message="checking")
        store.save_check(check, event)
        assert store.checks(session.id) == [check]
        assert store.events()[-1].event == event
        until = clock.now() + 60
        ending = Ending(ended=Ended.USAGE_LIMIT, resets_at=until, cost_usd=0.5)
        limited = replace(check, ending=ending, ended_at="2026-01-01T00:00:00.000000Z")
        store.save_check(limited, event)
        passed = replace(limited, number=2, passed=True, ending=Ending(ended=Ended.FINISHED))
        store.save_check(passed, event)
        assert store.checks(session.id) == [limited, passed]
        assert store.limited_until("other") == until
        spent = store.spent(Asked())
        assert (spent.sessions, spent.known_usd) == (2, 0.5)
        store.lift_limits()
        assert store.limited_until("other") is None

    def test_a_person_may_lift_a_limit(self, store: Store, clock: FrozenClock) -> None:
        begin(store)
        add(store, "a")
        session = start(store, claim(store))
        ending = Ending(ended=Ended.USAGE_LIMIT, resets_at=clock.now() + 600)
        store.end_session(replace(session, ending=ending), Warned(message="out"))
        store.lift_limits()
        assert store.limited_until(session.agent) is None

    def test_work_left_in_a_checkout_is_found_again(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        start(store, taken)
        assert store.left_in("/x") is None
        settle(store, taken, Rejected("red"))
        left = store.left_in("/x")
        assert left is not None
        assert (left.task_id, left.attempt) == (a, 1)
        assert store.left_in("/elsewhere") is None
        store.apply(a, [Blocked("not now")])
        assert store.left_in("/x") is not None
        store.forget_base(a)
        assert store.left_in("/x") is None

    def test_a_worker_s_session_may_be_in_another_checkout_than_its_run(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        start(store, taken, checkout="/x/apart")
        settle(store, taken, Rejected("red"))
        assert store.left_in("/x") is None
        left = store.left_in("/x/apart")
        assert left is not None
        assert (left.task_id, left.checkout) == (a, "/x/apart")

    def test_work_that_was_accepted_is_not_left_over(self, store: Store) -> None:
        begin(store)
        add(store, "a")
        taken = claim(store)
        start(store, taken)
        settle(store, taken)
        assert store.left_in("/x") is None


class PeopleContract(Contract):
    """What people say to a running loop."""

    def test_guidance_can_be_looked_at_without_being_heard(self, store: Store) -> None:
        a = add(store, "a")
        store.inject("use the pool", a)
        store.inject("be quick", None)
        before = store.last_seq()
        assert store.guidance_for(a) == ["use the pool", "be quick"]
        assert store.last_seq() == before
        assert store.guidance(a, 1) == ["use the pool", "be quick"]
        assert store.guidance_for(a) == ["use the pool", "be quick"]

    def test_guidance_waits_for_the_next_brief_and_stays_with_its_task(self, store: Store) -> None:
        a, b = add(store, "a"), add(store, "b")
        store.inject("use the new API", a)
        store.inject("be brief", None)
        assert store.guidance(a, 1) == ["use the new API", "be brief"]
        assert store.events()[-1].event == GuidanceDelivered(task_id=a, attempt=1, count=2)
        assert store.guidance(b, 1) == []
        store.inject("and hurry", a)
        assert store.guidance(a, 2) == ["use the new API", "be brief", "and hurry"]
        assert store.events()[-1].event == GuidanceDelivered(task_id=a, attempt=2, count=1)
        seq = store.last_seq()
        assert len(store.guidance(a, 3)) == 3
        assert store.last_seq() == seq

    def test_a_word_is_handed_out_once_to_its_run(self, store: Store) -> None:
        begin(store)
        begin(store, LATER)
        a = add(store, "a")
        store.send(RUN, Word.PAUSE)
        store.send(RUN, Word.SKIP, a, "not now")
        assert store.take_controls(LATER) == []
        taken = store.take_controls(RUN)
        asked = [(one.word, one.task_id, one.reason) for one in taken]
        assert asked == [(Word.PAUSE, None, ""), (Word.SKIP, a, "not now")]
        assert store.take_controls(RUN) == []


class JournalContract(Contract):
    """What happened, in order."""

    def test_an_event_is_kept_with_its_number_and_run(self, store: Store) -> None:
        assert store.last_seq() == 0
        begin(store)
        store.record(Warned(message="one"), RUN)
        store.record(Warned(message="two"))
        seq = store.last_seq()
        one, two = store.events(after=seq - 2)
        assert (one.event, one.run_id) == (Warned(message="one"), RUN)
        assert (two.event, two.run_id) == (Warned(message="two"), None)
        assert two.seq == seq
        assert two.time

    def test_events_are_read_in_pages(self, store: Store) -> None:
        for number in range(5):
            store.record(Warned(message=str(number)))
        first = store.events(limit=2)
        rest = store.events(after=first[-1].seq)
        assert [one.event.message for one in first + rest if isinstance(one.event, Warned)] == [
            "0",
            "1",
            "2",
            "3",
            "4",
        ]
        assert all(one.seq < two.seq for one, two in pairwise(first + rest))
        assert store.events(after=store.last_seq()) == []

    def test_an_event_tells_the_state_after_it(self, store: Store) -> None:
        a = add(store, "a")
        (added,) = store.events()
        assert added.event == TaskAdded(task=store.find(a))
        taken = store.claim(WORKER, RUN, Everything(), Schedule.PRIORITY)
        assert taken is not None
        (claimed,) = store.events(after=added.seq)
        assert isinstance(claimed.event, TaskClaimed)
        assert claimed.run_id == RUN
        assert (claimed.event.task_id, claimed.event.worker) == (a, WORKER)
        assert claimed.event.attempt == 1

    def test_replaying_the_journal_gives_the_stored_graph(self, store: Store) -> None:
        top = add(store, "top")
        a, b = add(store, "a", under=top), add(store, "b", under=top)
        late = add(store, "late", after=[top, a])
        gone = add(store, "gone", after=[b])
        fail(store, a)
        settle(store, claim(store), Rejected("red"))
        settle(store, claim(store), Released("interrupted"))
        work(store, b)
        store.retry(a)
        store.edit_task(late, Edit(title="later", priority=4))
        store.edit_task(top, Edit(feature_id=store.add_feature("search").id))
        store.edit_task(a, Edit(feature_id=None))
        store.apply(late, [Blocked("held"), Unblocked()])
        store.unlink(a, late)
        store.delete_task(gone)
        taken = claim(store)
        store.take_over(taken.task.id, taken.attempt, OTHER)
        told = replay(one.event for one in store.events())
        stored = {task.id: task for task in store.tasks(Filter())}
        for task in (*told.tasks.values(), *stored.values()):
            same = [replace(graph[task.id], updated_at="") for graph in (told.tasks, stored)]
            assert same[0] == same[1]
        assert told.edges == {(one.id, late) for one in store.blockers(late)}

    def test_a_sound_store_has_nothing_to_report(self, store: Store) -> None:
        top = add(store, "top")
        a = add(store, "a", under=top)
        add(store, "late", after=[top])
        work(store, a)
        assert store.check() == []


class HistoryContract(RunsContract, SessionsContract, PeopleContract, JournalContract):
    """All of `History` and `Journal`."""
