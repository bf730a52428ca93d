"""A run at work, as far as the store knows."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from ralph.adapters.executor.identity import this_process
from ralph.cli.hearing import stream_of
from ralph.core.agent_events import AgentEvent
from ralph.core.ended import Ended
from ralph.core.ending import Ending
from ralph.core.events import RunEnded, RunStarted, SessionEnded, SessionStarted
from ralph.core.gates import GateResult
from ralph.core.ids import RunId, WorkerId, session_id
from ralph.core.moment import iso
from ralph.core.order import Schedule
from ralph.core.outcome import Outcome
from ralph.core.target import Everything
from ralph.core.transitions import Rejected
from ralph.ports.claims import Claim
from ralph.ports.crew import Owner
from ralph.ports.history import Mark, Run, Session
from ralph.ports.store import Store
from tests.cli.conftest import Cli

NOON = 1_800_000_000.0


def as_line(event: AgentEvent) -> bytes:
    """As it stands in a session's stream."""
    return msgspec.json.encode(event) + b"\n"


class Running:
    """Does to the store what a run would do."""

    def __init__(self, store: Store, root: Path, owner: Owner, name: str) -> None:
        self.store = store
        self.root = root
        self.owner = owner
        self.run = RunId(name)
        self.worker = WorkerId(f"agent-{name}")
        record = Run(
            id=self.run,
            worker=self.worker,
            target="all tasks",
            agent="scripted",
            checkout=str(root),
            started_at=iso(NOON),
        )
        started = RunStarted(
            run_id=self.run,
            worker=self.worker,
            target="all tasks",
            agent="scripted",
            checkout=str(root),
        )
        store.start_run(record, owner, 60.0, started)

    def claim(self) -> Claim:
        """Take the next task."""
        claim = self.store.claim(self.worker, self.run, Everything(), Schedule.PRIORITY)
        assert claim is not None
        return claim

    def start(self, claim: Claim, said: bytes = b"", *events: AgentEvent) -> Session:
        """Begin a session, which says something."""
        log = f".ralph/runs/run-{self.run}-{claim.task.id}-iter-{claim.attempt}.log"
        (self.root / ".ralph" / "runs").mkdir(parents=True, exist_ok=True)
        (self.root / log).write_bytes(said)
        (self.root / stream_of(log)).write_bytes(b"".join(map(as_line, events)))
        session = Session(
            id=session_id(claim.task.id, claim.attempt),
            task_id=claim.task.id,
            attempt=claim.attempt,
            run_id=self.run,
            worker=claim.worker,
            agent="scripted",
            log=log,
            started_at=iso(NOON),
        )
        event = SessionStarted(
            session_id=session.id,
            task_id=session.task_id,
            title=claim.task.title,
            attempt=session.attempt,
            agent="scripted",
            log=log,
        )
        self.store.start_session(session, claim, event)
        return session

    def end(self, session: Session, claim: Claim, **ending: Any) -> None:
        """End the session; its work is rejected."""
        gates = (
            GateResult(name="test", passed=True, code=0),
            GateResult(name="lint", passed=False, code=3),
        )
        ended = msgspec.structs.replace(
            session,
            ended_at=iso(NOON + 95),
            mark=Mark.ENDED,
            ending=Ending(ended=Ended.FINISHED, detail="said it was done", **ending),
            commits=("0123456789abcdef0123",),
            duration_s=95.0,
        )
        event = SessionEnded(session_id=session.id, task_id=session.task_id, ended="finished")
        self.store.end_session(ended, event)
        self.store.mark_session(session.id, Mark.GATED, gates)
        self.store.settle(
            claim, Rejected("gate lint fails"), message="gate lint fails", fail_fast=False
        )

    def pay(self, cost_usd: float | None = None, **ending: Any) -> None:
        """A whole session of the next task, which costs something."""
        claim = self.claim()
        self.end(self.start(claim), claim, cost_usd=cost_usd, **ending)

    def finish(self, outcome: Outcome = Outcome.FAILURE) -> None:
        """End the run."""
        event = RunEnded(run_id=self.run, outcome=outcome, exit_code=1, reason="enough")
        self.store.end_run(self.run, outcome, "enough", event)


@contextmanager
def a_run(cli: Cli, *, alive: bool = True, name: str = "20270115-080000-1") -> Iterator[Running]:
    """A run that this process owns, or one whose owner is dead."""
    owner = this_process()
    if not alive:
        owner = msgspec.structs.replace(owner, pid_start="long ago")
    with cli.store() as store:
        yield Running(store, cli.path, owner, name)
