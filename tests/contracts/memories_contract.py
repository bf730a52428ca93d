"""What every store promises about memories."""

from collections.abc import Sequence
from typing import Any

import pytest

from ralph.core.errors import ClaimLost, Missing
from ralph.core.events import MemoryForgotten, MemoryKept
from ralph.core.ids import TaskId
from ralph.core.memory import Memory, MemoryKind
from ralph.core.times import to_iso
from ralph.core.transitions import Accepted, Rejected
from ralph.store.claims import Claim
from ralph.store.store import Store
from tests.contracts.store_test_helpers import RUN, Contract, add, begin, claim, take_over
from tests.doubles.clock import FrozenClock

ODD = ['"', "*", "a AND (", "NEAR(", "text:x", "^", "-", "'); DROP TABLE memories; --", "_", "\0"]


def a_memory(text: str, **fields: Any) -> Memory:
    about: dict[str, Any] = {"kind": MemoryKind.KNOWLEDGE, "task_id": TaskId("t-a"), "attempt": 1}
    return Memory(text=text, **(about | fields))


def keep(store: Store, taken: Claim, *memories: Memory) -> None:
    """Settle an attempt that leaves these; its task comes again."""
    store.claims.settle(taken, Rejected("red"), message="red", fail_fast=False, memories=memories)


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
        store.memories.add(a_memory("tests need the database"))
        store.memories.add(a_memory("Tests need  the database"))
        assert texts(store.memories.select()) == ["tests need the database"]
        assert [type(one.event) for one in store.events.select()] == [MemoryKept]

    def test_what_an_attempt_leaves_is_kept_when_it_is_settled(
        self, store: Store, clock: FrozenClock
    ) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        left = a_memory("use the pool", title="Connections", tags=("db", "speed"), attempt=7)
        store.claims.settle(
            taken, Accepted(), message="", fail_fast=False, run=RUN, memories=[left]
        )
        (kept,) = store.memories.select()
        assert kept.id > 0
        assert (kept.kind, kept.text, kept.title, kept.tags) == (
            MemoryKind.KNOWLEDGE,
            "use the pool",
            "Connections",
            ("db", "speed"),
        )
        assert (kept.task_id, kept.attempt, kept.created_at) == (a, 7, to_iso(clock.now()))
        (found,) = [
            one for one in store.events.select(limit=0) if isinstance(one.event, MemoryKept)
        ]
        assert found.event == MemoryKept(
            memory_id=kept.id, task_id=a, kind=MemoryKind.KNOWLEDGE, title="Connections"
        )
        assert found.run_id == RUN

    def test_an_attempt_that_lost_its_claim_leaves_nothing(self, store: Store) -> None:
        begin(store)
        add(store, "a")
        taken = claim(store)
        take_over(store, taken)
        with pytest.raises(ClaimLost, match="task t-a is no longer held"):
            keep(store, taken, a_memory("use the pool"))
        assert store.memories.select() == []
        assert store.memories.search(["pool"], 9) == []

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
        assert texts(store.memories.search(["pool", "lake"], 9)) == ["the pool is small"]
        assert texts(store.memories.search(["CONNECTIONS"], 9)) == ["the pool is small"]
        assert texts(store.memories.search(["shell"], 9)) == ["quote every name"]
        assert store.memories.search(["lake"], 9) == []
        assert store.memories.search([], 9) == []

    def test_what_shares_more_words_comes_first(self, store: Store) -> None:
        learn(store, "parse one line", "parse a header line", "read a whole page")
        found = store.memories.search(["parse", "header", "line"], 9)
        assert texts(found) == ["parse a header line", "parse one line"]
        assert texts(store.memories.search(["parse", "header", "line"], 1)) == [
            "parse a header line"
        ]

    def test_among_equals_the_newest_comes_first(self, store: Store) -> None:
        learn(store, "pool one", "pool two", "pool six")
        assert texts(store.memories.search(["pool"], 9)) == ["pool six", "pool two", "pool one"]

    def test_a_million_words_are_no_more_work_than_the_first_of_them(self, store: Store) -> None:
        learn(store, "the pool is small", "the last word")
        words = ["pool", *(f"word{number}" for number in range(1_000_000)), "last"]
        assert texts(store.memories.search(words, 9)) == ["the pool is small"]

    @pytest.mark.parametrize("odd", ODD)
    def test_words_are_no_query_language(self, store: Store, odd: str) -> None:
        learn(store, "the pool is small", f"odd {odd} words")
        assert "the pool is small" in texts(store.memories.search([odd, "pool"], 9))
        assert "the pool is small" not in texts(store.memories.search([odd], 9))
        (found,) = texts(store.memories.search(["odd"], 9))
        # Not every database has a NUL in its texts.
        assert found in {f"odd {odd} words", f"odd {odd} words".replace("\0", "\ufffd")}

    def test_the_same_knowledge_is_kept_once(self, store: Store) -> None:
        learn(store, "the pool is small")
        keep(store, claim(store), a_memory("The pool  is small", attempt=2), a_memory("and cold"))
        assert texts(store.memories.select()) == ["and cold", "the pool is small"]

    def test_notes_of_two_attempts_are_two_though_they_say_the_same(self, store: Store) -> None:
        learn(store)
        for attempt in (1, 2, 2):
            note = a_memory("tried again", kind=MemoryKind.JOURNAL, attempt=attempt)
            keep(store, claim(store), note)
        assert [one.attempt for one in store.memories.select()] == [2, 1]

    def test_memories_of_a_task_come_newest_first(self, store: Store) -> None:
        learn(store, "one", "two", "three")
        keep(store, claim(store), a_memory("other", task_id=TaskId("t-b")))
        assert texts(store.memories.select()) == ["other", "three", "two", "one"]
        assert texts(store.memories.select(limit=2)) == ["other", "three"]
        assert texts(store.memories.select(task=TaskId("t-a"))) == ["three", "two", "one"]
        assert texts(store.memories.select(task=TaskId("t-a"), limit=1)) == ["three"]

    def test_what_is_forgotten_is_not_found_any_more(self, store: Store) -> None:
        learn(store, "the pool is small", "the pool is cold")
        (small,) = [one for one in store.memories.select() if "small" in one.text]
        assert store.memories.delete(small.id) == small
        assert texts(store.memories.select()) == ["the pool is cold"]
        assert texts(store.memories.search(["pool", "small"], 9)) == ["the pool is cold"]
        recorded = store.events.select(limit=0)[-1].event
        assert recorded == MemoryForgotten(
            memory_id=small.id, task_id=small.task_id, title="the pool is small"
        )
        with pytest.raises(Missing, match="there is no memory 1"):
            store.memories.delete(small.id)

    def test_what_was_learned_outlives_its_task(self, store: Store) -> None:
        learn(store, "the pool is small")
        store.tasks.delete(TaskId("t-a"))
        assert texts(store.memories.search(["pool"], 9)) == ["the pool is small"]
