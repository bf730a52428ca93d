"""One attempt as a relay: a session that runs out of context hands over to a fresh one."""

from collections.abc import Callable

from msgspec.structs import replace

from ralph.core.ended import Ended
from ralph.core.ending import Ending
from ralph.core.errors import RalphError
from ralph.core.events import SessionStarted
from ralph.core.handoff_events import SessionHandedOver
from ralph.core.learning import worth_keeping
from ralph.core.moment import iso
from ralph.core.safe_text import one_line
from ralph.core.snapshot import Changes
from ralph.core.transitions import Released
from ralph.core.verdict import Verdict
from ralph.engine.control import listen, wait_while_paused
from ralph.engine.handover import Handover
from ralph.engine.kit import Kit
from ralph.engine.session import Heard, hold
from ralph.ports.agent import Brief
from ralph.ports.claims import Claim
from ralph.ports.history import Session
from ralph.ports.stints import Stint

SHOWN_FILES = 200


def relay(
    kit: Kit, claim: Claim, session: Session, brief: Brief, *, again: Callable[[], Brief]
) -> tuple[Session, Heard, float]:
    """Sessions until one of them ends the attempt; that one, and how long all of them took. `again`
    writes the brief of the next one."""
    took = 0.0
    while True:
        handover = Handover(kit, kit.agent, session, brief)
        lead = kit.door.open_for(session, claim, kit.leash(), kit.settings.home)
        try:
            heard = hold(
                kit,
                kit.agent,
                brief,
                claim,
                name=session.id,
                variables=lead,
                handover=handover,
            )
        finally:
            kit.door.shut()
            kit.memo.is_at_work = False
        took += heard.exit.duration_s
        if not handover.follows(claim, heard.ending):
            if heard.ending.ended is not Ended.FINISHED:
                # It could not say where it stands, so what was seen of it has to do.
                why = f"it ended early: {heard.ending.detail or heard.ending.ended}"
                leave(kit, session, title=claim.task.title, why=why, is_idle=not heard.tool_uses)
            break
        if why := _must_end(kit, claim):
            leave(kit, session, title=claim.task.title, why=why, said=_said(heard.ending))
            ending = replace(heard.ending, ended=Ended.INTERRUPTED, detail=why)
            heard = replace(heard, ending=ending)
            break
        _archive(kit, claim, session, handover, heard)
        kit.memo.part += 1
        brief = again()
        session = _go_on(kit, claim, session, brief)
    return session, heard, took


def _must_end(kit: Kit, claim: Claim) -> str:
    """Why no fresh session may go on, if so: it waits for the next attempt."""
    listen(kit, claim.task.id)
    wait_while_paused(kit)
    if signal := kit.interrupted():
        return f"stopped by {signal} when it was handed over"
    if kit.stopping or claim.task.id in kit.skipped or not kit.store.holds(claim):
        return kit.stopping or "it was taken away when it was handed over"
    kit.purse.count()
    return (kit.purse.used_up() or "") if kit.is_billed(kit.agent) else ""


def _archive(kit: Kit, claim: Claim, session: Session, handover: Handover, heard: Heard) -> None:
    """What it leaves goes to the file for the next one; all that it was, to the store."""
    task, ending = claim.task, heard.ending
    text, changes = leave(kit, session, title=task.title, why=handover.reason, said=_said(ending))
    stint = Stint(
        session_id=session.id,
        number=kit.memo.part,
        task_id=task.id,
        run_id=kit.settings.run_id,
        agent=session.agent,
        model=session.model,
        log=session.log,
        started_at=handover.began,
        ended_at=iso(kit.clock.now()),
        ending=ending,
        reason=handover.reason,
        memory=text,
        duration_s=heard.exit.duration_s,
    )
    if kit.settings.telling.memory:
        over = Verdict(transition=Released(handover.reason), message=handover.reason)
        for memory in worth_keeping(task, claim.attempt, ending, over):
            kit.store.learn(memory, kit.settings.run_id)
    capacity = kit.settings.room.holds(ending.model, session.model)
    kit.store.hand_over(
        stint,
        SessionHandedOver(
            session_id=session.id,
            task_id=task.id,
            number=kit.memo.part,
            reason=handover.reason,
            ended=ending.ended,
            used=ending.context_tokens or 0,
            capacity=capacity,
            agent=session.agent,
            duration_s=round(stint.duration_s, 3),
            model=one_line(ending.model, 100),
            cost_usd=ending.cost_usd,
            estimated=ending.estimated,
            input_tokens=ending.input_tokens,
            cached_tokens=ending.cached_tokens,
            output_tokens=ending.output_tokens,
            commits=changes.commits,
            files=tuple(one_line(path, 300) for path in changes.files[:SHOWN_FILES]),
            log=session.log,
        ),
    )
    kit.publish()


def leave(
    kit: Kit, session: Session, *, title: str, why: str, said: str = "", is_idle: bool = False
) -> tuple[str, Changes]:
    """What it leaves to the next one, and what has changed. `is_idle`: it used no tool that anybody
    has seen; then only what it has changed is worth a word."""
    changes = _seen(kit, session)
    if is_idle and not (changes.files or changes.commits):
        return "", changes
    return kit.memo.take(session, changes, title=title, why=why, said=said), changes


def _said(ending: Ending) -> str:
    """What it had to say, where it came to its end and could not write it."""
    return ending.message if ending.ended is Ended.FINISHED else ""


def _seen(kit: Kit, session: Session) -> Changes:
    """What the attempt has changed so far; nothing where git cannot tell."""
    kit.snapshot = None
    try:
        now = kit.take_snapshot()
        return kit.workspace.changes(session.before or now, now)
    except RalphError:
        return Changes()


def _go_on(kit: Kit, claim: Claim, session: Session, brief: Brief) -> Session:
    """The same attempt, in a fresh context."""
    fresh = replace(
        session,
        log=f"{kit.files}.log",
        model=brief.terms.model,
        tier=brief.terms.tier,
        given=brief.given,
    )
    started = SessionStarted(
        session_id=fresh.id,
        task_id=fresh.task_id,
        title=claim.task.title,
        attempt=fresh.attempt,
        agent=fresh.agent,
        model=fresh.model,
        log=fresh.log,
    )
    kit.store.start_session(fresh, claim, started)
    kit.publish()
    kit.show()
    return fresh
