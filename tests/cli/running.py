"""A run at work, as far as the store knows."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from ralph.adapters.executor.own_process import this_process
from ralph.core.agent_events import AgentEvent
from ralph.core.events import RunEnded, RunStarted, SessionEnded
from ralph.core.gates import GateResult
from ralph.core.graph import Schedule
from ralph.core.ids import RunId, WorkerId, session_id
from ralph.core.run import AllTasks, RunOutcome
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.settings import BreakerSection, BudgetSection
from ralph.core.times import to_iso
from ralph.core.transitions import Rejected
from ralph.store.claims import Claim
from ralph.store.runs import WorkerProcess
from ralph.store.sessions import Checkpoint, Session
from ralph.store.store import Store
from ralph.ui.project_view import ProjectView
from ralph.ui.session_stream import stream_of
from ralph.wiring.processes import is_running
from tests.cli.conftest import Cli

NOON = 1_800_000_000.0


def as_line(event: AgentEvent) -> bytes:
    """As it stands in a session's stream."""
    return msgspec.json.encode(event) + b"\n"


def a_view(store: Store, root: str) -> ProjectView:
    """What screens show of it."""
    return ProjectView(
        store, root, is_alive=is_running, budget=BudgetSection(), breaker=BreakerSection()
    )


class Running:
    """Does to the store what a run would do."""

    def __init__(self, store: Store, root: Path, owner: WorkerProcess, name: str) -> None:
        self.store = store
        self.root = root
        self.owner = owner
        self.view = a_view(store, str(root))
        self.run = RunId(name)
        self.worker = WorkerId(f"agent-{name}")
        started = RunStarted(
            run_id=self.run,
            worker=self.worker,
            target="all tasks",
            agent="scripted",
            checkout=str(root),
        )
        clock, store.db.clock = store.db.clock, lambda: NOON
        store.runs.start(started, owner, 60.0)
        store.db.clock = clock

    def claim(self) -> Claim:
        """Take the next task."""
        claim = self.store.claims.claim(self.worker, self.run, AllTasks(), Schedule.PRIORITY)
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
            started_at=to_iso(NOON),
        )
        self.store.sessions.start(session, claim)
        return session

    def end(self, session: Session, claim: Claim, **ending: Any) -> None:
        """End the session; its work is rejected."""
        gates = (
            GateResult(name="test", passed=True, code=0),
            GateResult(name="lint", passed=False, code=3),
        )
        ended = msgspec.structs.replace(
            session,
            ended_at=to_iso(NOON + 95),
            checkpoint=Checkpoint.ENDED,
            ending=SessionEnding(ended=EndingKind.FINISHED, detail="said it was done", **ending),
            commits=("0123456789abcdef0123",),
            duration_s=95.0,
        )
        event = SessionEnded(session_id=session.id, task_id=session.task_id, ended="finished")
        self.store.sessions.end(ended, claim, event)
        self.store.sessions.save_checkpoint(session.id, Checkpoint.GATED, claim, gates)
        self.store.claims.settle(
            claim, Rejected("gate lint fails"), message="gate lint fails", fail_fast=False
        )

    def pay(self, cost_usd: float | None = None, **ending: Any) -> None:
        """A whole session of the next task, which costs something."""
        claim = self.claim()
        self.end(self.start(claim), claim, cost_usd=cost_usd, **ending)

    def finish(self, outcome: RunOutcome = RunOutcome.FAILURE) -> None:
        """End the run."""
        event = RunEnded(run_id=self.run, outcome=outcome, exit_code=1, reason="enough")
        self.store.runs.end(self.run, outcome, "enough", event)


@contextmanager
def a_run(cli: Cli, *, alive: bool = True, name: str = "20270115-080000-1") -> Iterator[Running]:
    """A run that this process owns, or one whose owner is dead."""
    owner = this_process()
    if not alive:
        owner = msgspec.structs.replace(owner, pid_start="long ago")
    with cli.store() as store:
        yield Running(store, cli.path, owner, name)
