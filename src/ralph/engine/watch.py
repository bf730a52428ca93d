"""The ear at a session: reads its stream, minds the clock, and hears what people say."""

from typing import IO

import msgspec

from ralph.core.agent_events import AgentEvent, Text, Thinking, Unknown
from ralph.core.budget import Level
from ralph.core.ending import Digest, Stop
from ralph.engine.control import listen
from ralph.engine.handover import Handover
from ralph.engine.kit import Kit
from ralph.ports.agent import Agent
from ralph.ports.claims import Claim

STREAM_BYTES = 8 * 1024 * 1024
"""The normalised stream is for screens; the raw log has everything."""

_ENCODE = msgspec.json.Encoder().encode


class Watch:
    """A `Listener` for one session."""

    def __init__(
        self,
        kit: Kit,
        agent: Agent,
        claim: Claim,
        stream: IO[bytes] | None,
        *,
        asked: str,
        handover: Handover | None = None,
    ) -> None:
        self.kit = kit
        self.agent = agent
        self.claim = claim
        self.asked = asked
        """The model that was asked for."""
        self.stream = stream
        self.handover = handover
        """None: a session of this kind does not hand over."""
        self.written = 0
        self.digest = Digest()
        self.next_look = kit.clock.monotonic() + 0.5
        self.is_billed = kit.is_billed(agent)
        kit.purse.next_session()

    def output(self, block: bytes) -> None:
        """Understand it, remember what matters, show it."""
        for event in self.agent.read(block):
            self.digest.take(event)
            self._keep(event)
            self.kit.sink.said(self.claim.task.id, event)

    def _keep(self, event: AgentEvent) -> None:
        if self.stream is None or self.written > STREAM_BYTES:
            return
        if isinstance(event, Text | Thinking) and event.partial:
            # The whole message follows; its pieces would fill the file before the end is told.
            return
        line = _ENCODE(event) + b"\n"
        self.written += len(line)
        if self.written > STREAM_BYTES:
            line = _ENCODE(Unknown(line="the stream is cut here; the raw log goes on")) + b"\n"
        try:
            self.stream.write(line)
        except OSError:
            # A full disk must not cost the session; the stream is only for screens.
            self.stream = None

    @property
    def has_result(self) -> bool:
        """It has said its last word."""
        return self.digest.result is not None

    @property
    def is_busy(self) -> bool:
        """A tool call is open."""
        return bool(self.digest.open_calls)

    def tick(self) -> Stop | None:
        """Signals, the lease, the claim, the controls."""
        kit = self.kit
        if kit.interrupted():
            return Stop.INTERRUPTED
        now = kit.clock.monotonic()
        stop: Stop | None = None
        if now >= self.next_look:
            # Output may make ticks much more frequent; twice a second is prompt enough.
            self.next_look = now + 0.5
            kit.look_after()
            stop = listen(kit, self.claim.task.id) or self._spending()
            if stop is None and self.handover is not None:
                stop = self.handover.look(self.digest)
            if not kit.store.holds(self.claim):
                stop = Stop.INTERRUPTED
            kit.publish()
        kit.sink.tick()
        return stop

    def _spending(self) -> Stop | None:
        """Is there money left for it? A run that has none is not the task's fault."""
        kit, purse = self.kit, self.kit.purse
        bill = purse.so_far(self.digest, self.asked)
        for line in purse.warnings(bill, is_hard=self.is_billed):
            kit.warn(line, self.claim.task.id)
        level = purse.reached(bill, is_hard=self.is_billed)
        if level is None or self.has_result:
            return None
        return Stop.BUDGET if level is Level.SESSION else Stop.INTERRUPTED
