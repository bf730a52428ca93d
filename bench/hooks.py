"""How long an agent waits for a hook, against a Python that does nothing."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

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
from ralph.ports.crew import Owner
from ralph.ports.history import Run, Session
from ralph.testing.doubles import FakeLibrary
from ralph.testing.memory_store import MemoryStore

ROUNDS = 41
BAR = 3.0
RUN, WORKER = RunId("run-1"), WorkerId("agent-1")
CALL = {
    "tool_name": "Bash",
    "tool_input": {"command": "cd src && pytest -q tests && git add -A && git commit -m 'Add it'"},
    "cwd": "/c",
}


def run(report: Callable[..., None]) -> None:
    """Interleaved, with a loop that answers in this process."""
    executor = Processes(SystemClock())
    door = SocketDoor(MemoryStore(SystemClock()), executor, FileLessons(FakeLibrary()))
    try:
        env = {"PATH": os.environ["PATH"], **_opened(door)}
        with ThreadPoolExecutor(1) as pool:
            measured = pool.submit(_measure, env)
            measured.add_done_callback(lambda _: os.write(executor.wake_fd, b"!"))
            executor.sleep(300.0, measured.done)
            bare, hook = measured.result()
    finally:
        door.close()
        executor.close()
    report("bare python -c pass", bare * 1000, "ms", None, None)
    report("ralph hook pre-tool-use", hook * 1000, "ms", None, None)
    ratio = hook / bare
    report("ralph hook pre-tool-use against bare", ratio, "times", BAR, ok=ratio <= BAR)


def _opened(door: SocketDoor) -> dict[str, str]:
    store = door.store
    started = RunStarted(run_id=RUN, worker=WORKER, target="", agent="", checkout="/c")
    owner = Owner(host="h", boot_id="b", pid_namespace="n", pid=1, pid_start="1")
    record = Run(id=RUN, worker=WORKER, target="", agent="", checkout="/c", started_at="")
    store.start_run(record, owner, 60.0, started)
    task = store.add_task(Draft(title="measure")).id
    claim = store.claim(WORKER, RUN, Everything(), Schedule.PRIORITY)
    assert claim is not None
    session = Session(
        id=session_id(task, 1), task_id=task, attempt=1, run_id=RUN, worker=WORKER, agent="a"
    )
    event = SessionStarted(
        session_id=session.id, task_id=task, title="", attempt=1, agent="a", log=""
    )
    store.start_session(session, claim, event)
    return dict(door.open_for(session, claim, Leash()))


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
