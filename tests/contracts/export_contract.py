"""What every store promises to whoever reads all of it."""

from ralph.core.memory import Memory, MemoryKind
from ralph.store.store import Store
from tests.contracts.store_test_helpers import RUN, Contract, add, begin, claim, start


class ExportContract(Contract):
    """Page by page, nothing twice, nothing left out."""

    def test_tasks_come_in_the_order_in_which_they_were_made(self, store: Store) -> None:
        made = [add(store, f"task {number}", priority=-number) for number in range(5)]
        found, number = [], 0
        while page := store.tasks.after(number, 2):
            assert len(page) <= 2
            found += [task.id for _, task in page]
            number = page[-1][0]
        assert found == made

    def test_a_page_holds_the_whole_task(self, store: Store) -> None:
        a = add(store, "a", description="long")
        ((_, task),) = store.tasks.after(0, 10)
        assert task == store.tasks.find(a)

    def test_names_that_everybody_knows(self, store: Store) -> None:
        one, other = store.features.add("one"), store.features.add("other")
        a = add(store, "a", alias="auth-01")
        b = add(store, "b", alias="US-001", feature_id=one.id)
        c = add(store, "c", alias="US-001", feature_id=other.id)
        d = add(store, "d")
        assert store.tasks.names_of([a, b, c, d]) == {a: "auth-01", b: b, c: c, d: d}
        assert store.tasks.names_of([]) == {}

    def test_what_was_learned(self, store: Store) -> None:
        a = add(store, "a")
        for number, kind in enumerate(
            (MemoryKind.KNOWLEDGE, MemoryKind.JOURNAL, MemoryKind.KNOWLEDGE)
        ):
            store.memories.add(Memory(kind=kind, text=f"lesson {number}", task_id=a, attempt=1))
        first, second = store.memories.after(0, 10)
        assert [first.text, second.text] == ["lesson 0", "lesson 2"]
        assert store.memories.after(first.id, 10) == [second]
        assert store.memories.after(0, 1) == [first]

    def test_events_of_some_kinds(self, store: Store) -> None:
        begin(store)
        add(store, "a")
        start(store, claim(store))
        (found,) = store.events.select(0, 10, ("session_started",))
        assert found in store.events.select()
        assert found.run_id == RUN
        assert store.events.select(found.seq, 10, ("session_started",)) == []
        assert len(store.events.select(0, 10, ("session_started", "task_added"))) == 2

    def test_attempts_are_counted(self, store: Store) -> None:
        assert store.sessions.count() == 0
        begin(store)
        add(store, "a")
        start(store, claim(store))
        assert store.sessions.count() == 1
