"""Step 3: run one session of the agent, watched, and record how it ended."""

from msgspec.structs import replace

from ralph.core.ending import Exit
from ralph.core.errors import RalphError
from ralph.core.events import SessionEnded, SessionStarted
from ralph.core.ids import session_id
from ralph.core.moment import iso
from ralph.core.safe_text import one_line
from ralph.core.snapshot import Changes, Snapshot
from ralph.engine.kit import Kit
from ralph.engine.relay import relay
from ralph.engine.session import Heard
from ralph.engine.steps.compose import compose
from ralph.engine.work import mind_theirs, take_theirs_out
from ralph.ports.agent import Brief
from ralph.ports.claims import Claim
from ralph.ports.history import Mark, Session


def execute(kit: Kit, claim: Claim, brief: Brief) -> Session:
    """The session after its end, with its final message, durably marked."""
    session = _start(kit, claim, brief)
    began = kit.clock.now()
    session, heard, took = relay(kit, claim, session, brief, again=lambda: compose(kit, claim))
    # Everything that the session started is gone, and holds no lock any more.
    for aside in kit.workspace.clear_locks(began):
        kit.warn(f"the session left a lock of git's; it is {aside} now", claim.task.id)
    for line in kit.document.leave(claim.task) if kit.document is not None else ():
        kit.warn(line, claim.task.id)
    after, changes = _look(kit, session)
    if changes.commits and take_theirs_out(kit, claim.task.id, session.before):
        after, changes = _look(kit, session)
    if changes.commits and kit.settings.commit == "none" and session.before is not None:
        count = "a commit" if len(changes.commits) == 1 else f"{len(changes.commits)} commits"
        kit.warn(
            f"the session has made {count}, though nothing is to be committed;"
            f" `git reset --soft {session.before.head[:10]}` takes that back and keeps the work",
            claim.task.id,
        )
    kit.commits += len(changes.commits)
    ended = replace(
        session,
        ended_at=iso(kit.clock.now()),
        mark=Mark.ENDED,
        after=after,
        ending=heard.ending,
        commits=changes.commits,
        duration_s=took,
    )
    _note_errors(kit, session, heard)
    kit.store.end_session(ended, _told(ended, changes.files, heard.exit))
    kit.publish()
    if ended.before and ended.after:
        mind_theirs(kit, claim.task.id, ended.before, ended.after, changes.files)
    return kit.store.session(claim.task.id, claim.attempt) or ended


def _note_errors(kit: Kit, session: Session, heard: Heard) -> None:
    known = kit.store.session(session.task_id, session.attempt) if heard.tool_errors else None
    if known is not None:
        uses = known.tools.completed(heard.tool_errors, heard.tool_error)
        kit.store.note_tools(session.id, uses)


def _look(kit: Kit, session: Session) -> tuple[Snapshot | None, Changes]:
    """The tree that it left, and what changed.

    None where git cannot tell, since the disk is full: what the session said is worth more and
    needs no git. Whoever judges it looks again.
    """
    kit.snapshot = None
    try:
        after = kit.take_snapshot()
        return after, kit.workspace.changes(session.before or after, after)
    except RalphError:
        return None, Changes()


def _start(kit: Kit, claim: Claim, brief: Brief) -> Session:
    task = claim.task
    session = Session(
        id=session_id(task.id, claim.attempt),
        task_id=task.id,
        attempt=claim.attempt,
        run_id=kit.settings.run_id,
        worker=claim.worker,
        agent=kit.agent.traits.name,
        model=brief.terms.model,
        tier=brief.terms.tier,
        strategy=kit.settings.models.strategy,
        checkout=kit.workspace.path,
        log=kit.files + ".log",
        started_at=iso(kit.clock.now()),
        before=kit.take_snapshot(),
        given=brief.given,
    )
    event = SessionStarted(
        session_id=session.id,
        task_id=task.id,
        title=task.title,
        attempt=claim.attempt,
        agent=session.agent,
        model=session.model,
        log=session.log,
    )
    kit.store.start_session(session, claim, event)
    kit.attempts += 1
    kit.publish()
    kit.show()
    return session


def _told(session: Session, files: tuple[str, ...], exit_: Exit) -> SessionEnded:
    ending = session.ending
    assert ending is not None
    return SessionEnded(
        session_id=session.id,
        task_id=session.task_id,
        ended=ending.ended,
        detail=one_line(ending.detail, 300),
        # Its own: those before it have told theirs when they handed over.
        duration_s=round(exit_.duration_s, 3),
        model=one_line(ending.model, 100),
        cost_usd=ending.cost_usd,
        estimated=ending.estimated,
        input_tokens=ending.input_tokens,
        cached_tokens=ending.cached_tokens,
        output_tokens=ending.output_tokens,
        commits=session.commits,
        # Names may hold anything, also bytes that no JSON can carry.
        files=tuple(one_line(path, 300) for path in files[:200]),
        swept=exit_.swept,
        denied=tuple(one_line(name, 60) for name in ending.denied),
    )
