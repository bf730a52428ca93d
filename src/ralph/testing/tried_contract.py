"""What every store promises about attempts that counted."""

import pytest
from msgspec.structs import replace

from ralph.core.ended import Ended
from ralph.core.ending import Ending
from ralph.core.events import SessionEnded
from ralph.core.ids import RunId
from ralph.core.moment import iso
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
from ralph.core.tried import Judged, Tried
from ralph.ports.store import Store
from ralph.testing.clock import FrozenClock
from ralph.testing.store_words import RUN, Contract, add, begin, claim, start

LATER = RunId("run-2")


class TriedContract(Contract):
    """What the choice of a model rests on."""

    @pytest.mark.parametrize(
        ("transition", "word"),
        [
            (Accepted(), Judged.ACCEPTED),
            (Rejected("red"), Judged.REJECTED),
            (Struck("no claim"), Judged.STRUCK),
            (GaveUp("no"), Judged.GAVE_UP),
        ],
    )
    def test_an_attempt_that_counted_is_told_of(
        self, store: Store, clock: FrozenClock, transition: Transition, word: Judged
    ) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        began = iso(clock.now())
        session = start(store, taken, started_at=began, tier="opus", strategy="escalate")
        clock.advance(5)
        store.log(a, "halfway")
        ended = replace(session, ending=Ending(ended=Ended.FINISHED, message="bye"))
        store.end_session(
            ended, SessionEnded(session_id=session.id, task_id=a, ended=Ended.FINISHED)
        )
        store.settle(taken, transition, message="a word", fail_fast=False)
        kept = store.session(a, 1)
        assert kept is not None
        assert kept.judged is word
        assert store.tried(limit=10) == [
            Tried(
                task_id=a,
                attempt=1,
                run_id=RUN,
                judged=word,
                ended_at=iso(clock.now()),
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
        assert store.tried(limit=10) == []
        store.settle(taken, transition, message="a word", fail_fast=False)
        assert store.tried(limit=10) == []

    @pytest.mark.parametrize("transition", [Accepted(), Rejected("red"), Struck("no claim")])
    def test_an_attempt_that_split_its_task_up_counts_as_that(
        self, store: Store, transition: Transition
    ) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        start(store, taken)
        add(store, "part", under=a)
        store.settle(taken, transition, message="a word", fail_fast=False)
        assert [one.judged for one in store.tried(limit=10)] == [Judged.SPLIT]

    def test_each_attempt_has_its_own_notes(self, store: Store, clock: FrozenClock) -> None:
        begin(store)
        a, b = add(store, "a"), add(store, "b", priority=1)
        store.log(a, "before anything")
        for word in ("first", "second"):
            clock.advance(10)
            taken = claim(store)
            start(store, taken, started_at=iso(clock.now()))
            clock.advance(10)
            store.log(b, "of another task")
            store.settle(taken, Rejected("red"), message=word, fail_fast=False)
        assert [one.notes for one in store.tried(limit=10)] == [
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
            start(store, taken, run_id=run, started_at=iso(clock.now()))
            store.settle(taken, transition, message="", fail_fast=False)

        def told(found: list[Tried]) -> list[tuple[str, int]]:
            return [(one.task_id, one.attempt) for one in found]

        assert told(store.tried(limit=10)) == [(a, 1), (a, 3), (b, 1)]
        assert told(store.tried(limit=2)) == [(a, 3), (b, 1)]
        assert told(store.tried(run=RUN, limit=10)) == [(a, 1)]
        assert told(store.tried(task=a, limit=10)) == [(a, 1), (a, 3)]
        assert told(store.tried(task=a, run=LATER, limit=10)) == [(a, 3)]

    def test_an_attempt_counts_although_its_task_is_deleted(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        start(store, taken)
        store.settle(taken, Rejected("red"), message="red", fail_fast=False)
        store.delete_task(a)
        (left,) = store.tried(limit=10)
        assert (left.task_id, left.notes[0]) == (a, "red")
