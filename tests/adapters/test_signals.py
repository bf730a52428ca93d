"""Ctrl-C once ends a run in good order, twice without waiting for the agent, then at once."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from children import Bench, RecordingListener, a_bench, captured, shell

from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.executor.signals import Signals
from ralph.core.session_ending import EndingKind

RALPH = """
import os, sys
from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.executor.signals import Signals
from ralph.core.session_ending import EndingKind
from ralph.ports.executor import Command, Timeouts

class RecordingListener:
    has_result = is_busy = False
    told = False
    def output(self, block):
        os.write(1, block)
    def tick(self):
        if signals.interrupted and not self.told:
            self.told = True
            print("asked by", signals.interrupted, flush=True)
        return EndingKind.INTERRUPTED if signals.interrupted else None

processes = ProcessExecutor(SystemClock(), stop_grace_s=float(sys.argv[3]))
with Signals(processes) as signals:
    exit_ = processes.run(
        Command(argv=("/bin/sh", "-c", sys.argv[1], "sh", sys.argv[4]), cwd="/", env={}),
        log=sys.argv[2], timeouts=Timeouts(), listener=RecordingListener(),
    )
print(exit_.stop, exit_.code, flush=True)
"""


def a_ralph(script: str, folder: Path, *, grace_s: float, arg: str) -> subprocess.Popen[bytes]:
    argv = (sys.executable, "-c", RALPH, script, str(folder / "log"), str(grace_s), arg)
    return subprocess.Popen(argv, stdout=subprocess.PIPE)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with a_bench(tmp_path) as bench:
        yield bench


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    """A child holds it open; that it can be read to its end means that the child is gone."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path


def read_line(ralph: subprocess.Popen[bytes]) -> bytes:
    assert ralph.stdout is not None
    return ralph.stdout.readline()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_the_run_cleanly(tmp_path: Path, name: str) -> None:
    script = "trap 'exit 4' INT; echo ready; while :; do sleep 0.01; done"
    with a_ralph(script, tmp_path, grace_s=1000, arg="") as ralph:
        assert read_line(ralph) == b"ready\n"
        ralph.send_signal(signal.Signals[name])
        assert read_line(ralph) == f"asked by {name}\n".encode()
        assert read_line(ralph) == b"interrupted 4\n"
    assert ralph.returncode == 0


def test_a_second_sigint_ends_the_child_at_once_and_the_run_in_good_order(
    tmp_path: Path, fifo: Path
) -> None:
    script = """trap '' INT TERM; exec 3>"$1"; echo ready; while :; do sleep 1000; done"""
    with a_ralph(script, tmp_path, grace_s=1000, arg=str(fifo)) as ralph, fifo.open("rb") as held:
        assert read_line(ralph) == b"ready\n"
        ralph.send_signal(signal.SIGINT)
        assert read_line(ralph) == b"asked by SIGINT\n"
        ralph.send_signal(signal.SIGINT)
        assert read_line(ralph) == b"interrupted -9\n"
        assert held.read() == b""
    assert ralph.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_sigterm_and_sigint_are_a_second_ctrl_c_in_either_order(
    tmp_path: Path, number: signal.Signals
) -> None:
    """A lead sends both to its workers, and Python does not hear them in the order of sending."""
    script = "trap '' INT TERM; echo ready; while :; do sleep 1000; done"
    with a_ralph(script, tmp_path, grace_s=1000, arg="") as ralph:
        assert read_line(ralph) == b"ready\n"
        ralph.send_signal(number)
        assert read_line(ralph).startswith(b"asked by")
        ralph.send_signal(signal.SIGINT if number == signal.SIGTERM else signal.SIGTERM)
        assert read_line(ralph) == b"interrupted -9\n"


def test_a_third_sigint_ends_whatever_it_waits_for(fifo: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STUCK, fifo, "1000", "SIGINT", "SIGINT"],
        stdout=subprocess.PIPE,
        text=True,
    ) as ralph:
        assert ralph.stdout is not None
        assert ralph.stdout.readline() == "a second SIGINT\n"
        ralph.send_signal(signal.SIGINT)
        assert ralph.stdout.read() == "last deed\n"
    assert ralph.returncode == 130


