"""What every store promises about attempts that counted."""

import pytest
from msgspec.structs import replace

from ralph.core.events import SessionEnded
from ralph.core.ids import RunId
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.times import to_iso
from ralph.core.transitions import (
    Accepted,
    Blocked,
    GaveUp,
    Postponed,
    Rejected,
    Released,
    Struck,
    Transition,
)
from ralph.core.verdict import AttemptRecord, AttemptVerdict
from ralph.store.store import Store
from tests.contracts.store_test_helpers import RUN, Contract, add, begin, claim, start
from tests.doubles.clock import FrozenClock

LATER = RunId("run-2")


class AttemptsContract(Contract):
    """What the choice of a model rests on."""

    @pytest.mark.parametrize(
        ("transition", "word"),
        [
            (Accepted(), AttemptVerdict.ACCEPTED),
            (Rejected("red"), AttemptVerdict.REJECTED),
            (Struck("no claim"), AttemptVerdict.STRUCK),
            (GaveUp("no"), AttemptVerdict.GAVE_UP),
        ],
    )
    def test_an_attempt_that_counted_is_told_of(
        self, store: Store, clock: FrozenClock, transition: Transition, word: AttemptVerdict
    ) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        began = to_iso(clock.now())
        session = start(store, taken, started_at=began, tier="opus", strategy="escalate")
        clock.advance(5)
        store.tasks.log(a, "halfway")
        ended = replace(session, ending=SessionEnding(ended=EndingKind.FINISHED, message="bye"))
        store.sessions.end(
            ended, taken, SessionEnded(session_id=session.id, task_id=a, ended=EndingKind.FINISHED)
        )
        store.claims.settle(taken, transition, message="a word", fail_fast=False)
        kept = store.sessions.get(a, 1)
        assert kept is not None
        assert kept.judged is word
        assert store.sessions.attempt_records(limit=10) == [
            AttemptRecord(
                task_id=a,
                attempt=1,
                run_id=RUN,
                judged=word,
                ended_at=to_iso(clock.now()),
                strategy="escalate",
                tier="opus",
                message="bye",
                notes=("a word", "a word\nhalfway"),
            )
        ]

    @pytest.mark.parametrize("transition", [Released("quota"), Blocked("held"), Postponed("later")])
    def test_an_attempt_that_was_given_back_does_not_count(
        self, store: Store, transition: Transition
    ) -> None:
        begin(store)
        add(store, "a")
        taken = claim(store)
        start(store, taken)
        assert store.sessions.attempt_records(limit=10) == []
        store.claims.settle(taken, transition, message="a word", fail_fast=False)
        assert store.sessions.attempt_records(limit=10) == []

    @pytest.mark.parametrize("transition", [Accepted(), Rejected("red"), Struck("no claim")])
    def test_an_attempt_that_split_its_task_up_counts_as_that(
        self, store: Store, transition: Transition
    ) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        start(store, taken)
        add(store, "part", under=a)
        store.claims.settle(taken, transition, message="a word", fail_fast=False)
        assert [one.judged for one in store.sessions.attempt_records(limit=10)] == [
            AttemptVerdict.SPLIT
        ]

    def test_each_attempt_has_its_own_notes(self, store: Store, clock: FrozenClock) -> None:
        begin(store)
        a, b = add(store, "a"), add(store, "b", priority=1)
        store.tasks.log(a, "before anything")
        for word in ("first", "second"):
            clock.advance(10)
            taken = claim(store)
            start(store, taken, started_at=to_iso(clock.now()))
            clock.advance(10)
            store.tasks.log(b, "of another task")
            store.claims.settle(taken, Rejected("red"), message=word, fail_fast=False)
        assert [one.notes for one in store.sessions.attempt_records(limit=10)] == [
            ("first", "first"),
            ("second", "second"),
        ]

    def test_attempts_are_found_by_run_and_task_newest_last(
        self, store: Store, clock: FrozenClock
    ) -> None:
        begin(store)
        begin(store, LATER)
        a, b = add(store, "a"), add(store, "b", priority=1)
        for run, transition in (
            (RUN, Rejected("red")),
            (LATER, Released("quota")),
            (LATER, Accepted()),
            (LATER, GaveUp("no")),
        ):
            clock.advance(10)
            taken = claim(store)
            start(store, taken, run_id=run, started_at=to_iso(clock.now()))
            store.claims.settle(taken, transition, message="", fail_fast=False)

        def told(found: list[AttemptRecord]) -> list[tuple[str, int]]:
            return [(one.task_id, one.attempt) for one in found]

        assert told(store.sessions.attempt_records(limit=10)) == [(a, 1), (a, 3), (b, 1)]
        assert told(store.sessions.attempt_records(limit=2)) == [(a, 3), (b, 1)]
        assert told(store.sessions.attempt_records(run=RUN, limit=10)) == [(a, 1)]
        assert told(store.sessions.attempt_records(task=a, limit=10)) == [(a, 1), (a, 3)]
        assert told(store.sessions.attempt_records(task=a, run=LATER, limit=10)) == [(a, 3)]

    def test_an_attempt_counts_although_its_task_is_deleted(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        start(store, taken)
        store.claims.settle(taken, Rejected("red"), message="red", fail_fast=False)
        store.tasks.delete(a)
        (left,) = store.sessions.attempt_records(limit=10)
        assert (left.task_id, left.notes[0]) == (a, "red")
