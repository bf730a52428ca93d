"""What every store promises about the checkout that a task began with."""

import pytest

from ralph.core.snapshot import Snapshot
from ralph.core.transitions import Blocked, GaveUp, Postponed, Rejected
from ralph.ports.history import Mark
from ralph.ports.store import Store
from ralph.testing.store_words import Contract, add, begin, claim, settle, start


class BaseContract(Contract):
    """The checkout to which a task's work is compared."""

    def test_the_base_is_the_checkout_of_the_first_session(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        assert store.base(a) is None
        taken = claim(store)
        start(store, taken, before=Snapshot(head="c1", dirty=("x",)))
        settle(store, taken, Rejected("red"))
        start(store, claim(store), before=Snapshot(head="c2"))
        assert store.base(a) == Snapshot(head="c1", dirty=("x",))

    @pytest.mark.parametrize("how", ["done", "forgotten", "deleted"])
    def test_the_base_is_forgotten_when_the_work_is_over(self, store: Store, how: str) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        start(store, taken)
        assert store.base(a) == Snapshot(head="c0")
        match how:
            case "done":
                settle(store, taken)
            case "forgotten":
                settle(store, taken, Blocked("held"))
                assert store.base(a) is not None
                store.forget_base(a)
            case _:
                store.delete_task(a)
                store.forget_base(a)
        assert store.base(a) is None

    @pytest.mark.parametrize("how", ["failed", "blocked", "reset", "retried"])
    def test_the_base_is_kept_while_the_work_lies_in_the_checkout(
        self, store: Store, how: str
    ) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        start(store, taken)
        match how:
            case "blocked":
                settle(store, taken, Blocked("held"))
            case "reset":
                store.reset(a)
            case _:
                settle(store, taken, GaveUp("no"))
        if how == "retried":
            store.retry(a)
        assert store.base(a) == Snapshot(head="c0")

    def test_a_base_moves_with_what_others_do(self, store: Store) -> None:
        begin(store)
        a, b = add(store, "a"), add(store, "b")
        start(store, claim(store))
        store.move_base(a, Snapshot(head="c1", dirty=("theirs",)))
        assert store.base(a) == Snapshot(head="c1", dirty=("theirs",))
        store.move_base(b, Snapshot(head="c1"))
        assert store.base(b) is None

    @pytest.mark.parametrize("how", ["forgotten", "reset"])
    def test_a_session_whose_work_is_gone_is_not_judged_any_more(
        self, store: Store, how: str
    ) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        store.mark_session(start(store, taken).id, Mark.ENDED)
        settle(store, taken, Postponed("stopped"))
        if how == "reset":
            store.reset(a)
        else:
            store.forget_base(a)
        found = store.session(a, 1)
        assert found is not None
        assert found.mark is Mark.SETTLED
