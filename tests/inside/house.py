"""A house: a store with one claimed task, a door, and a visitor outside."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

from ralph.adapters.executor.clock import SystemClock
from ralph.adapters.executor.processes import Processes
from ralph.adapters.library.lessons import FileLessons
from ralph.core.events import RunStarted, SessionStarted
from ralph.core.ids import RunId, WorkerId, session_id
from ralph.core.order import Schedule
from ralph.core.policy.leash import Leash
from ralph.core.target import Everything
from ralph.core.task import Draft
from ralph.inside.door import SocketDoor
from ralph.inside.remote import RemoteStore
from ralph.ports.claims import Claim
from ralph.ports.crew import Owner
from ralph.ports.history import Run, Session
from ralph.ports.library import Lessons
from ralph.ports.store import Store
from ralph.testing.clock import FrozenClock
from ralph.testing.doubles import FakeLibrary
from ralph.testing.memory_store import MemoryStore

RUN = RunId("run-1")
WORKER = WorkerId("agent-1")
OWNER = Owner(host="h", boot_id="b", pid_namespace="n", pid=1, pid_start="1")


class House:
    """A store with one claimed task, a door, and a visitor outside."""

    def __init__(self) -> None:
        self.executor = Processes(SystemClock())
        self.store = MemoryStore(FrozenClock())
        self.library = FakeLibrary()
        self.door = SocketDoor(self.store, self.executor, FileLessons(lambda: self.library))
        self.mine = self.store.add_task(Draft(title="mine")).id
        self.other = self.store.add_task(Draft(title="other", priority=5)).id
        self._start_run()
        claim = self.store.claim(WORKER, RUN, Everything(), Schedule.PRIORITY)
        assert claim is not None
        self.variables = self.door.open_for(self._session(claim), claim, Leash())
        self.lessons = cast(
            Lessons, RemoteStore(self.variables["RALPH_SOCKET"], self.variables["RALPH_TOKEN"])
        )
        self.remote = cast(
            Store, RemoteStore(self.variables["RALPH_SOCKET"], self.variables["RALPH_TOKEN"])
        )

    def _start_run(self) -> None:
        run = Run(id=RUN, worker=WORKER, target="", agent="", checkout="/c", started_at="")
        event = RunStarted(run_id=RUN, worker=WORKER, target="", agent="", checkout="/c")
        self.store.start_run(run, OWNER, 60.0, event)

    def _session(self, claim: Claim) -> Session:
        session = Session(
            id=session_id(self.mine, 1),
            task_id=self.mine,
            attempt=1,
            run_id=RUN,
            worker=WORKER,
            agent="a",
        )
        event = SessionStarted(
            session_id=session.id, task_id=self.mine, title="", attempt=1, agent="a", log=""
        )
        self.store.start_session(session, claim, event)
        return session

    def ask(self, question: Callable[[], Any]) -> Any:
        """Let the visitor speak while the loop listens."""
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(question)
            answer.add_done_callback(lambda _: os.write(self.executor.wake_fd, b"!"))
            self.executor.sleep(100.0, lambda: self.door.look_after() or answer.done())
            return answer.result()

    def told(self) -> str | None:
        session = self.store.session(self.mine, 1)
        assert session is not None
        return session.told
