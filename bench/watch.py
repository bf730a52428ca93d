"""The terminal view: a session of 100 MB, 100,000 tasks, and what being watched costs a run."""

import fcntl
import glob
import json
import os
import pty
import re
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Final

from bench.web import RALPH, RUN_TASKS, RUNS, WATCHED, initialise, ralph

MEGABYTES: Final = 100
TASKS: Final = 100_000
ROUNDS: Final = 9
PEAK_MB: Final = 120.0
"""Of memory, with all libraries."""
FIRST: Final = 60.0
"""The first screen against a bare Python."""
KEY: Final = 8.0
"""A key against a bare Python: a tenth of a second on an idle machine."""
SEARCH: Final = 8.0
"""Against reading the file."""
CONTROL: Final = re.compile(rb"\x1b\[[0-9;?>=]*[@-~]|\x1b\][^\x07]*\x07|\x1b[^\[\]]")
Report = Callable[..., None]


class View:
    """`ralph watch` on a terminal of its own."""

    def __init__(self, project: str, *args: str) -> None:
        self.terminal, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.seen = b""
        self.process = subprocess.Popen(
            [RALPH, "watch", *args],
            cwd=project,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "TERM": "xterm-256color"},
        )
        os.close(slave)

    def until(self, text: str) -> float:
        """Seconds until this is on the screen, from what is drawn now on."""
        began = time.perf_counter()
        wanted = text.encode()
        while wanted not in CONTROL.sub(b"", self.seen):
            assert time.perf_counter() - began < 120, (text, self.seen[-2000:])
            if select.select([self.terminal], [], [], 1.0)[0]:
                self.seen += os.read(self.terminal, 65536)
        return time.perf_counter() - began

    def press(self, keys: str, text: str) -> float:
        """Seconds from a key to what it shows."""
        self.seen = b""
        os.write(self.terminal, keys.encode())
        return self.until(text)

    def drain(self, seconds: float) -> None:
        """Read on for a while, as a terminal does."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            if select.select([self.terminal], [], [], left)[0]:
                os.read(self.terminal, 65536)

    def peak_mb(self) -> float:
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as status:
            line = next(one for one in status if one.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6


def run(report: Report) -> None:
    bare = statistics.median(_bare() for _ in range(ROUNDS))
    with tempfile.TemporaryDirectory() as folder:
        _long_session(report, os.path.join(folder, "long"), bare)
        _many_tasks(report, os.path.join(folder, "many"), bare)
        _watched(report, folder)


def _bare() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - began


def _long_session(report: Report, project: str, bare: float) -> None:
    """A session of 100 MB, to which lines are added all the time."""
    initialise(project)
    task = ralph(project, "task", "add", "speak for long").strip()
    ralph(project, "run", "--no-verify")
    (stream,) = glob.glob(f"{project}/.ralph/runs/*.jsonl")
    with open(stream, "ab") as file:
        for number in range(MEGABYTES):
            lines = (_line(f"megabyte {number} line {one}") for one in range(4096))
            file.write(b"".join(lines)[:1_000_000].rpartition(b"\n")[0] + b"\n")
        file.write(_line("the very end"))
    with open(stream, "rb") as file:
        began = time.perf_counter()
        while file.read(1 << 20):
            pass
        read_s = time.perf_counter() - began
    with _view(project, task) as view:
        first = view.until("the very end")
        report("first screen", first * 1000, "ms", None, None)
        report("first screen against bare", first / bare, "times", FIRST, first / bare <= FIRST)
        view.press("4\tg", "megabyte 0 line 0 ")
        keys = []
        for _ in range(ROUNDS):
            keys.append(view.press("G", "the very end"))
            keys.append(view.press("g", "megabyte 0 line 0 "))
        key = statistics.median(keys)
        report("key in a log of 100 MB", key * 1000, "ms", None, None)
        report("key against bare", key / bare, "times", KEY, key / bare <= KEY)
        search = view.press("/megabyte 99 line 99 \r", "megabyte 99 line 99 ")
        report("search in 100 MB", search * 1000, "ms", None, None)
        ratio = (search - key) / read_s
        report("search against reading the file", ratio, "times", None, None)
        view.press("1", "the very end")
        with open(stream, "ab", buffering=0) as file:
            for number in range(200):
                file.write(b"".join(_line(f"news {number} {one}") for one in range(500)))
                view.drain(0.02)
            file.write(_line("that was all"))
        late = view.until("that was all")
        report("last line after a flood of 5 MB/s", late * 1000, "ms", None, None)
        peak = view.peak_mb()
        report("memory at most", peak, "MB", PEAK_MB, peak <= PEAK_MB)


def _line(text: str) -> bytes:
    more = "x" * 180
    return json.dumps({"event": "text", "text": f"{text} {more}"}).encode() + b"\n"


def _many_tasks(report: Report, project: str, bare: float) -> None:
    initialise(project)
    lines = (json.dumps({"title": f"task {number}"}) for number in range(TASKS))
    ralph(project, "task", "import", "-", stdin="\n".join(lines))
    with _view(project) as view:
        first = view.until("task 9")
        ratio = first / bare
        report(f"{TASKS} tasks: first screen", first * 1000, "ms", None, None)
        report(f"{TASKS} tasks: against bare", ratio, "times", FIRST, ratio <= FIRST)
        search = view.press("/task 99999", "Tasks like task 99999")
        report(f"{TASKS} tasks: search", search * 1000, "ms", None, None)
        peak = view.peak_mb()
        report(f"{TASKS} tasks: memory at most", peak, "MB", PEAK_MB, peak <= PEAK_MB)


def _watched(report: Report, folder: str) -> None:
    """The same run alone and watched, in turn."""
    times: dict[bool, list[float]] = {False: [], True: []}
    for number in range(RUNS):
        for is_watched in (False, True):
            project = os.path.join(folder, f"run-{number}-{is_watched}")
            initialise(project)
            lines = (json.dumps({"title": f"task {one}"}) for one in range(RUN_TASKS))
            ralph(project, "task", "import", "-", stdin="\n".join(lines))
            with _view(project) if is_watched else nullcontext() as view:
                if view is not None:
                    view.until("? help")
                began = time.perf_counter()
                command = subprocess.Popen(
                    [RALPH, "run", "--no-verify", "--json"], cwd=project, stdout=subprocess.DEVNULL
                )
                while command.poll() is None:
                    (view.drain if view is not None else time.sleep)(0.05)
                times[is_watched].append(time.perf_counter() - began)
    ratio = statistics.median(times[True]) / statistics.median(times[False])
    report("a run that is watched, against alone", ratio, "times", WATCHED, ratio <= WATCHED)


@contextmanager
def _view(project: str, *args: str) -> Iterator[View]:
    view = View(project, *args)
    try:
        yield view
    finally:
        view.process.kill()
        view.process.wait()
        os.close(view.terminal)
