"""What every store promises about memories."""

from collections.abc import Sequence
from typing import Any

import pytest

from ralph.core.errors import ClaimLost, Missing
from ralph.core.events import MemoryForgotten, MemoryKept
from ralph.core.ids import TaskId
from ralph.core.memory import Memory, MemoryKind
from ralph.core.moment import iso
from ralph.core.transitions import Accepted, Rejected
from ralph.ports.claims import Claim
from ralph.ports.store import Store
from ralph.testing.clock import FrozenClock
from ralph.testing.store_words import OTHER, RUN, Contract, add, begin, claim

ODD = ['"', "*", "a AND (", "NEAR(", "text:x", "^", "-", "'); DROP TABLE memories; --", "_", "\0"]


def a_memory(text: str, **fields: Any) -> Memory:
    about: dict[str, Any] = {"kind": MemoryKind.KNOWLEDGE, "task_id": TaskId("t-a"), "attempt": 1}
    return Memory(text=text, **(about | fields))


def keep(store: Store, taken: Claim, *memories: Memory) -> None:
    """Settle an attempt that leaves these; its task comes again."""
    store.settle(taken, Rejected("red"), message="red", fail_fast=False, memories=memories)


def learn(store: Store, *texts: str) -> None:
    """Let an attempt at a task of its own leave these."""
    begin(store)
    add(store, "a", max_retries=99)
    keep(store, claim(store), *map(a_memory, texts))


def texts(memories: Sequence[Memory]) -> list[str]:
    return [one.text for one in memories]


class MemoriesContract(Contract):
    """What was learned, and how it is found again."""

    def test_a_lesson_can_be_kept_at_once_and_is_kept_once(self, store: Store) -> None:
        store.learn(a_memory("tests need the database"))
        store.learn(a_memory("Tests need  the database"))
        assert texts(store.memories()) == ["tests need the database"]
        assert [type(one.event) for one in store.events()] == [MemoryKept]

    def test_what_an_attempt_leaves_is_kept_when_it_is_settled(
        self, store: Store, clock: FrozenClock
    ) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        left = a_memory("use the pool", title="Connections", tags=("db", "speed"), attempt=7)
        store.settle(taken, Accepted(), message="", fail_fast=False, run=RUN, memories=[left])
        (kept,) = store.memories()
        assert kept.id > 0
        assert (kept.kind, kept.text, kept.title, kept.tags) == (
            MemoryKind.KNOWLEDGE,
            "use the pool",
            "Connections",
            ("db", "speed"),
        )
        assert (kept.task_id, kept.attempt, kept.created_at) == (a, 7, iso(clock.now()))
        (told,) = [one for one in store.events(limit=0) if isinstance(one.event, MemoryKept)]
        assert told.event == MemoryKept(
            memory_id=kept.id, task_id=a, kind=MemoryKind.KNOWLEDGE, title="Connections"
        )
        assert told.run_id == RUN

    def test_an_attempt_that_lost_its_claim_leaves_nothing(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        store.take_over(a, taken.attempt, OTHER)
        with pytest.raises(ClaimLost):
            keep(store, taken, a_memory("use the pool"))
        assert store.memories() == []
        assert store.recall(["pool"], 9) == []

    def test_memories_are_found_by_any_of_their_words(self, store: Store) -> None:
        begin(store)
        add(store, "a")
        keep(
            store,
            claim(store),
            a_memory("the pool is small", title="Connections"),
            a_memory("quote every name", tags=("shell",)),
            a_memory("nothing to see"),
        )
        assert texts(store.recall(["pool", "lake"], 9)) == ["the pool is small"]
        assert texts(store.recall(["CONNECTIONS"], 9)) == ["the pool is small"]
        assert texts(store.recall(["shell"], 9)) == ["quote every name"]
        assert store.recall(["lake"], 9) == []
        assert store.recall([], 9) == []

    def test_what_shares_more_words_comes_first(self, store: Store) -> None:
        learn(store, "parse one line", "parse a header line", "read a whole page")
        found = store.recall(["parse", "header", "line"], 9)
        assert texts(found) == ["parse a header line", "parse one line"]
        assert texts(store.recall(["parse", "header", "line"], 1)) == ["parse a header line"]

    def test_among_equals_the_newest_comes_first(self, store: Store) -> None:
        learn(store, "pool one", "pool two", "pool six")
        assert texts(store.recall(["pool"], 9)) == ["pool six", "pool two", "pool one"]

    @pytest.mark.parametrize("odd", ODD)
    def test_words_are_no_query_language(self, store: Store, odd: str) -> None:
        learn(store, "the pool is small", f"odd {odd} words")
        assert "the pool is small" in texts(store.recall([odd, "pool"], 9))
        assert "the pool is small" not in texts(store.recall([odd], 9))
        assert texts(store.recall(["odd"], 9)) == [f"odd {odd} words"]

    def test_the_same_knowledge_is_kept_once(self, store: Store) -> None:
        learn(store, "the pool is small")
        keep(store, claim(store), a_memory("The pool  is small", attempt=2), a_memory("and cold"))
        assert texts(store.memories()) == ["and cold", "the pool is small"]

    def test_notes_of_two_attempts_are_two_though_they_say_the_same(self, store: Store) -> None:
        learn(store)
        for attempt in (1, 2, 2):
            note = a_memory("tried again", kind=MemoryKind.JOURNAL, attempt=attempt)
            keep(store, claim(store), note)
        assert [one.attempt for one in store.memories()] == [2, 1]

    def test_memories_of_a_task_come_newest_first(self, store: Store) -> None:
        learn(store, "one", "two", "three")
        keep(store, claim(store), a_memory("other", task_id=TaskId("t-b")))
        assert texts(store.memories()) == ["other", "three", "two", "one"]
        assert texts(store.memories(limit=2)) == ["other", "three"]
        assert texts(store.memories(task=TaskId("t-a"))) == ["three", "two", "one"]
        assert texts(store.memories(task=TaskId("t-a"), limit=1)) == ["three"]

    def test_what_is_forgotten_is_not_found_any_more(self, store: Store) -> None:
        learn(store, "the pool is small", "the pool is cold")
        (small,) = [one for one in store.memories() if "small" in one.text]
        assert store.forget(small.id) == small
        assert texts(store.memories()) == ["the pool is cold"]
        assert texts(store.recall(["pool", "small"], 9)) == ["the pool is cold"]
        told = store.events(limit=0)[-1].event
        assert told == MemoryForgotten(
            memory_id=small.id, task_id=small.task_id, title="the pool is small"
        )
        with pytest.raises(Missing):
            store.forget(small.id)

    def test_what_was_learned_outlives_its_task(self, store: Store) -> None:
        learn(store, "the pool is small")
        store.delete_task(TaskId("t-a"))
        assert texts(store.recall(["pool"], 9)) == ["the pool is small"]
