"""What is true of memories on SQLite alone: how they are searched, and for how long."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph.adapters.sqlite.database import open_sqlite_store
from ralph.adapters.sqlite.errors import explained
from ralph.core.errors import Unavailable
from ralph.core.ids import TaskId
from ralph.core.memory import Memory, MemoryKind
from ralph.core.memory_selection import memories_of_attempt, significant_words
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.task import Task
from ralph.core.transitions import Rejected
from ralph.core.verdict import Verdict
from ralph.store.store import Store
from tests.contracts.memories_contract import a_memory, keep, learn, texts
from tests.contracts.store_test_helpers import claim
from tests.doubles.clock import FrozenClock

ANY = st.text() | st.text(alphabet="\"'*()^:-_ \0ORANDNEARé²", max_size=40)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_sqlite_store(str(tmp_path / "progress.db"), FrozenClock().now, relaxed=True)
    yield store
    assert store.check() == []
    store.db.execute("INSERT INTO memory_words (memory_words) VALUES ('integrity-check')")
    store.close()


def remember(store: Store, *memories: Memory) -> None:
    for memory in memories:
        store.db.write(lambda memory=memory: store.memories.add(memory))  # type: ignore[misc]


def a_note(number: int, **fields: Any) -> Memory:
    return a_memory(f"pool {number}", kind=MemoryKind.JOURNAL, attempt=number, **fields)


def test_other_forms_of_a_word_are_found(store: Store) -> None:
    learn(store, "it parses the connection")
    assert len(store.memories.search(["connections"], 9)) == 1
    assert len(store.memories.search(["parsing"], 9)) == 1


def test_a_word_in_a_title_counts_most(store: Store) -> None:
    remember(store, a_memory("one", title="the pool"), a_memory("of pool", title="two words"))
    assert texts(store.memories.search(["pool"], 9)) == ["one", "of pool"]


def test_a_rare_word_counts_more_than_a_common_one(store: Store) -> None:
    learn(store, "read the header", *(f"write file number {n}" for n in range(20)))
    assert texts(store.memories.search(["file", "header"], 1)) == ["read the header"]


def test_the_oldest_are_kept_but_not_searched_any_more(store: Store) -> None:
    store.memories.searched = 3
    remember(store, *(a_note(number) for number in range(1, 6)))
    assert texts(store.memories.search(["pool"], 9)) == ["pool 5", "pool 4", "pool 3"]
    assert len(store.memories.select()) == 5


def test_notes_about_attempts_do_not_drive_out_what_was_learned(store: Store) -> None:
    store.memories.searched = 3
    remember(store, a_memory("the pool is small"), *(a_note(number) for number in range(9)))
    assert "the pool is small" in texts(store.memories.search(["pool"], 9))


def test_one_that_is_not_searched_can_be_forgotten(store: Store) -> None:
    store.memories.searched = 1
    remember(store, a_note(1), a_note(2))
    oldest = store.memories.select()[-1]
    store.memories.delete(oldest.id)
    assert texts(store.memories.search(["pool"], 9)) == ["pool 2"]
    remember(store, a_note(3), a_note(4))
    assert texts(store.memories.search(["pool"], 9)) == ["pool 4"]


def test_a_number_is_never_given_twice(store: Store) -> None:
    remember(store, a_note(1))
    first = store.memories.select()[0].id
    store.memories.delete(first)
    remember(store, a_note(2))
    assert store.memories.select()[0].id > first


def test_memories_survive_the_store(tmp_path: Path) -> None:
    path = str(tmp_path / "progress.db")
    one = open_sqlite_store(path, FrozenClock().now, relaxed=True)
    learn(one, "the pool is small")
    one.close()
    two = open_sqlite_store(path, FrozenClock().now, relaxed=True)
    assert texts(two.memories.search(["pool"], 9)) == ["the pool is small"]
    two.close()


def test_nothing_that_a_session_or_a_person_writes_is_too_odd(tmp_path: Path) -> None:
    store = open_sqlite_store(str(tmp_path / "progress.db"), FrozenClock().now, relaxed=True)
    learn(store, "the pool is small")

    @settings(max_examples=150)
    @given(ANY, ANY)
    def whatever(title: str, text: str) -> None:
        task = Task(id=TaskId("t-a"), title=title, description=text)
        store.memories.search(significant_words(title, text), 30)
        store.memories.search([title, text], 30)
        message = f"<journal>{text}</journal><knowledge title='{title}'>{text}</knowledge>"
        ending = SessionEnding(ended=EndingKind.FINISHED, message=message)
        verdict = Verdict(transition=Rejected(text), message=text)
        remember(store, *memories_of_attempt(task, 1, ending, verdict))

    whatever()
    assert store.check() == []
    store.close()


def test_a_sqlite_without_its_search_is_explained() -> None:
    error = explained(sqlite3.OperationalError("no such module: fts5"), "progress.db", str)
    assert isinstance(error, Unavailable)
    assert "FTS5" in error.hint


def test_a_settlement_that_fails_keeps_nothing(store: Store) -> None:
    learn(store)
    taken = claim(store)
    with pytest.raises(sqlite3.IntegrityError, match=r"memories.task_id"):
        keep(store, taken, a_memory("good"), a_memory("bad", task_id=None))
    assert store.memories.select() == []
    assert store.memories.search(["good"], 9) == []
