"""What the store contracts share: fixtures to override, and short words for long calls."""

from collections.abc import Sequence
from typing import Any

import pytest

from ralph.core.events import RunStarted
from ralph.core.graph import Schedule
from ralph.core.ids import RunId, TaskId, WorkerId, session_id
from ralph.core.run import AllTasks, Target
from ralph.core.snapshot import Snapshot
from ralph.core.task import Task, TaskDraft, TaskStatus
from ralph.core.transitions import Accepted, GaveUp, Transition
from ralph.store.claims import Claim, StaleClaim
from ralph.store.runs import Run, WorkerProcess
from ralph.store.sessions import Session
from ralph.store.store import Store
from tests.doubles.clock import FrozenClock

WORKER = WorkerId("agent-00000001")
OTHER = WorkerId("agent-00000002")
THIRD = WorkerId("agent-00000003")
RUN = RunId("run-1")
LEASE_S = 60.0


class Contract:
    """A suite says which store it is about by overriding `store`."""

    @pytest.fixture
    def clock(self) -> FrozenClock:
        return FrozenClock()

    @pytest.fixture
    def store(self, clock: FrozenClock) -> Store:
        raise NotImplementedError


def an_owner(pid: int = 1) -> WorkerProcess:
    return WorkerProcess(host="here", boot_id="boot", pid_namespace="ns", pid=pid, pid_start="0")


def add(
    store: Store,
    name: str,
    *,
    under: TaskId | None = None,
    after: Sequence[TaskId] = (),
    **fields: Any,
) -> TaskId:
    """Add a task whose id can be read."""
    draft = TaskDraft(
        title=name, id=TaskId(f"t-{name}"), parent_id=under, blocked_by=tuple(after), **fields
    )
    return store.tasks.add(draft).id


def status(store: Store, task: TaskId) -> TaskStatus:
    return store.tasks.find(task).status


def join(store: Store, worker: WorkerId = WORKER, pid: int = 1) -> None:
    store.workers.join(worker, RUN, an_owner(pid), LEASE_S)


def begin(store: Store, run: RunId = RUN, worker: WorkerId = WORKER) -> Run:
    """Start a run."""
    event = RunStarted(
        run_id=run,
        worker=worker,
        target="all tasks",
        agent="scripted",
        checkout="/x",
        sandbox="bubblewrap",
    )
    store.runs.start(event, an_owner(), LEASE_S)
    return store.runs.find(run)


def next_ready(store: Store, target: Target | None = None) -> TaskId | None:
    task = store.claims.next_ready(target or AllTasks(), Schedule.PRIORITY)
    return task.id if task else None


def may_claim(
    store: Store, worker: WorkerId = WORKER, target: Target | None = None
) -> Claim | None:
    return store.claims.claim(worker, None, target or AllTasks(), Schedule.PRIORITY)


def claim(store: Store, worker: WorkerId = WORKER, target: Target | None = None) -> Claim:
    taken = may_claim(store, worker, target)
    assert taken is not None, "nothing is ready"
    return taken


def claim_of(store: Store, session: Session) -> Claim:
    """The claim under which a session began."""
    task = store.tasks.get(session.task_id) or Task(id=session.task_id, title="")
    return Claim(task=task, worker=session.worker, attempt=session.attempt)


def stale(store: Store, me: WorkerId = OTHER, host: str = "here") -> list[StaleClaim]:
    return store.claims.stale(me, host, LEASE_S)


def take_over(store: Store, dead: Claim, me: WorkerId = OTHER) -> Claim:
    """Take over a claim as it is stored now."""
    (seen,) = [one for one in stale(store, me) if one.task.id == dead.task.id]
    return store.claims.take_over(seen, me)


def settle(
    store: Store, taken: Claim, transition: Transition | None = None, *, fail_fast: bool = False
) -> Task:
    return store.claims.settle(
        taken, transition or Accepted(), message="a word about it", fail_fast=fail_fast
    )


def work(store: Store, *names: TaskId) -> None:
    """Claim and finish tasks, which must be handed out in this order."""
    for name in names:
        taken = claim(store)
        assert taken.task.id == name
        settle(store, taken)


def fail(store: Store, name: TaskId, *, fail_fast: bool = False) -> None:
    """Claim a task, which must be next, and give it up."""
    taken = claim(store)
    assert taken.task.id == name
    settle(store, taken, GaveUp("cannot be done"), fail_fast=fail_fast)


def a_session(taken: Claim, **fields: Any) -> Session:
    about: dict[str, Any] = {
        "id": session_id(taken.task.id, taken.attempt),
        "task_id": taken.task.id,
        "attempt": taken.attempt,
        "run_id": RUN,
        "worker": taken.worker,
        "agent": "scripted",
        "checkout": "/x",
        "started_at": "2026-01-01T00:00:00.000000Z",
        "before": Snapshot(head="c0"),
    }
    return Session(**(about | fields))


def start(store: Store, taken: Claim, **fields: Any) -> Session:
    """Start a session for a claim. The run must have begun."""
    session = a_session(taken, **fields)
    store.sessions.start(session, taken)
    return session
