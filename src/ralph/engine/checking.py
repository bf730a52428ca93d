"""Part of step 4: another session looks at the work, as often as it takes to come to a verdict."""

from typing import Final

from msgspec.structs import replace

from ralph.core.ended import Cost, Ended
from ralph.core.ending import Ending
from ralph.core.moment import iso
from ralph.core.role import Role
from ralph.engine.check import Case, Look, check, record
from ralph.engine.kit import Kit
from ralph.engine.roster import checker
from ralph.ports.agent import Agent
from ralph.ports.executor import Interrupted
from ralph.ports.history import Check, Mark, Session

TRIES: Final = 3
"""One who crashes so often cannot check anything."""


class Halted(Exception):
    """It cannot be checked now, for no fault of the task's: its session stays unjudged."""

    def __init__(self, agent: Agent, ending: Ending) -> None:
        super().__init__(ending.detail)
        self.agent = agent
        self.ending = ending


def awaited(kit: Kit, session: Session) -> Role | None:
    """Which look at a session that has ended is still to come; None: no other."""
    s = kit.settings
    if session.mark not in (Mark.ENDED, Mark.GATED):
        return None
    told = {one.role: one.passed for one in kit.store.checks(session.id) if one.passed is not None}
    if not all(told.values()):
        return None
    wanted = ((Role.VERIFY, s.verify), (Role.REVIEW, s.review))
    return next((role for role, is_on in wanted if is_on and role not in told), None)


def decided(kit: Kit, look: Look, case: Case) -> Check:
    """A check with a verdict. One that was given before a crash counts."""
    known = [one for one in kit.store.checks(case.session.id) if one.role is look.role]
    before = [_lost(kit, look, one) for one in known]
    for one in before:
        if one.passed is not None:
            return one
    crashes = [one for one in before if one.ending and one.ending.cost is Cost.STRIKE]
    number = len(before)
    while len(crashes) < TRIES:
        number += 1
        agent = checker(kit, look.role, case.session)
        kit.purse.count()
        if kit.is_billed(agent) and kit.purse.used_up():
            raise Interrupted  # the loop sees it, too, and pauses the run
        done = check(kit, look, agent, case, number)
        ending = done.ending
        assert ending is not None
        match ending.cost:
            case Cost.JUDGE:
                assert done.passed is not None
                return done
            case Cost.STRIKE:
                crashes.append(done)
            case Cost.NOTHING:
                raise Interrupted
            case Cost.WAIT | Cost.BACK_OFF | Cost.PAUSE | Cost.END_RUN:
                raise Halted(agent, ending)
    last = crashes[-1]
    assert last.ending is not None
    why = last.ending.detail or last.ending.ended.value
    said = f"the {look.who} failed {TRIES} times; the last time: {why}"
    return replace(last, passed=False, reason=said)


def _lost(kit: Kit, look: Look, begun: Check) -> Check:
    """Ralph died while it ran: nobody knows what it has cost, and that is written down."""
    if begun.ending is not None:
        return begun
    ending = Ending(ended=Ended.LOST, detail="Ralph died while it ran")
    return record(kit, look, replace(begun, ending=ending, ended_at=iso(kit.clock.now())))
