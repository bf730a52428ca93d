"""How fast an agent's output goes through Ralph, against merely reading, splitting and writing."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from ralph.adapters.executor.child_process import enlarge_pipe
from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.ports.executor import Command, Timeouts

Report = Callable[[str, float, str, str, bool], None]

MEGABYTES = 200
ROUNDS = 3
RATIO = 0.5
PEAK_MB = 100.0

TALKER = """
import os, sys
size, megabytes = int(sys.argv[1]), int(sys.argv[2])
block = (b"x" * (size - 1) + b"\\n") * (1024 * 1024 // size)
for _ in range(megabytes):
    left = memoryview(block)
    while left:
        left = left[os.write(1, left):]
"""

WITNESS = """
import sys
from bench.stream import through_ralph
through_ralph(int(sys.argv[1]), sys.argv[2])
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


class Count:
    """A `Listener` that counts bytes."""

    has_result = False
    is_busy = False

    def __init__(self) -> None:
        self.bytes = 0

    def output(self, block: bytes) -> None:
        """Count it."""
        self.bytes += len(block)

    def tick(self) -> None:
        """Nothing to ask."""


def run(report: Report) -> None:
    """Throughput for short and long lines, and the memory it takes."""
    with tempfile.TemporaryDirectory() as folder:
        for size in (80, 4096):
            _compare(report, size, os.path.join(folder, "log"))
        if sys.platform.startswith("linux"):
            peak = _peak_mb(os.path.join(folder, "log"))
            report(f"stream: peak memory, {MEGABYTES} MB", peak, "MB", PEAK_MB, peak <= PEAK_MB)


def through_ralph(size: int, log: str) -> float:
    """Seconds for `Processes.run` with a listener that only counts."""
    processes = ProcessExecutor(SystemClock())
    count = Count()
    command = Command(argv=_talker(size), cwd=os.getcwd(), env=dict(os.environ))
    began = time.perf_counter()
    exit_ = processes.run(command, log=log, timeouts=Timeouts(), listener=count)
    took = time.perf_counter() - began
    processes.close()
    assert exit_.code == 0, exit_
    assert count.bytes == os.path.getsize(log) > 0.99 * MEGABYTES * 1024 * 1024
    os.remove(log)
    return took


def bare(size: int, path: str) -> float:
    """Seconds for the same pipe, read, split into lines and written to a file."""
    began = time.perf_counter()
    lines, rest = 0, b""
    with (
        subprocess.Popen(_talker(size), stdout=subprocess.PIPE, bufsize=0) as child,
        open(path, "ab", buffering=0) as file,
    ):
        assert child.stdout is not None
        # The same wide pipe that Ralph has, or it would only be the pipe that is measured.
        enlarge_pipe(child.stdout.fileno())
        while chunk := child.stdout.read(1024 * 1024):
            file.write(chunk)
            *whole, rest = (rest + chunk).split(b"\n")
            lines += len(whole)
    took = time.perf_counter() - began
    assert not rest
    assert lines == MEGABYTES * (1024 * 1024 // size)
    os.remove(path)
    return took


def _compare(report: Report, size: int, path: str) -> None:
    ours, theirs = [], []
    for _ in range(ROUNDS):
        # In turns, so that a busy moment of the machine hits both.
        theirs.append(bare(size, path))
        ours.append(through_ralph(size, path))
    ratio = min(theirs) / min(ours)
    name = f"stream: lines of {size} bytes"
    report(name, MEGABYTES / min(ours), "MB/s", None, None)
    report(f"{name}, against bare Python", ratio, "x", RATIO, ratio >= RATIO)


def _peak_mb(log: str) -> float:
    # Of a process of its own, and of its address space: what wait4 says would count its parent's.
    argv = (sys.executable, "-c", WITNESS, "80", log)
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    printed = subprocess.run(argv, cwd=here, check=True, stdout=subprocess.PIPE).stdout
    return int(printed) / 1024


def _talker(size: int) -> tuple[str, ...]:
    return (sys.executable, "-c", TALKER, str(size), str(MEGABYTES))
