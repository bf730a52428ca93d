"""The hand-off: when a session must give way to a fresh one, and what it leaves for that."""

from typing import Any

from msgspec.structs import replace

from ralph.core.brief_sections import estimate_tokens
from ralph.core.errors import RalphError
from ralph.core.memory_selection import memories_of_attempt
from ralph.core.message_tags import read_message_tags
from ralph.core.safe_text import one_line
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.session_events import SessionHandedOver, WrapUpAsked
from ralph.core.session_output import (
    MOST,
    ContextUsage,
    StreamSummary,
    context_usage,
    is_context_full,
    is_handoff_due,
)
from ralph.core.snapshot import CheckoutChanges, Snapshot
from ralph.core.times import to_iso
from ralph.core.transitions import Released
from ralph.core.verdict import Verdict
from ralph.documents.memory_file import wrap_up_prompt
from ralph.engine.run_context import RunContext
from ralph.ports.agent import Agent, Brief
from ralph.store.claims import Claim
from ralph.store.sessions import Session, SessionSegment

SHOWN_FILES = 200


class HandoffTrigger:
    """Watches how full the context of one session is."""

    def __init__(self, ctx: RunContext, agent: Agent, session: Session, brief: Brief) -> None:
        room = ctx.settings.config.context
        self._ctx = ctx
        self._session = session
        self._brief_tokens = estimate_tokens(brief.text) + estimate_tokens(brief.rules)
        self._model = brief.terms.model
        self.began = to_iso(ctx.clock.now())
        self._can_ask = bool(agent.traits.has_hooks and brief.terms.hooks and room.wrap_up_s)
        self._is_known = bool(agent.traits.program)
        """Without reports: is what it says and reads what is in its context? Whatever a plain
        command prints says nothing about one."""
        self._asked_at: float | None = None
        self.reason = ""
        """Why it hands over; empty: it does not."""
        ctx.memory_file.begin_session()

    def context_usage(self, digest: StreamSummary) -> ContextUsage:
        capacity = self._ctx.settings.config.context.capacity_of(digest.model, self._model)
        so_far = context_usage(digest, self._brief_tokens, capacity)
        if digest.context:
            return so_far
        # Some agents show only a part of what their tools answered; their hooks get all of it.
        known = self._known()
        unseen = max(0, known.tools.tokens - so_far.from_tools) if known is not None else 0
        return replace(so_far, used=so_far.used + unseen, from_tools=so_far.from_tools + unseen)

    def _show_context_usage(self, digest: StreamSummary) -> ContextUsage:
        so_far = self.context_usage(digest)
        if self._ctx.log.views is not None:
            self._ctx.log.views.set_context_usage(so_far)
        return so_far

    def check(self, digest: StreamSummary) -> EndingKind | None:
        """Called twice a second: ask the session to wrap up, wait for it, stop it."""
        if digest.result is not None:
            return None
        room, now = self._ctx.settings.config.context, self._ctx.clock.monotonic()
        so_far = self._show_context_usage(digest)
        if self._asked_at is None:
            why = self._why(so_far, is_known=self._is_known or digest.context > 0)
            if not why or self._has_claimed(digest.said):
                return None
            self._asked_at = now
            self._ask(why, so_far)
        if not self._can_ask and not digest.open_calls:
            return EndingKind.HANDED_OVER  # nothing is in the middle of being done
        is_late = now - self._asked_at >= room.wrap_up_s
        return EndingKind.HANDED_OVER if is_late or is_context_full(so_far) else None

    def _why(self, so_far: ContextUsage, *, is_known: bool) -> str:
        if self._ctx.memory_file.is_wanted:
            return "a person wants a fresh session"
        room, may = self._ctx.settings.config.context, self._ctx.memory_file.part <= MOST
        is_time = is_known and may and is_handoff_due(so_far, room.handoff_at)
        return f"the context is {so_far.share:.0%} full" if is_time else ""

    def _ask(self, why: str, so_far: ContextUsage) -> None:
        ctx, session = self._ctx, self._session
        self.reason = why
        if self._can_ask:
            ctx.control_socket.send_to_session(wrap_up_prompt(ctx.memory_file.path, why))
        ctx.log.record(
            WrapUpAsked(
                session_id=session.id,
                task_id=session.task_id,
                reason=why,
                used=so_far.used,
                capacity=so_far.capacity,
            )
        )

    def _has_claimed(self, message: str) -> bool:
        """By what it said last, or by a call: it is as good as over."""
        said, known = read_message_tags(message), self._known()
        return bool(said.task_done or said.task_failed or said.promise) or (
            known is not None and known.socket_claim is not None
        )

    def _known(self) -> Session | None:
        """The session as its hooks and its claims have made it."""
        return self._ctx.store.sessions.get(self._session.task_id, self._session.attempt)

    def with_context_usage(self, ending: SessionEnding, digest: StreamSummary) -> SessionEnding:
        so_far = self._show_context_usage(digest)
        return replace(ending, context_tokens=so_far.used, tool_tokens=so_far.from_tools)

    def continues(self, claim: Claim, ending: SessionEnding) -> bool:
        """Whether a fresh session should continue: not if this one claimed, or died otherwise."""
        if ending.ended is EndingKind.HANDED_OVER:
            return True
        if not self.reason or ending.ended is not EndingKind.FINISHED:
            return False
        return not (
            self._has_claimed(ending.message) or self._ctx.document.read_claim(claim.task).claims
        )


