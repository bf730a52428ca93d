"""What is true of memories on SQLite alone: how they are searched, and for how long."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph.adapters.store.sqlite import SqliteStore
from ralph.adapters.store.trouble import explained
from ralph.core.ended import Ended
from ralph.core.ending import Ending
from ralph.core.errors import Unavailable
from ralph.core.ids import TaskId
from ralph.core.learning import worth_keeping
from ralph.core.memory import Memory, MemoryKind
from ralph.core.relevance import telling_words
from ralph.core.task import Task
from ralph.core.transitions import Rejected
from ralph.core.verdict import Verdict
from ralph.testing.clock import FrozenClock
from ralph.testing.memories_contract import a_memory, keep, learn, texts
from ralph.testing.store_words import claim

ANY = st.text() | st.text(alphabet="\"'*()^:-_ \0ORANDNEARé²", max_size=40)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore.open(str(tmp_path / "progress.db"), FrozenClock(), relaxed=True)
    yield store
    assert store.check() == []
    store.db.execute("INSERT INTO memory_words (memory_words) VALUES ('integrity-check')")
    store.close()


def remember(store: SqliteStore, *memories: Memory) -> None:
    for memory in memories:
        store.db.write(lambda memory=memory: store.remember(memory, None))  # type: ignore[misc]


def a_note(number: int, **fields: Any) -> Memory:
    return a_memory(f"pool {number}", kind=MemoryKind.JOURNAL, attempt=number, **fields)


def test_other_forms_of_a_word_are_found(store: SqliteStore) -> None:
    learn(store, "it parses the connection")
    assert len(store.recall(["connections"], 9)) == 1
    assert len(store.recall(["parsing"], 9)) == 1


def test_a_word_in_a_title_counts_most(store: SqliteStore) -> None:
    remember(store, a_memory("one", title="the pool"), a_memory("of pool", title="two words"))
    assert texts(store.recall(["pool"], 9)) == ["one", "of pool"]


def test_a_rare_word_counts_more_than_a_common_one(store: SqliteStore) -> None:
    learn(store, "read the header", *(f"write file number {n}" for n in range(20)))
    assert texts(store.recall(["file", "header"], 1)) == ["read the header"]


def test_the_oldest_are_kept_but_not_searched_any_more(store: SqliteStore) -> None:
    store.searched = 3
    remember(store, *(a_note(number) for number in range(1, 6)))
    assert texts(store.recall(["pool"], 9)) == ["pool 5", "pool 4", "pool 3"]
    assert len(store.memories()) == 5


def test_notes_about_attempts_do_not_drive_out_what_was_learned(store: SqliteStore) -> None:
    store.searched = 3
    remember(store, a_memory("the pool is small"), *(a_note(number) for number in range(9)))
    assert "the pool is small" in texts(store.recall(["pool"], 9))


def test_one_that_is_not_searched_can_be_forgotten(store: SqliteStore) -> None:
    store.searched = 1
    remember(store, a_note(1), a_note(2))
    oldest = store.memories()[-1]
    store.forget(oldest.id)
    assert texts(store.recall(["pool"], 9)) == ["pool 2"]
    remember(store, a_note(3), a_note(4))
    assert texts(store.recall(["pool"], 9)) == ["pool 4"]


def test_a_number_is_never_given_twice(store: SqliteStore) -> None:
    remember(store, a_note(1))
    first = store.memories()[0].id
    store.forget(first)
    remember(store, a_note(2))
    assert store.memories()[0].id > first


def test_memories_survive_the_store(tmp_path: Path) -> None:
    path = str(tmp_path / "progress.db")
    one = SqliteStore.open(path, FrozenClock(), relaxed=True)
    learn(one, "the pool is small")
    one.close()
    two = SqliteStore.open(path, FrozenClock(), relaxed=True)
    assert texts(two.recall(["pool"], 9)) == ["the pool is small"]
    two.close()


def test_nothing_that_a_session_or_a_person_writes_is_too_odd(tmp_path: Path) -> None:
    store = SqliteStore.open(str(tmp_path / "progress.db"), FrozenClock(), relaxed=True)
    learn(store, "the pool is small")

    @settings(max_examples=150)
    @given(ANY, ANY)
    def whatever(title: str, text: str) -> None:
        task = Task(id=TaskId("t-a"), title=title, description=text)
        store.recall(telling_words(title, text), 30)
        store.recall([title, text], 30)
        message = f"<journal>{text}</journal><knowledge title='{title}'>{text}</knowledge>"
        ending = Ending(ended=Ended.FINISHED, message=message)
        verdict = Verdict(transition=Rejected(text), message=text)
        remember(store, *worth_keeping(task, 1, ending, verdict))

    whatever()
    assert store.check() == []
    store.close()


def test_a_sqlite_without_its_search_is_explained() -> None:
    error = explained(sqlite3.OperationalError("no such module: fts5"), "progress.db")
    assert isinstance(error, Unavailable)
    assert "FTS5" in error.hint


def test_a_settlement_that_fails_keeps_nothing(store: SqliteStore) -> None:
    learn(store)
    taken = claim(store)
    with pytest.raises(sqlite3.IntegrityError):
        keep(store, taken, a_memory("good"), a_memory("bad", task_id=None))
    assert store.memories() == []
    assert store.recall(["good"], 9) == []
