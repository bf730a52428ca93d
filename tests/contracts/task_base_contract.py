"""What every store promises about the checkout that a task began with."""

import pytest

from ralph.core.snapshot import Snapshot
from ralph.core.transitions import Blocked, GaveUp, Postponed, Rejected
from ralph.store.sessions import Checkpoint
from ralph.store.store import Store
from tests.contracts.store_test_helpers import Contract, add, begin, claim, settle, start


class TaskBaseContract(Contract):
    """The checkout to which a task's work is compared."""

    def test_the_base_is_the_checkout_of_the_first_session(self, store: Store) -> None:
        begin(store)
        a = add(store, "a")
        assert store.claims.base(a) is None
        taken = claim(store)
        start(store, taken, before=Snapshot(head="c1", dirty=("x",)))
        settle(store, taken, Rejected("red"))
        start(store, claim(store), before=Snapshot(head="c2"))
        assert store.claims.base(a) == Snapshot(head="c1", dirty=("x",))

    @pytest.mark.parametrize("how", ["done", "forgotten", "deleted"])
    def test_the_base_is_forgotten_when_the_work_is_over(self, store: Store, how: str) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        start(store, taken)
        assert store.claims.base(a) == Snapshot(head="c0")
        match how:
            case "done":
                settle(store, taken)
            case "forgotten":
                settle(store, taken, Blocked("held"))
                assert store.claims.base(a) is not None
                store.claims.forget_base(a, None)
            case _:
                store.tasks.delete(a)
                store.claims.forget_base(a, None)
        assert store.claims.base(a) is None

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
                store.tasks.reset(a)
            case _:
                settle(store, taken, GaveUp("no"))
        if how == "retried":
            store.tasks.retry(a)
        assert store.claims.base(a) == Snapshot(head="c0")

    def test_a_base_moves_with_what_others_do(self, store: Store) -> None:
        begin(store)
        a, b = add(store, "a"), add(store, "b")
        taken = claim(store)
        start(store, taken)
        store.claims.move_base(a, Snapshot(head="c1", dirty=("theirs",)), taken)
        assert store.claims.base(a) == Snapshot(head="c1", dirty=("theirs",))
        store.claims.move_base(b, Snapshot(head="c1"), None)
        assert store.claims.base(b) is None

    @pytest.mark.parametrize("how", ["forgotten", "reset"])
    def test_a_session_whose_work_is_gone_is_not_judged_any_more(
        self, store: Store, how: str
    ) -> None:
        begin(store)
        a = add(store, "a")
        taken = claim(store)
        store.sessions.save_checkpoint(start(store, taken).id, Checkpoint.ENDED, taken)
        settle(store, taken, Postponed("stopped"))
        if how == "reset":
            store.tasks.reset(a)
        else:
            store.claims.forget_base(a, None)
        found = store.sessions.get(a, 1)
        assert found is not None
        assert found.checkpoint is Checkpoint.SETTLED
