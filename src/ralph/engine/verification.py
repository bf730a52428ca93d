"""Part of step 4: a second session checks the work, in a checkout of its own."""

from typing import Final

from msgspec.structs import replace

from ralph.core.ended import Cost, Ended
from ralph.core.ending import Ending
from ralph.core.moment import iso
from ralph.core.verdict import Verdict
from ralph.core.verification import on_check
from ralph.engine.check import Case, check, record
from ralph.engine.gates import Interrupted
from ralph.engine.kit import Kit
from ralph.engine.roster import verifier
from ralph.ports.agent import Agent
from ralph.ports.history import Check, Mark, Session

TRIES: Final = 3
"""A verifier that crashes so often cannot verify."""


class Halted(Exception):
    """The verifier cannot work now, for no fault of the task's: its session stays unjudged."""

    def __init__(self, agent: Agent, ending: Ending) -> None:
        super().__init__(ending.detail)
        self.agent = agent
        self.ending = ending


def wants_check(kit: Kit, session: Session) -> bool:
    """Has a session that has ended still to be checked?"""
    is_open = kit.settings.verify and session.mark in (Mark.ENDED, Mark.GATED)
    return is_open and all(one.passed is None for one in kit.store.checks(session.id))


def verify(kit: Kit, case: Case) -> Verdict | None:
    """None: it passes. A verdict that was given before a crash counts."""
    before = [_lost(kit, one) for one in kit.store.checks(case.session.id)]
    for one in before:
        if one.passed is not None:
            return on_check(passed=one.passed, reason=one.reason)
    endings = [one.ending for one in before if one.ending is not None]
    crashes = [ending for ending in endings if ending.cost is Cost.STRIKE]
    number = len(before)
    while len(crashes) < TRIES:
        number += 1
        agent = verifier(kit, case.session)
        kit.purse.count()
        if kit.is_billed(agent) and kit.purse.used_up():
            raise Interrupted  # the loop sees it, too, and pauses the run
        done = check(kit, agent, case, number)
        ending = done.ending
        assert ending is not None
        match ending.cost:
            case Cost.JUDGE:
                assert done.passed is not None
                return on_check(passed=done.passed, reason=done.reason)
            case Cost.STRIKE:
                crashes.append(ending)
            case Cost.NOTHING:
                raise Interrupted
            case Cost.WAIT | Cost.BACK_OFF | Cost.PAUSE | Cost.END_RUN:
                raise Halted(agent, ending)
    why = crashes[-1].detail or crashes[-1].ended.value
    return on_check(passed=False, reason=f"the verifier failed {TRIES} times; the last time: {why}")


def _lost(kit: Kit, begun: Check) -> Check:
    """Ralph died while it ran: nobody knows what it has cost, and that is written down."""
    if begun.ending is not None:
        return begun
    ending = Ending(ended=Ended.LOST, detail="Ralph died while it ran")
    return record(kit, replace(begun, ending=ending, ended_at=iso(kit.clock.now())))
