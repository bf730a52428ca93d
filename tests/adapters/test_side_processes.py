"""Programs beside the work: notifiers end by themselves, the others end with us."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.executor.side_processes import SideProcesses
from ralph.core.session_ending import EndingKind
from ralph.ports.executor import Command, Timeouts


@pytest.fixture
def processes() -> Iterator[ProcessExecutor]:
    made = ProcessExecutor(SystemClock())
    yield made
    made.close()


@pytest.fixture(autouse=True)
def buried() -> Iterator[None]:
    """A process that lives on, as this one does, would keep them as dead children."""
    yield
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < deadline, f"it never happened: {what}"
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_notifier_gets_its_message_and_ralph_does_not_wait(
    processes: ProcessExecutor, tmp_path: Path
) -> None:
    heard = tmp_path / "heard"
    processes.start_detached(
        ("sh", "-c", 'cat > "$1.part"; mv "$1.part" "$1"', "-", str(heard)), stdin=b"hi"
    )
    until(heard.exists, "the message arrived")
    assert heard.read_bytes() == b"hi"


def test_what_cannot_be_started_is_no_error(processes: ProcessExecutor) -> None:
    processes.start_detached(("/there/is/no/such/program",))
    processes.start_lasting(("/there/is/no/such/program",))
    processes.start_detached(("true",), cwd="/there/is/no/such/folder")


def test_a_notifier_that_does_not_read_delays_nothing(processes: ProcessExecutor) -> None:
    processes.start_detached(("true",), stdin=b"x" * 10_000_000)


def test_notifiers_that_hang_are_not_joined_by_ever_more(tmp_path: Path) -> None:
    side_processes = SideProcesses()
    started = [side_processes.start_notifier(("sleep", "1000"), "/", b"") for _ in range(30)]
    living = [pid for pid in started if pid is not None]
    assert 0 < len(living) < 30
    for pid in living:
        os.kill(pid, signal.SIGKILL)
    side_processes.close()


class Listener:
    has_result = False
    is_busy = False

    def output(self, block: bytes) -> None:
        pass

    def tick(self) -> EndingKind | None:
        return None


def test_a_session_that_ends_takes_no_side_process_along(
    processes: ProcessExecutor, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    writes = "echo $$ > {0}.part; mv {0}.part {0}; cat"
    processes.start_lasting(("sh", "-c", writes.format(pid)))
    until(pid.exists, "the lasting program is there")
    lasting = int(pid.read_text())

    notifier = tmp_path / "notifier"

    class Sends(Listener):
        sent = False

        def tick(self) -> EndingKind | None:
            if not self.sent:
                self.sent = True
                processes.start_detached(("sh", "-c", f"{writes.format(notifier)}; sleep 1000"))
            return None

    gone = processes.run(
        Command(
            argv=(
                "sh",
                "-c",
                f"until [ -e {notifier} ]; do sleep 0.01; done; sleep 1000 & exit 0",
            ),
            cwd=str(tmp_path),
            env={**os.environ, "RALPH_SESSION": "x"},
        ),
        log=str(tmp_path / "log"),
        timeouts=Timeouts(),
        listener=Sends(),
    )
    assert gone.leftovers_ended == 1, "only what the session itself has left"
    assert is_alive(lasting)
    assert is_alive(int(notifier.read_text()))
    processes.close()
    until(lambda: not is_alive(lasting), "the lasting program has gone")
    os.killpg(int(notifier.read_text()), signal.SIGKILL)


KEEPS = """
import sys, time
from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
processes = ProcessExecutor(SystemClock())
says = "echo $$ > {0}.part; mv {0}.part {0}; cat"
processes.start_lasting(("sh", "-c", says.format(sys.argv[1])))
time.sleep(1000)
"""


def test_a_lasting_program_ends_even_with_a_ralph_that_is_killed(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    ralph = subprocess.Popen([sys.executable, "-c", KEEPS, str(pid)])
    until(pid.exists, "the lasting program is there")
    ralph.kill()
    ralph.wait()
    until(lambda: not is_alive(int(pid.read_text())), "the lasting program has gone")


def test_a_lasting_program_is_there_once_and_comes_back_when_it_was_killed(tmp_path: Path) -> None:
    side_processes, ready, heard = SideProcesses(), tmp_path / "ready", tmp_path / "heard"
    script = 'trap "" TERM; : > "$1"; read -r line && : > "$2"'
    argv = ("sh", "-c", script, "sh", str(ready), str(heard))
    first = side_processes.start_lasting(argv)
    assert first is not None
    assert side_processes.start_lasting(argv) is None
    until(ready.exists, "it is there")
    os.kill(first, signal.SIGKILL)
    until(lambda: not is_alive(first), "it was killed")
    ready.unlink()
    assert side_processes.start_lasting(argv) is not None
    until(ready.exists, "another one is there")
    side_processes.close()
    until(heard.exists, "it was told that we end in good order")
