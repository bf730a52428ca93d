"""Runs, their workers, and the breakers that may keep a worker from starting sessions."""

from collections.abc import Mapping

import msgspec
from msgspec.structs import asdict

from ralph.core.breaker import Breaker
from ralph.core.errors import Missing
from ralph.core.events import Event, RunStarted
from ralph.core.gates import GateResult
from ralph.core.ids import RunId, WorkerId
from ralph.core.run import RunOutcome
from ralph.core.safe_text import one_line
from ralph.store.database import Database, Part, transaction
from ralph.store.rows import Row, as_json, columns_of, value_of


class WorkerProcess(msgspec.Struct, frozen=True, kw_only=True):
    """The process of a worker, so that others can tell whether it is alive."""

    host: str
    boot_id: str
    pid_namespace: str
    pid: int
    pid_start: str


class TeamMember(msgspec.Struct, frozen=True, kw_only=True):
    worker: WorkerId
    run_id: RunId
    slot: str
    """`teammate-1`, …; empty for the one that started the run."""
    owner: WorkerProcess


class SlotResults(msgspec.Struct, frozen=True, kw_only=True):
    slot: str
    sessions: int = 0
    accepted: int = 0
    rejected: int = 0
    """Work that did not count, at a cost."""


class TeamResults(msgspec.Struct, frozen=True, kw_only=True):
    merges: int = 0
    conflicts: int = 0
    deaths: int = 0
    shares: tuple[SlotResults, ...] = ()


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One invocation of the loop."""

    id: RunId
    worker: WorkerId
    target: str
    agent: str
    checkout: str
    started_at: str
    sandbox: str = "off"
    ended_at: str | None = None
    outcome: RunOutcome | None = None
    reason: str = ""
    baseline: tuple[GateResult, ...] = ()


class Workers(Part):
    file = "workers"

    @transaction
    def join(
        self,
        worker: WorkerId,
        run: RunId,
        owner: WorkerProcess,
        lease_s: float,
        slot: str = "teammate-1",
    ) -> None:
        """Record a worker before its first claim, or again when it has moved elsewhere."""
        values = {"id": worker, "run_id": run, "slot": slot, "lease_s": lease_s}
        self.db.execute(self.sql.join, asdict(owner) | values | {"now": self.db.now()})

    def of_run(self, run: RunId) -> list[TeamMember]:
        """Every worker that ever joined the run, oldest first, the one that started it included."""
        return [
            TeamMember(worker=worker, run_id=run, slot=slot, owner=value_of(WorkerProcess, owner))
            for worker, slot, *owner in self.db.rows(self.sql.members, {"run": run})
        ]

    def results(self, run: RunId) -> TeamResults:
        """The results of the run's workers so far, sorted by slot."""
        happened: dict[str, int] = dict(self.db.rows(self.sql.team_events, {"run": run}))
        return TeamResults(
            merges=happened.get("work_merged", 0),
            conflicts=happened.get("task_conflicted", 0),
            deaths=happened.get("worker_left", 0),
            shares=tuple(self.values(SlotResults, self.sql.shares, {"run": run})),
        )


class Breakers(Part):
    """One for each slot: a run of its own has `teammate-1`."""

    file = "breakers"

    def get(self, slot: str) -> Breaker:
        """The breaker of a slot; closed where nothing is known."""
        return self.all().get(slot) or Breaker()

    def all(self) -> Mapping[str, Breaker]:
        """All that have ever counted anything."""
        rows = self.db.rows(self.sql.breakers)
        return {slot: msgspec.json.decode(data, type=Breaker) for slot, data in rows}

    @transaction
    def save(
        self, slot: str, breaker: Breaker, event: Event | None = None, run: RunId | None = None
    ) -> None:
        """Save it, with the event that reports the change."""
        values = {"slot": slot, "state": breaker.state.value, "data": as_json(breaker)}
        self.db.execute(self.sql.save, values)
        if event is not None:
            self.emit(event, run)


class Runs(Part):
    file = "runs"

    def __init__(self, db: Database, workers: Workers) -> None:
        super().__init__(db)
        self._workers = workers

    @transaction
    def start(self, event: RunStarted, owner: WorkerProcess, lease_s: float) -> None:
        """Record the run, its worker and its first event."""
        run = Run(
            id=event.run_id,
            worker=event.worker,
            target=event.target,
            agent=event.agent,
            checkout=event.checkout,
            sandbox=event.sandbox,
            started_at=self.db.now(),
        )
        self.db.execute(self.sql.start_run, columns_of(run))
        self._workers.join(run.worker, run.id, owner, lease_s, slot="")
        self.emit(event, run.id)

    @transaction
    def end(self, run: RunId, outcome: RunOutcome, reason: str, event: Event) -> None:
        values = {"id": run, "outcome": outcome.value, "reason": reason, "now": self.db.now()}
        self.change_one(self.sql.end_run, values, f"run {run}")
        self.emit(event, run)

    @transaction
    def save_baseline(self, run: RunId, results: tuple[GateResult, ...]) -> None:
        values = {"id": run, "baseline": as_json(results)}
        self.change_one(self.sql.save_baseline, values, f"run {run}")

    def newest(self, limit: int = 20) -> list[Run]:
        """Newest first."""
        return [run_of(row) for row in self.db.rows(self.sql.runs, {"limit": self.db.limit(limit)})]

    def get(self, run: RunId) -> Run | None:
        row = self.db.row(self.sql.run, {"id": run})
        return None if row is None else run_of(row)

    def find(self, name: str) -> Run:
        """The run of that id; Missing, with the newest runs in the hint, if there is none."""
        found = self.get(RunId(name))
        if found is None:
            newest = ", ".join(one.id for one in self.newest(limit=3)) or "none yet"
            raise Missing(f"there is no run {one_line(name, 60)}", hint=f"the newest: {newest}")
        return found

    def live(self) -> list[tuple[Run, WorkerProcess]]:
        """Runs that have not ended, with their owners."""
        rows = self.db.rows(self.sql.live_runs)
        return [(run_of(row[5:]), value_of(WorkerProcess, row)) for row in rows]

    @transaction
    def begin_iteration(self, run: RunId, limit: int) -> int | None:
        """The number of the run's next iteration, never the same to two workers; None when `limit`
        iterations that count have begun. A limit of 0 is none."""
        number: int | None = self.db.value(self.sql.begin_iteration, {"run": run, "limit": limit})
        if number is None and self.get(run) is None:
            raise Missing(f"there is no run {run}")
        return number

    @transaction
    def uncount_iteration(self, run: RunId) -> None:
        """An iteration that was cut short does not count. Its number stays taken."""
        self.change_one(self.sql.uncount_iteration, {"run": run}, f"run {run}")


def run_of(row: Row) -> Run:
    """A row of the `{run_columns}`."""
    return value_of(Run, row, json=("baseline",))
