"""How long a command takes to start, against a Python that does nothing."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

ROUNDS = 41
BARS = {"--version": 1.5, "--help": 3.0, "task add": 6.0, "status": 6.0}


def run(report: Callable[..., None]) -> None:
    """Interleaved, so that a busy moment of the machine hits all of them alike."""
    ralph = os.path.join(os.path.dirname(sys.executable), "ralph")
    env = {name: value for name, value in os.environ.items() if not name.startswith("RALPH_")}
    # Bytecode is there after any normal installation; without it every start compiles Ralph anew.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    commands = {
        "bare": [sys.executable, "-c", "pass"],
        "--version": [ralph, "--version"],
        "--help": [ralph, "--help"],
        "task add": [ralph, "task", "add", "measure", "-d", "how long it takes"],
        "status": [ralph, "status"],
    }
    with tempfile.TemporaryDirectory() as project:
        for command in (["git", "init", "-q"], [ralph, "init"], *commands.values()):
            subprocess.run(command, cwd=project, env=env, check=True, capture_output=True)
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                times[name].append(_time(command, project, env))
    bare = statistics.median(times["bare"])
    report("bare python -c pass", bare * 1000, "ms", None, None)
    for name, bar in BARS.items():
        took = statistics.median(times[name])
        report(f"ralph {name}", took * 1000, "ms", None, None)
        report(f"ralph {name} against bare", took / bare, "times", bar, ok=took / bare <= bar)


def _time(command: list[str], project: str, env: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(
        command, cwd=project, env=env, check=True, stdout=subprocess.DEVNULL, close_fds=False
    )
    return time.perf_counter() - began
