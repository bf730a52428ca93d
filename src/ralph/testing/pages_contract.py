"""What every store promises to whoever reads all of it."""

from ralph.core.memory import Memory, MemoryKind
from ralph.ports.store import Store
from ralph.testing.store_words import RUN, Contract, add, begin, claim, start


class PagesContract(Contract):
    """Page by page, nothing twice, nothing left out."""

    def test_tasks_come_in_the_order_in_which_they_were_made(self, store: Store) -> None:
        made = [add(store, f"task {number}", priority=-number) for number in range(5)]
        found, number = [], 0
        while page := store.tasks_after(number, 2):
            assert len(page) <= 2
            found += [task.id for _, task in page]
            number = page[-1][0]
        assert found == made

    def test_a_page_holds_the_whole_task(self, store: Store) -> None:
        a = add(store, "a", description="long")
        ((_, task),) = store.tasks_after(0, 10)
        assert task == store.find(a)

    def test_names_that_everybody_knows(self, store: Store) -> None:
        one, other = store.add_feature("one"), store.add_feature("other")
        a = add(store, "a", alias="auth-01")
        b = add(store, "b", alias="US-001", feature_id=one.id)
        c = add(store, "c", alias="US-001", feature_id=other.id)
        d = add(store, "d")
        assert store.names_of([a, b, c, d]) == {a: "auth-01", b: b, c: c, d: d}
        assert store.names_of([]) == {}

    def test_what_was_learned(self, store: Store) -> None:
        a = add(store, "a")
        for number, kind in enumerate(
            (MemoryKind.KNOWLEDGE, MemoryKind.JOURNAL, MemoryKind.KNOWLEDGE)
        ):
            store.learn(Memory(kind=kind, text=f"lesson {number}", task_id=a, attempt=1))
        first, second = store.learned_after(0, 10)
        assert [first.text, second.text] == ["lesson 0", "lesson 2"]
        assert store.learned_after(first.id, 10) == [second]
        assert store.learned_after(0, 1) == [first]

    def test_events_of_some_kinds(self, store: Store) -> None:
        begin(store)
        add(store, "a")
        start(store, claim(store))
        (found,) = store.told_after(0, 10, ("session_started",))
        assert found in store.events()
        assert found.run_id == RUN
        assert store.told_after(found.seq, 10, ("session_started",)) == []
        assert len(store.told_after(0, 10, ("session_started", "task_added"))) == 2

    def test_attempts_are_counted(self, store: Store) -> None:
        assert store.attempts() == 0
        begin(store)
        add(store, "a")
        start(store, claim(store))
        assert store.attempts() == 1
