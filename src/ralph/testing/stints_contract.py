"""What every store promises about hand-offs."""

from ralph.core.ended import Ended
from ralph.core.ending import Ending
from ralph.core.handoff_events import SessionHandedOver
from ralph.core.tool_uses import ToolUses
from ralph.ports.history import Mark, Session
from ralph.ports.ledger import Asked
from ralph.ports.stints import Stint
from ralph.ports.store import Store
from ralph.testing.store_words import RUN, Contract, add, begin, claim, start


def _handed(session: Session, number: int) -> tuple[Stint, SessionHandedOver]:
    stint = Stint(
        session_id=session.id,
        number=number,
        task_id=session.task_id,
        run_id=RUN,
        agent="a",
        ended_at="2026-01-01T00:00:00Z",
        ending=Ending(ended=Ended.FINISHED, cost_usd=0.25),
        reason="full",
        memory=f"what {number} left",
    )
    event = SessionHandedOver(
        session_id=session.id,
        task_id=session.task_id,
        number=number,
        reason="full",
        ended=Ended.FINISHED,
        used=2,
        capacity=3,
    )
    return stint, event


class StintsContract(Contract):
    """An attempt of several sessions."""

    def test_sessions_that_have_handed_over_are_kept_in_order_with_their_cost(
        self, store: Store
    ) -> None:
        begin(store)
        add(store, "a")
        session = start(store, claim(store))
        assert store.stints(session.id) == []
        both = [_handed(session, 1), _handed(session, 2)]
        for stint, event in both:
            store.hand_over(stint, event)
        assert store.stints(session.id) == [stint for stint, _ in both]
        assert [one.event for one in store.events()][-2:] == [event for _, event in both]
        assert store.spent(Asked(task=session.task_id)).reported_usd == 0.5

    def test_a_fresh_session_has_been_told_nothing_by_tools(self, store: Store) -> None:
        begin(store)
        add(store, "a")
        taken = claim(store)
        session = start(store, taken)
        store.note_tools(session.id, ToolUses(tokens=90_000, errors=1, last_error="no"))
        stint, event = _handed(session, 1)
        store.hand_over(stint, event)
        store.start_session(session, taken, event)
        known = store.session(session.task_id, session.attempt)
        assert known is not None
        assert known.tools == ToolUses()

    def test_the_attempt_goes_on(self, store: Store) -> None:
        begin(store)
        add(store, "a")
        taken = claim(store)
        session = start(store, taken)
        store.hand_over(*_handed(session, 1))
        known = store.session(session.task_id, session.attempt)
        assert known is not None
        assert known.mark is Mark.STARTED
        assert store.holds(taken)
