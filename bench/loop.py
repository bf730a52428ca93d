"""Time and memory of the loop between two sessions of an agent that does nothing.

Beside it, in the same repository and the same run: bare Python doing two SQLite commits, the spawn,
two `git rev-parse` and one `git status`.
"""

import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

Report = Callable[[str, float, str, float | None, bool | None], None]

FILES = 5_000
TASKS = 100_000
ITERATIONS = 1_000
AGENT = 'echo "<task-done>$RALPH_TASK_ID</task-done>"'
RALPH = str(Path(sys.executable).parent / "ralph")


def run(report: Report) -> None:
    """Measure, and tell."""
    with _repository() as root:
        _graph(root, TASKS)
        bare = _bare(root, 200)
        events, memory = _loop(root, ITERATIONS)
        bare += _bare(root, 200)
    periods = _periods(events)
    middle, floor = statistics.median(periods), statistics.median(bare)
    report("loop: bare Python, one round", floor * 1000, "ms", None, None)
    report("loop: Ralph, one iteration", middle * 1000, "ms", None, None)
    report("loop: iteration against bare", middle / floor, "x", 2.0, middle / floor <= 2.0)
    tenth = len(periods) // 10
    first, last = statistics.median(periods[:tenth]), statistics.median(periods[-tenth:])
    report("loop: last tenth against first", last / first, "x", 1.25, last / first <= 1.25)
    report("loop: resident memory", memory[-1], "MB", 60.0, memory[-1] <= 60.0)
    growth = memory[-1] / memory[len(memory) // 4]
    report("loop: memory at the end against a quarter", growth, "x", 1.1, growth <= 1.1)


@contextmanager
def _repository() -> Iterator[Path]:
    root = Path(tempfile.mkdtemp(prefix="ralph-bench-"))
    try:
        for number in range(FILES):
            path = root / f"d{number // 100}" / f"f{number}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"{number}\n")
        _do(root, "git", "init", "-q")
        _do(root, "git", "config", "user.name", "Bench")
        _do(root, "git", "config", "user.email", "bench@localhost")
        _do(root, RALPH, "init")
        (root / ".ralph.toml").write_text(f"[agent]\ncommand = {json.dumps(AGENT)}\n")
        _do(root, "git", "add", "-A")
        _do(root, "git", "commit", "-q", "-m", "first")
        yield root
    finally:
        shutil.rmtree(root)


def _graph(root: Path, count: int) -> None:
    lines = "".join(
        json.dumps({"title": f"task {number}", "needs_change": False}) + "\n"
        for number in range(count)
    )
    _do(root, RALPH, "task", "import", "-", stdin=lines)


def _do(root: Path, *argv: str, stdin: str = "") -> None:
    subprocess.run(argv, cwd=root, check=True, capture_output=True, text=True, input=stdin)


def _bare(root: Path, rounds: int) -> list[float]:
    """What no loop can do without."""
    database = sqlite3.connect(root / "bare.db", isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    database.execute("CREATE TABLE IF NOT EXISTS t (a)")
    env = {**os.environ, "RALPH_TASK_ID": "t-123456"}
    times = []
    for number in range(rounds):
        began = time.perf_counter()
        database.execute("INSERT INTO t VALUES (?)", (number,))
        subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, check=True)
        subprocess.run(["/bin/sh", "-c", AGENT], cwd=root, capture_output=True, check=True, env=env)
        subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, check=True)
        subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, check=True)
        database.execute("INSERT INTO t VALUES (?)", (number,))
        times.append(time.perf_counter() - began)
    database.close()
    for path in root.glob("bare.db*"):
        path.unlink()
    return times


def _loop(root: Path, iterations: int) -> tuple[list[dict[str, str]], list[float]]:
    """The events of a run, and the loop's resident megabytes along the way."""
    process = subprocess.Popen(
        [RALPH, "run", "--json", "--no-sandbox", "--no-verify", "--limit", str(iterations)],
        cwd=root,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    events, memory = [], []
    for line in process.stdout:
        events.append(json.loads(line))
        if events[-1]["event"] == "session_started" and len(events) % 50 < 10:
            memory.append(_resident_mb(process.pid))
    process.wait()
    return events, memory


def _resident_mb(pid: int) -> float:
    import psutil

    return float(psutil.Process(pid).memory_info().rss / 1e6)


def _periods(events: list[dict[str, str]]) -> list[float]:
    starts = [_seconds(one["time"]) for one in events if one["event"] == "session_started"]
    return [later - earlier for earlier, later in pairwise(starts)]


def _seconds(text: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(text).timestamp()
