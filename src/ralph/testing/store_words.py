"""What the store contracts share: fixtures to override, and short words for long calls."""

from collections.abc import Sequence
from typing import Any

import pytest

from ralph.core.events import RunStarted, SessionStarted
from ralph.core.ids import RunId, TaskId, WorkerId, session_id
from ralph.core.order import Schedule
from ralph.core.snapshot import Snapshot
from ralph.core.target import Everything, Target
from ralph.core.task import Draft, Status, Task
from ralph.core.transitions import Accepted, GaveUp, Transition
from ralph.ports.claims import Claim
from ralph.ports.crew import Owner
from ralph.ports.history import Run, Session
from ralph.ports.store import Store
from ralph.testing.clock import FrozenClock

WORKER = WorkerId("agent-00000001")
OTHER = WorkerId("agent-00000002")
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


def an_owner(pid: int = 1) -> Owner:
    return Owner(host="here", boot_id="boot", pid_namespace="ns", pid=pid, pid_start="0")


def add(
    store: Store,
    name: str,
    *,
    under: TaskId | None = None,
    after: Sequence[TaskId] = (),
    **fields: Any,
) -> TaskId:
    """Add a task whose id can be read."""
    draft = Draft(
        title=name, id=TaskId(f"t-{name}"), parent_id=under, blocked_by=tuple(after), **fields
    )
    return store.add_task(draft).id


def status(store: Store, task: TaskId) -> Status:
    return store.find(task).status


def join(store: Store, worker: WorkerId = WORKER, pid: int = 1) -> None:
    store.join(worker, RUN, an_owner(pid), LEASE_S)


def begin(store: Store, run: RunId = RUN, worker: WorkerId = WORKER) -> Run:
    """Start a run."""
    started = Run(
        id=run,
        worker=worker,
        target="all tasks",
        agent="scripted",
        checkout="/x",
        started_at="",
        sandbox="bubblewrap",
    )
    event = RunStarted(
        run_id=run, worker=worker, target="all tasks", agent="scripted", checkout="/x"
    )
    store.start_run(started, an_owner(), LEASE_S, event)
    return started


def next_ready(store: Store, target: Target | None = None) -> TaskId | None:
    task = store.next_ready(target or Everything(), Schedule.PRIORITY)
    return task.id if task else None


def may_claim(
    store: Store, worker: WorkerId = WORKER, target: Target | None = None
) -> Claim | None:
    return store.claim(worker, None, target or Everything(), Schedule.PRIORITY)


def claim(store: Store, worker: WorkerId = WORKER, target: Target | None = None) -> Claim:
    taken = may_claim(store, worker, target)
    assert taken is not None, "nothing is ready"
    return taken


def settle(
    store: Store, taken: Claim, transition: Transition | None = None, *, fail_fast: bool = False
) -> Task:
    return store.settle(
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
    event = SessionStarted(
        session_id=session.id,
        task_id=session.task_id,
        title=taken.task.title,
        attempt=session.attempt,
        agent="scripted",
        log="",
    )
    store.start_session(session, taken, event)
    return session
