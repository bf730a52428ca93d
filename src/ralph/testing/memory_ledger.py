"""The memory store's ledger: sums over sessions that have ended, worked out anew each time."""

import time
from functools import reduce

from ralph.core.moment import epoch
from ralph.core.safe_text import one_line
from ralph.core.spent import Spent, one_session
from ralph.ports.history import Check, Session
from ralph.ports.ledger import Asked, By
from ralph.ports.stints import Stint
from ralph.testing.memory_state import State


class MemoryLedger:
    """`Ledger` on plain dicts."""

    def __init__(self, state: State) -> None:
        self._state = state

    def spent(self, asked: Asked) -> Spent:
        return _sum([one for one in self._all() if self._is_asked(one, asked)])

    def _all(self) -> list[Session | Check | Stint]:
        state = self._state
        return [*state.sessions.values(), *state.checks.values(), *state.stints.values()]

    def costs(self, by: By, asked: Asked, limit: int = 0) -> list[tuple[str, Spent]]:
        groups: dict[str, list[Session | Check | Stint]] = {}
        for one in self._all():
            if self._is_asked(one, asked):
                groups.setdefault(_key(by, one), []).append(one)
        names = sorted(groups)
        if by in (By.RUN, By.DAY):
            names.sort(
                key=lambda name: max(one.ended_at or "" for one in groups[name]), reverse=True
            )
        else:
            sums = {name: _sum(groups[name]) for name in names}
            names.sort(key=lambda name: (-sums[name].known_usd, -sums[name].sessions))
        return [(name, _sum(groups[name])) for name in names[: limit or None]]

    def _is_asked(self, session: Session | Check | Stint, asked: Asked) -> bool:
        below = {asked.task}
        if asked.task is not None and asked.task in self._state.tasks:
            below |= set(self._state.below(asked.task))
        return (
            session.ending is not None
            and (asked.run is None or session.run_id == asked.run)
            and (asked.task is None or session.task_id in below)
            and (asked.since is None or (session.ended_at or "") >= asked.since)
        )


def _key(by: By, session: Session | Check | Stint) -> str:
    ending = session.ending
    match by:
        case By.RUN:
            return session.run_id
        case By.TASK:
            return session.task_id
        case By.AGENT:
            return session.agent
        case By.MODEL:
            return one_line((ending.model if ending else "") or session.model, 200)
        case By.DAY:
            return time.strftime("%Y-%m-%d", time.localtime(epoch(session.ended_at or "")))


def _sum(sessions: list[Session | Check | Stint]) -> Spent:
    each = [
        one_session(
            one.ending.cost_usd,
            estimated=one.ending.estimated,
            input_tokens=one.ending.input_tokens,
            cached_tokens=one.ending.cached_tokens,
            output_tokens=one.ending.output_tokens,
        )
        for one in sessions
        if one.ending is not None
    ]
    return reduce(Spent.__add__, each, Spent())