def test_a_second_sigint_also_ends_what_left_the_group(tmp_path: Path, fifo: Path) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("only the group is within reach")
    script = """trap '' INT TERM; setsid sleep 1000 3>"$1" & echo ready; while :; do wait; done"""
    with a_ralph(script, tmp_path, grace_s=1000, arg=str(fifo)) as ralph, fifo.open("rb") as held:
        assert read_line(ralph) == b"ready\n"
        ralph.send_signal(signal.SIGINT)
        assert read_line(ralph) == b"asked by SIGINT\n"
        ralph.send_signal(signal.SIGINT)
        assert read_line(ralph) == b"interrupted -9\n"
        assert held.read() == b""


class Frozen:
    """A clock that stands still: what happens in it is not due to time."""

    def now(self) -> float:
        return 0.0

    def monotonic(self) -> float:
        return 0.0


@pytest.fixture
def frozen(tmp_path: Path) -> Iterator[Bench]:
    processes = ProcessExecutor(Frozen())
    yield Bench(tmp_path, processes)
    processes.close()


def test_a_signal_is_heard_by_a_run_without_waiting_for_the_next_tick(frozen: Bench) -> None:
    with Signals(frozen.processes) as signals:
        listener = RecordingListener(stop_when=lambda _: signals.interrupted is not None)
        exit_ = frozen.run(shell(f"kill -TERM {os.getpid()}; exec sleep 1000"), listener)
    assert exit_.stop is EndingKind.INTERRUPTED
    assert signals.interrupted == "SIGTERM"


def test_a_signal_ends_a_sleep_without_waiting_for_the_next_tick(frozen: Bench) -> None:
    asked: list[str | None] = []

    def tick() -> bool:
        asked.append(signals.interrupted)
        return signals.interrupted is not None

    argv = shell(f"exec >&-; while :; do kill -HUP {os.getpid()}; sleep 0.01; done")
    with Signals(frozen.processes) as signals, subprocess.Popen(argv) as killer:
        frozen.processes.sleep(1000, tick)
        killer.kill()
    assert asked[-1] == "SIGHUP"


def test_a_signal_does_not_disturb_a_captured_command(bench: Bench) -> None:
    with Signals(bench.processes) as signals:
        done = captured(bench.processes, *shell(f"kill -INT {os.getpid()}; echo fine"))
    assert (done.code, done.stdout) == (0, b"fine\n")
    assert signals.interrupted == "SIGINT"


def test_a_signal_during_a_short_command_is_shown_before_it_ends(
    bench: Bench, tmp_path: Path
) -> None:
    shown = tmp_path / "shown"
    bench.processes.show_interrupt = shown.touch
    script = f"kill -INT {os.getpid()}; until [ -e '{shown}' ]; do sleep 0.01; done"
    with Signals(bench.processes):
        assert captured(bench.processes, *shell(script)).code == 0


def test_a_captured_command_is_out_of_reach_of_the_terminal(bench: Bench) -> None:
    code = "import os; print(os.getsid(0) == os.getpid())"
    done = captured(bench.processes, sys.executable, "-c", code)
    assert done.stdout == b"True\n"


def test_the_first_signal_gives_the_name(bench: Bench) -> None:
    with Signals(bench.processes) as signals:
        assert signals.interrupted is None
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGHUP)
        assert signals.interrupted == "SIGTERM"


def test_handlers_are_put_back(bench: Bench) -> None:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    signals = Signals(bench.processes)
    with signals:
        assert [signal.getsignal(number) for number in numbers] != before
    signals.close()
    assert [signal.getsignal(number) for number in numbers] == before
    assert signal.set_wakeup_fd(-1) == -1


def test_nohup_is_respected(bench: Bench) -> None:
    old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Signals(bench.processes) as signals:
            os.kill(os.getpid(), signal.SIGHUP)
            assert signals.interrupted is None
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, old)


STUCK = """
import os, signal, sys
from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.executor.signals import Signals

with Signals(ProcessExecutor(SystemClock())) as signals:
    signals.limit_s = float(sys.argv[2])
    signals.restore_terminal = lambda: print("last deed", flush=True)
    for name in sys.argv[3:]:
        os.kill(os.getpid(), signal.Signals[name])
    print(signals.interrupted, flush=True)
    open(sys.argv[1])
print("it went on", flush=True)
"""


@pytest.mark.parametrize("names", [("SIGTERM",), ("SIGINT", "SIGINT")], ids=["once", "twice"])
def test_whatever_the_run_waits_for_it_ends(fifo: Path, names: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STUCK, fifo, "0.2", *names],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 130
    assert done.stdout.splitlines()[1:] == ["last deed"], done.stderr
    assert "did not end in time" in done.stderr
