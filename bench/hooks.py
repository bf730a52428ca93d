"""How long an agent waits for a hook, against a Python that does nothing."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.project_files.guardrail_file import GuardrailFile
from ralph.adapters.sqlite.database import open_sqlite_store
from ralph.core.events import RunStarted
from ralph.core.graph import Schedule
from ralph.core.ids import RunId, WorkerId, session_id
from ralph.core.policy.tools import ToolPermissions
from ralph.core.run import AllTasks
from ralph.core.task import TaskDraft
from ralph.inside.control_socket import LocalControlSocket
from ralph.store.runs import WorkerProcess
from ralph.store.sessions import Session
from tests.doubles import FakeProjectFiles

ROUNDS = 41
BAR = 1.5
RUN, WORKER = RunId("run-1"), WorkerId("agent-1")
CALL = {
    "tool_name": "Bash",
    "tool_input": {"command": "cd src && pytest -q tests && git add -A && git commit -m 'Add it'"},
    "cwd": "/c",
}


def run(report: Callable[..., None]) -> None:
    """Interleaved, with a loop that answers in this process."""
    executor = ProcessExecutor(SystemClock())
    store = open_sqlite_store(":memory:")
    control_socket = LocalControlSocket(store, executor, GuardrailFile(FakeProjectFiles()))
    try:
        env = {"PATH": os.environ["PATH"], **_opened(control_socket)}
        with ThreadPoolExecutor(1) as pool:
            measured = pool.submit(_measure, env)
            measured.add_done_callback(lambda _: os.write(executor.wake_fd, b"!"))
            executor.sleep(300.0, measured.done)
            bare, hook = measured.result()
    finally:
        control_socket.close()
        executor.close()
    report("bare python -c pass", bare * 1000, "ms", None, None)
    report("ralph hook pre-tool-use", hook * 1000, "ms", None, None)
    ratio = hook / bare
    report("ralph hook pre-tool-use against bare", ratio, "times", BAR, ok=ratio <= BAR)


def _opened(control_socket: LocalControlSocket) -> dict[str, str]:
    store = control_socket.store
    started = RunStarted(run_id=RUN, worker=WORKER, target="", agent="", checkout="/c")
    owner = WorkerProcess(host="h", boot_id="b", pid_namespace="n", pid=1, pid_start="1")
    store.runs.start(started, owner, 60.0)
    task = store.tasks.add(TaskDraft(title="measure")).id
    claim = store.claims.claim(WORKER, RUN, AllTasks(), Schedule.PRIORITY)
    assert claim is not None
    session = Session(
        id=session_id(task, 1), task_id=task, attempt=1, run_id=RUN, worker=WORKER, agent="a"
    )
    store.sessions.start(session, claim)
    return dict(control_socket.open_session(session, claim, ToolPermissions()))


def _measure(env: dict[str, str]) -> tuple[float, float]:
    ralph = os.path.join(os.path.dirname(sys.executable), "ralph")
    given = json.dumps(CALL).encode()
    bare = [sys.executable, "-c", "pass"]
    times: list[tuple[float, float]] = [
        (_time(bare, b"", env), _time([ralph, "hook", "pre-tool-use"], given, env))
        for _ in range(ROUNDS)
    ]
    return statistics.median(one for one, _ in times), statistics.median(two for _, two in times)


def _time(command: list[str], given: bytes, env: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, input=given, env=env, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began
