"""What every store promises about leases and take-overs, and what a lost claim may still write."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from ralph.core.errors import ClaimLost
from ralph.core.events import (
    SessionEnded,
    TaskClaimed,
    Warned,
    WorkCommitted,
)
from ralph.core.ids import WorkerId
from ralph.core.review_thread import CommentAnswer, Dismissal, FindingState
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.session_events import SessionHandedOver
from ralph.core.session_output import ToolUsage
from ralph.core.snapshot import Snapshot
from ralph.core.task import TaskStatus
from ralph.core.transitions import Accepted, Blocked, Rejected, Released
from ralph.store.claims import Claim
from ralph.store.costs import CostFilter
from ralph.store.sessions import Checkpoint, Session, SessionSegment, WorkCheck
from ralph.store.store import Store
from tests.contracts.reviews_contract import a_comment
from tests.contracts.store_test_helpers import (
    LEASE_S,
    OTHER,
    RUN,
    THIRD,
    WORKER,
    Contract,
    add,
    an_owner,
    begin,
    claim,
    join,
    settle,
    stale,
    start,
    take_over,
)
from tests.doubles.clock import FrozenClock


class LeasesContract(Contract):
    """Leases, and what happens when a worker dies."""

    def test_a_claim_holds_until_it_is_settled(self, store: Store) -> None:
        add(store, "a")
        taken = claim(store)
        assert store.claims.holds(taken)
        settle(store, taken, Released("interrupted"))
        assert not store.claims.holds(taken)

    def test_an_old_claim_does_not_hold_when_the_same_worker_claims_again(
        self, store: Store
    ) -> None:
        add(store, "a")
        old = claim(store)
        settle(store, old, Released("interrupted"))
        new = claim(store)
        assert not store.claims.holds(old)
        assert store.claims.holds(new)

    def test_a_claim_whose_answer_was_lost_is_returned_by_the_next_one(self, store: Store) -> None:
        a, b = add(store, "a"), add(store, "b")
        lost = claim(store)
        seq = store.events.last_seq()
        again = claim(store)
        assert again == lost
        assert store.events.last_seq() == seq, "it was claimed once"
        assert claim(store, OTHER).task.id == b
        assert again.task.id == a

    def test_a_claim_with_a_session_is_not_returned_again(self, store: Store) -> None:
        begin(store)
        add(store, "a")
        b = add(store, "b")
        start(store, claim(store))
        assert claim(store).task.id == b

    def test_claims_on_this_host_are_shown_with_their_owners(self, store: Store) -> None:
        join(store, WORKER, pid=11)
        join(store, OTHER, pid=22)
        a, b = add(store, "a"), add(store, "b")
        claim(store, WORKER)
        claim(store, OTHER)
        (seen,) = stale(store, WORKER)
        assert (seen.task.id, seen.owner, seen.expired) == (b, an_owner(22), False)
        (seen,) = stale(store, OTHER)
        assert (seen.task.id, seen.owner) == (a, an_owner(11))

    def test_claims_on_another_host_are_shown_when_their_worker_is_late(
        self, store: Store, clock: FrozenClock
    ) -> None:
        join(store)
        add(store, "a")
        claim(store)
        clock.advance(LEASE_S / 2)
        assert stale(store, host="there") == []
        clock.advance(1)
        (seen,) = stale(store, host="there")
        assert (seen.lease_s, seen.expired) == (LEASE_S, False)
        store.claims.heartbeat(WORKER, LEASE_S)
        assert stale(store, host="there") == []

    def test_the_claims_of_a_worker_that_never_joined_are_shown(self, store: Store) -> None:
        add(store, "a")
        claim(store)
        (seen,) = stale(store, host="there")
        assert (seen.owner, seen.beat, seen.lease_s, seen.expired) == (None, "", 0.0, True)

    def test_a_task_in_progress_that_no_worker_holds_can_be_taken_over(self, store: Store) -> None:
        a = add(store, "a")
        store.db.execute("UPDATE tasks SET status = 'in_progress'")
        (seen,) = stale(store, host="there")
        assert (seen.task.id, seen.owner, seen.expired) == (a, None, True)
        assert store.claims.holds(store.claims.take_over(seen, WORKER))

    def test_only_the_claims_that_were_silent_longest_are_shown(
        self, store: Store, clock: FrozenClock
    ) -> None:
        for number in range(102):
            worker = WorkerId(f"agent-{number:08}")
            join(store, worker)
            clock.advance(1)
            add(store, f"a{number:03}")
            claim(store, worker)
        shown = [one.task.claimed_by for one in stale(store, THIRD)]
        assert len(shown) == 100
        assert shown[0] == "agent-00000000"

    def test_a_lease_ends_unless_it_is_renewed(self, store: Store, clock: FrozenClock) -> None:
        join(store)
        add(store, "a")
        clock.advance(LEASE_S * 10)
        claim(store)
        clock.advance(LEASE_S - 1)
        assert [seen.expired for seen in stale(store)] == [False]
        store.claims.heartbeat(WORKER, LEASE_S)
        clock.advance(LEASE_S - 1)
        assert [seen.expired for seen in stale(store)] == [False]
        clock.advance(2)
        assert [seen.expired for seen in stale(store)] == [True]

    def test_a_claim_is_a_sign_of_life_for_all_its_worker_holds(
        self, store: Store, clock: FrozenClock
    ) -> None:
        begin(store)
        add(store, "a")
        add(store, "b")
        start(store, claim(store))
        clock.advance(LEASE_S + 1)
        assert [seen.expired for seen in stale(store)] == [True]
        claim(store)
        assert [seen.expired for seen in stale(store)] == [False, False]

    def test_a_run_makes_its_worker_known(self, store: Store) -> None:
        begin(store)
        add(store, "a")
        claim(store)
        (seen,) = stale(store)
        assert (seen.owner, seen.expired) == (an_owner(), False)

    def test_an_attempt_is_taken_over_under_its_number(self, store: Store) -> None:
        join(store)
        join(store, OTHER)
        a = add(store, "a")
        dead = claim(store)
        mine = take_over(store, dead)
        assert (mine.worker, mine.attempt) == (OTHER, dead.attempt)
        assert mine.task == store.tasks.find(a)
        assert store.claims.holds(mine)
        assert not store.claims.holds(dead)
        assert stale(store) == []
        last = store.events.select(after=store.events.last_seq() - 1)[0].event
        assert isinstance(last, TaskClaimed)
        assert (last.worker, last.attempt) == (OTHER, dead.attempt)

    def test_two_cannot_take_over_the_same_claim(self, store: Store) -> None:
        for worker in (WORKER, OTHER, THIRD):
            join(store, worker)
        add(store, "a")
        claim(store)
        (seen,) = stale(store)
        mine = store.claims.take_over(seen, OTHER)
        with pytest.raises(ClaimLost, match=r"attempt 1 of task t-a is over, or agent-.* is alive"):
            store.claims.take_over(seen, THIRD)
        assert settle(store, mine).status is TaskStatus.DONE

    def test_a_worker_that_gave_a_sign_of_life_is_not_taken_over(
        self, store: Store, clock: FrozenClock
    ) -> None:
        join(store)
        join(store, OTHER)
        add(store, "a")
        held = claim(store)
        clock.advance(LEASE_S * 2)
        (seen,) = stale(store)
        store.claims.heartbeat(WORKER, LEASE_S)
        with pytest.raises(ClaimLost, match="attempt 1 of task t-a is over"):
            store.claims.take_over(seen, OTHER)
        assert store.claims.holds(held)

    def test_an_attempt_that_is_over_cannot_be_taken_over(self, store: Store) -> None:
        a = add(store, "a")
        taken = claim(store)
        (seen,) = stale(store)
        settle(store, taken, Released("interrupted"))
        with pytest.raises(ClaimLost, match="attempt 1 of task t-a is over"):
            store.claims.take_over(seen, OTHER)
        claim(store)
        with pytest.raises(ClaimLost, match="attempt 1 of task t-a is over"):
            store.claims.take_over(seen, OTHER)
        (seen,) = stale(store)
        store.tasks.delete(a)
        with pytest.raises(ClaimLost, match="attempt 2 of task t-a is over"):
            store.claims.take_over(seen, OTHER)


PAID = SessionEnding(ended=EndingKind.FINISHED, message="<task-done>", cost_usd=0.25)
Write = Callable[[Store, Session, Claim], object]


def _end(store: Store, session: Session, held: Claim) -> None:
    event = SessionEnded(session_id=session.id, task_id=session.task_id, ended=EndingKind.FINISHED)
    store.sessions.end(replace(session, ending=PAID), held, event)


def _check(store: Store, session: Session, held: Claim) -> None:
    check = WorkCheck(
        session_id=session.id, number=1, task_id=session.task_id, run_id=RUN, agent="other"
    )
    store.checks.save(replace(check, ending=PAID, passed=True), held)


def _hand_over(store: Store, session: Session, held: Claim) -> None:
    segment = SessionSegment(
        session_id=session.id,
        number=1,
        task_id=session.task_id,
        run_id=RUN,
        agent="scripted",
        ending=PAID,
    )
    event = SessionHandedOver(
        session_id=session.id,
        task_id=session.task_id,
        number=1,
        reason="full",
        ended=EndingKind.FINISHED,
        used=2,
        capacity=3,
    )
    store.sessions.save_segment(segment, held, event)


def _commit(store: Store, session: Session, held: Claim) -> None:
    event = WorkCommitted(task_id=session.task_id, commit="c1", files=1)
    store.sessions.add_commit(session.id, "c1", held, event)


PAYING: dict[str, Write] = {"end": _end, "check": _check, "hand_over": _hand_over}
WRITES: dict[str, Write] = {
    **PAYING,
    "commit": _commit,
    "start": lambda store, _, held: start(store, held),
    "checkpoint": lambda store, session, held: store.sessions.save_checkpoint(
        session.id, Checkpoint.GATED, held
    ),
    "commits": lambda store, session, held: store.sessions.replace_commits(
        session.id, ("d1",), held
    ),
    "socket_claim": lambda store, session, held: store.sessions.save_socket_claim(
        session.id, "done", held
    ),
    "tool_usage": lambda store, session, held: store.sessions.save_tool_usage(
        session.id, ToolUsage(errors=1), held
    ),
    "move_base": lambda store, session, held: store.claims.move_base(
        session.task_id, Snapshot(head="c9"), held
    ),
    "forget_base": lambda store, session, held: store.claims.forget_base(session.task_id, held),
    "dismiss": lambda store, session, held: store.checks.dismiss_finding(
        session.task_id, Dismissal(finding="F1", reason="no", by="attempt 1"), held
    ),
    "settle": lambda store, _, held: settle(store, held),
}


class LostClaimsContract(Contract):
    """A worker that lost its claim, and does not know it yet, changes nothing."""

    @pytest.fixture
    def lost(self, store: Store) -> Session:
        begin(store)
        join(store, OTHER)
        add(store, "a")
        return start(store, claim(store))

    @pytest.mark.parametrize("name", WRITES)
    def test_the_holder_may_write(self, store: Store, lost: Session, name: str) -> None:
        held = Claim(task=store.tasks.find(lost.task_id), worker=WORKER, attempt=1)
        WRITES[name](store, lost, held)

    @pytest.mark.parametrize("name", WRITES)
    def test_nothing_is_written_after_a_take_over(
        self, store: Store, lost: Session, name: str
    ) -> None:
        late = Claim(task=store.tasks.find(lost.task_id), worker=WORKER, attempt=1)
        take_over(store, late)
        before = store.sessions.get(lost.task_id, 1), store.claims.base(lost.task_id)
        seq = store.events.last_seq()
        with pytest.raises(ClaimLost):
            WRITES[name](store, lost, late)
        assert (store.sessions.get(lost.task_id, 1), store.claims.base(lost.task_id)) == before
        assert store.events.last_seq() == seq
        assert store.checks.of_session(lost.id) == []
        assert store.checks.dismissals(lost.task_id) == []
        assert store.sessions.segments(lost.id) == []

    @pytest.mark.parametrize("name", [one for one in WRITES if one != "settle"])
    def test_nothing_is_written_when_another_attempt_has_begun(
        self, store: Store, lost: Session, name: str
    ) -> None:
        late = Claim(task=store.tasks.find(lost.task_id), worker=WORKER, attempt=1)
        mine = take_over(store, late)
        _end(store, lost, mine)
        settle(store, mine, Released("its worker died"))
        start(store, claim(store, OTHER))
        before = [store.sessions.get(lost.task_id, number) for number in (1, 2)]
        with pytest.raises(ClaimLost):
            WRITES[name](store, lost, late)
        assert [store.sessions.get(lost.task_id, number) for number in (1, 2)] == before
        assert store.claims.base(lost.task_id) == Snapshot(head="c0")

    def test_a_comment_is_not_answered_by_a_lost_attempt(self, store: Store, lost: Session) -> None:
        held = Claim(task=store.tasks.find(lost.task_id), worker=WORKER, attempt=1)
        (comment,) = store.reviews.comment(lost.task_id, [a_comment(lost.task_id)])[1]
        answer = CommentAnswer(state=FindingState.ADDRESSED, attempt=1)
        store.reviews.answer(comment, answer, 1, held)
        take_over(store, held)
        with pytest.raises(ClaimLost):
            store.reviews.answer(comment, None, 1, held)
        assert [one.answer for one in store.reviews.comments_about(lost.task_id)] == [answer]

    @pytest.mark.parametrize("name", PAYING)
    def test_what_a_session_cost_counts_all_the_same(
        self, store: Store, lost: Session, name: str
    ) -> None:
        late = Claim(task=store.tasks.find(lost.task_id), worker=WORKER, attempt=1)
        take_over(store, late)
        with pytest.raises(ClaimLost):
            PAYING[name](store, lost, late)
        assert store.costs.total(CostFilter(run=RUN)).known_usd == 0.25

    def test_a_session_whose_task_a_user_took_away_is_recorded_to_its_end(
        self, store: Store, lost: Session
    ) -> None:
        held = Claim(task=store.tasks.find(lost.task_id), worker=WORKER, attempt=1)
        store.tasks.apply(lost.task_id, [Blocked("ask Ada")])
        _end(store, lost, held)
        kept = store.sessions.get(lost.task_id, 1)
        assert kept is not None
        assert kept.ending == PAID

    def test_a_session_whose_task_was_reset_is_not_judged_when_it_ends(
        self, store: Store, lost: Session
    ) -> None:
        held = Claim(task=store.tasks.find(lost.task_id), worker=WORKER, attempt=1)
        store.tasks.reset(lost.task_id)
        _end(store, lost, held)
        kept = store.sessions.get(lost.task_id, 1)
        assert kept is not None
        assert (kept.ending, kept.checkpoint) == (PAID, Checkpoint.SETTLED)

    @pytest.mark.parametrize("name", ["move_base", "forget_base", "remember_base"])
    def test_the_base_of_a_task_in_progress_is_its_holders(
        self, store: Store, lost: Session, name: str
    ) -> None:
        values = () if name == "forget_base" else (Snapshot(head="c9"),)
        with pytest.raises(ClaimLost, match=f"task t-a is held by {WORKER}"):
            getattr(store.claims, name)(lost.task_id, *values, None)
        assert store.claims.base(lost.task_id) == Snapshot(head="c0")

    def test_a_session_of_a_task_in_progress_is_not_left_unjudged(
        self, store: Store, lost: Session
    ) -> None:
        with pytest.raises(ClaimLost, match=f"task t-a is held by {WORKER}"):
            store.sessions.leave_unjudged(lost)
        held = Claim(task=store.tasks.find(lost.task_id), worker=WORKER, attempt=1)
        settle(store, held, Released("interrupted"))
        store.sessions.leave_unjudged(lost)

    def test_refused_work_is_based_on_what_the_verdict_says(
        self, store: Store, lost: Session
    ) -> None:
        held = Claim(task=store.tasks.find(lost.task_id), worker=WORKER, attempt=1)
        store.claims.settle(
            held, Rejected("red"), message="", fail_fast=False, base=Snapshot(head="c7")
        )
        assert store.claims.base(lost.task_id) == Snapshot(head="c7")

    def test_accepted_work_of_a_task_that_was_split_up_is_not_that_of_its_next_attempt(
        self, store: Store, lost: Session
    ) -> None:
        held = Claim(task=store.tasks.find(lost.task_id), worker=WORKER, attempt=1)
        add(store, "child", under=lost.task_id)
        store.claims.settle(held, Accepted(), message="", fail_fast=False)
        assert store.claims.base(lost.task_id) is None

    def test_a_lost_claim_says_nothing_in_the_events(self, store: Store, lost: Session) -> None:
        late = Claim(task=store.tasks.find(lost.task_id), worker=WORKER, attempt=1)
        take_over(store, late)
        with pytest.raises(ClaimLost):
            store.claims.settle(
                late, Accepted(), message="", fail_fast=False, events=[Warned(message="odd")]
            )
        assert Warned(message="odd") not in [one.event for one in store.events.select()]
