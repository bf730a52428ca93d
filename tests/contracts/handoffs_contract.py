"""What every store promises about hand-offs."""

from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.session_events import SessionHandedOver
from ralph.core.session_output import ToolUsage
from ralph.store.costs import CostFilter
from ralph.store.sessions import Checkpoint, Session, SessionSegment
from ralph.store.store import Store
from tests.contracts.store_test_helpers import RUN, Contract, add, begin, claim, start


def _handed(session: Session, number: int) -> tuple[SessionSegment, SessionHandedOver]:
    segment = SessionSegment(
        session_id=session.id,
        number=number,
        task_id=session.task_id,
        run_id=RUN,
        agent="a",
        ended_at="2026-01-01T00:00:00Z",
        ending=SessionEnding(ended=EndingKind.FINISHED, cost_usd=0.25),
        reason="full",
        memory=f"what {number} left",
    )
    event = SessionHandedOver(
        session_id=session.id,
        task_id=session.task_id,
        number=number,
        reason="full",
        ended=EndingKind.FINISHED,
        used=2,
        capacity=3,
    )
    return segment, event


class HandoffsContract(Contract):
    """An attempt of several sessions."""

    def test_sessions_that_have_handed_over_are_kept_in_order_with_their_cost(
        self, store: Store
    ) -> None:
        begin(store)
        add(store, "a")
        taken = claim(store)
        session = start(store, taken)
        assert store.sessions.segments(session.id) == []
        both = [_handed(session, 1), _handed(session, 2)]
        for segment, event in both:
            store.sessions.save_segment(segment, taken, event)
        assert store.sessions.segments(session.id) == [segment for segment, _ in both]
        assert [one.event for one in store.events.select()][-2:] == [event for _, event in both]
        assert store.costs.total(CostFilter(task=session.task_id)).reported_usd == 0.5

    def test_a_fresh_session_has_been_told_nothing_by_tools(self, store: Store) -> None:
        begin(store)
        add(store, "a")
        taken = claim(store)
        session = start(store, taken)
        store.sessions.save_tool_usage(
            session.id, ToolUsage(tokens=90_000, errors=1, last_error="no"), taken
        )
        segment, event = _handed(session, 1)
        store.sessions.save_segment(segment, taken, event)
        store.sessions.start(session, taken)
        known = store.sessions.get(session.task_id, session.attempt)
        assert known is not None
        assert known.tools == ToolUsage()

    def test_the_attempt_goes_on(self, store: Store) -> None:
        begin(store)
        add(store, "a")
        taken = claim(store)
        session = start(store, taken)
        segment, event = _handed(session, 1)
        store.sessions.save_segment(segment, taken, event)
        known = store.sessions.get(session.task_id, session.attempt)
        assert known is not None
        assert known.checkpoint is Checkpoint.STARTED
        assert store.claims.holds(taken)
