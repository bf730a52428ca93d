"""When a session hands its task to a fresh one: asked in time, ended where it does not hear."""

from msgspec.structs import replace

from ralph.core.context import MOST, Filling, filling, is_due, is_full
from ralph.core.ended import Ended
from ralph.core.ending import Digest, Ending, Stop
from ralph.core.handoff_events import WrapUpAsked
from ralph.core.moment import iso
from ralph.core.sections import tokens
from ralph.core.sigils import read_sigils
from ralph.documents.memory_file import wrap_up
from ralph.engine.kit import Kit
from ralph.ports.agent import Agent, Brief
from ralph.ports.claims import Claim
from ralph.ports.history import Session


class Handover:
    """Minds how full the context of one session is."""

    def __init__(self, kit: Kit, agent: Agent, session: Session, brief: Brief) -> None:
        room = kit.settings.room
        self._kit = kit
        self._session = session
        self._brief_tokens = tokens(brief.text) + tokens(brief.rules)
        self._model = brief.terms.model
        self.began = iso(kit.clock.now())
        self._can_hear = bool(agent.traits.hears and brief.terms.hooks and room.wrap_up_s)
        self._is_known = agent.traits.hears
        """Without reports: is what it says and reads what is in its context? Whatever a plain
        command prints says nothing about one."""
        self._asked_at: float | None = None
        self.reason = ""
        """Why it hands over; empty: it does not."""
        kit.memo.is_at_work, kit.memo.is_wanted = True, False

    def filling(self, digest: Digest) -> Filling:
        """What is in its context by now."""
        capacity = self._kit.settings.room.holds(digest.model, self._model)
        so_far = filling(digest, self._brief_tokens, capacity)
        if digest.context:
            return so_far
        # Some agents show only a part of what their tools answered; their hooks are told all of it.
        known = self._known()
        unseen = max(0, known.tools.tokens - so_far.from_tools) if known is not None else 0
        return replace(so_far, used=so_far.used + unseen, from_tools=so_far.from_tools + unseen)

    def look(self, digest: Digest) -> Stop | None:
        """Twice a second: ask it, wait for it, end it."""
        if digest.result is not None:
            return None
        room, now = self._kit.settings.room, self._kit.clock.monotonic()
        so_far = self.filling(digest)
        if self._kit.views is not None:
            self._kit.views.fill(so_far)
        if self._asked_at is None:
            why = self._why(so_far, is_known=self._is_known or digest.context > 0)
            if not why or self._has_claimed(digest.said):
                return None
            self._asked_at = now
            self._ask(why, so_far)
        if not self._can_hear and not digest.open_calls:
            return Stop.HAND_OFF  # nothing is in the middle of being done
        is_late = now - self._asked_at >= room.wrap_up_s
        return Stop.HAND_OFF if is_late or is_full(so_far) else None

    def _why(self, so_far: Filling, *, is_known: bool) -> str:
        if self._kit.memo.is_wanted:
            return "a person wants a fresh session"
        room, may = self._kit.settings.room, self._kit.memo.part <= MOST
        is_time = is_known and may and is_due(so_far, room.handoff_at)
        return f"the context is {so_far.share:.0%} full" if is_time else ""

    def _ask(self, why: str, so_far: Filling) -> None:
        kit, session = self._kit, self._session
        self.reason = why
        if self._can_hear:
            kit.door.tell(wrap_up(kit.memo.path, why))
        kit.record(
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
        said, known = read_sigils(message), self._known()
        return bool(said.task_done or said.task_failed or said.promise) or (
            known is not None and known.told is not None
        )

    def _known(self) -> Session | None:
        """The session as its hooks and its claims have made it."""
        return self._kit.store.session(self._session.task_id, self._session.attempt)

    def counted(self, ending: Ending, digest: Digest) -> Ending:
        """An ending that says how full the context was."""
        so_far = self.filling(digest)
        if self._kit.views is not None:
            self._kit.views.fill(so_far)
        return replace(ending, context_tokens=so_far.used, tool_tokens=so_far.from_tools)

    def follows(self, claim: Claim, ending: Ending) -> bool:
        """Is a fresh session to go on? Not where this one claims something after all, nor where it
        died of something else."""
        if ending.ended is Ended.HANDED_OVER:
            return True
        if not self.reason or ending.ended is not Ended.FINISHED:
            return False
        document = self._kit.document
        return not (
            self._has_claimed(ending.message)
            or (document is not None and document.look(claim.task).claims)
        )
