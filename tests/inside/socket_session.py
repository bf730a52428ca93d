"""A world: a store with one claimed task, a door, and a visitor outside."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.project_files.guardrail_file import GuardrailFile
from ralph.core.events import RunStarted
from ralph.core.graph import Schedule
from ralph.core.ids import RunId, WorkerId, session_id
from ralph.core.policy.tools import ToolPermissions
from ralph.core.run import AllTasks
from ralph.core.task import TaskDraft
from ralph.inside.control_socket import LocalControlSocket
from ralph.inside.session_calls import RemoteStore
from ralph.ports.project_files import GuardrailWriter
from ralph.store.claims import Claim
from ralph.store.runs import WorkerProcess
from ralph.store.sessions import Session
from ralph.store.store import Store
from tests.doubles import FakeProjectFiles
from tests.doubles.clock import FrozenClock
from tests.stores import memory_store

RUN = RunId("run-1")
WORKER = WorkerId("agent-1")
OWNER = WorkerProcess(host="h", boot_id="b", pid_namespace="n", pid=1, pid_start="1")


class SocketWorld:
    """A store with one claimed task, its control socket, and a client in a thread."""

    def __init__(self) -> None:
        self.executor = ProcessExecutor(SystemClock())
        self.store = memory_store(FrozenClock())
        self.project_files = FakeProjectFiles()
        self.control_socket = LocalControlSocket(
            self.store, self.executor, GuardrailFile(lambda: self.project_files)
        )
        self.mine = self.store.tasks.add(TaskDraft(title="mine")).id
        self.other = self.store.tasks.add(TaskDraft(title="other", priority=5)).id
        self._start_run()
        claim = self.store.claims.claim(WORKER, RUN, AllTasks(), Schedule.PRIORITY)
        assert claim is not None
        self.variables = self.control_socket.open_session(
            self._session(claim), claim, ToolPermissions()
        )
        self.lessons = cast(
            GuardrailWriter,
            RemoteStore(self.variables["RALPH_SOCKET"], self.variables["RALPH_TOKEN"]),
        )
        self.remote = cast(
            Store, RemoteStore(self.variables["RALPH_SOCKET"], self.variables["RALPH_TOKEN"])
        )

    def _start_run(self) -> None:
        event = RunStarted(run_id=RUN, worker=WORKER, target="", agent="", checkout="/c")
        self.store.runs.start(event, OWNER, 60.0)

    def _session(self, claim: Claim) -> Session:
        session = Session(
            id=session_id(self.mine, 1),
            task_id=self.mine,
            attempt=1,
            run_id=RUN,
            worker=WORKER,
            agent="a",
        )
        self.store.sessions.start(session, claim)
        return session

    def ask(self, question: Callable[[], Any]) -> Any:
        """Call from a thread while the loop serves the socket."""
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(question)
            answer.add_done_callback(lambda _: os.write(self.executor.wake_fd, b"!"))
            self.executor.sleep(
                100.0, lambda: self.control_socket.drop_late_clients() or answer.done()
            )
            return answer.result()

    def socket_claim(self) -> str | None:
        session = self.store.sessions.get(self.mine, 1)
        assert session is not None
        return session.socket_claim