def archive_segment(
    ctx: RunContext,
    claim: Claim,
    session: Session,
    handoff: HandoffTrigger,
    ending: SessionEnding,
    *,
    duration_s: float,
) -> None:
    """What it leaves goes to the file for the next one; all that it was, to the store."""
    task = claim.task
    text, changes = save_handoff_notes(
        ctx, session, why=handoff.reason, said=message_if_finished(ending)
    )
    segment = SessionSegment(
        session_id=session.id,
        number=ctx.memory_file.part,
        task_id=task.id,
        run_id=ctx.settings.run_id,
        agent=session.agent,
        model=session.model,
        log=session.log,
        started_at=handoff.began,
        ended_at=to_iso(ctx.clock.now()),
        ending=ending,
        reason=handoff.reason,
        memory=text,
        duration_s=duration_s,
    )
    if ctx.settings.config.memory.enabled:
        over = Verdict(transition=Released(handoff.reason), message=handoff.reason)
        for memory in memories_of_attempt(task, claim.attempt, ending, over):
            ctx.store.memories.add(memory, ctx.settings.run_id)
    capacity = ctx.settings.config.context.capacity_of(ending.model, session.model)
    ctx.store.sessions.save_segment(
        segment,
        claim,
        SessionHandedOver(
            **ended_fields(session, ending, changes, duration_s),
            number=ctx.memory_file.part,
            reason=handoff.reason,
            used=ending.context_tokens or 0,
            capacity=capacity,
            agent=session.agent,
            log=session.log,
        ),
    )
    ctx.log.publish()


def ended_fields(
    session: Session, ending: SessionEnding, changes: CheckoutChanges, duration_s: float
) -> dict[str, Any]:
    """What the event of a session's end says: how it ended, its cost and its work."""
    return {
        "session_id": session.id,
        "task_id": session.task_id,
        "ended": ending.ended,
        "duration_s": round(duration_s, 3),
        "model": one_line(ending.model, 100),
        "cost_usd": ending.cost_usd,
        "estimated": ending.estimated,
        "input_tokens": ending.input_tokens,
        "cached_tokens": ending.cached_tokens,
        "output_tokens": ending.output_tokens,
        "commits": changes.commits,
        # Names may hold anything, also bytes that no JSON can carry.
        "files": tuple(one_line(path, 300) for path in changes.files[:SHOWN_FILES]),
    }


def save_handoff_notes(
    ctx: RunContext, session: Session, *, why: str, said: str = "", is_idle: bool = False
) -> tuple[str, CheckoutChanges]:
    """Save the notes of a session for the next one, and return what has changed. `is_idle`: it used
    no tool, so only its changes are worth noting."""
    _, changes = changes_of_session(ctx, session)
    if is_idle and not (changes.files or changes.commits):
        return "", changes
    return ctx.memory_file.save_session_notes(session, changes, why=why, said=said), changes


def message_if_finished(ending: SessionEnding) -> str:
    """The final message of a session that ended by itself; empty for others."""
    return ending.message if ending.ended is EndingKind.FINISHED else ""


def changes_of_session(
    ctx: RunContext, session: Session
) -> tuple[Snapshot | None, CheckoutChanges]:
    """The tree as the attempt has left it so far, and what changed.

    None where git cannot tell, since the disk is full: what the session said is worth more and
    needs no git. The judge looks again.
    """
    ctx.checkout.changed()
    try:
        after = ctx.checkout.snapshot()
        return after, ctx.workspace.changes(session.before or after, after)
    except RalphError:
        return None, CheckoutChanges()
