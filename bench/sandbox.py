"""What a wall costs: the time that it adds to one command, against a plain spawn in the same run.

Three things are started behind it: Ralph's own git, a session, and a session through the proxy.
"""

import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

Report = Callable[[str, float, str, float | None, bool | None], None]

ROUNDS = 60
GIT, SESSION = 15.0, 45.0
"""What a wall may cost, in plain spawns: on an idle machine one of them takes a millisecond."""


def run(report: Report) -> None:
    """Measure, and tell. In turn, so that what else the machine does hits all of them."""
    with _walls() as ways:
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, way in ways.items():
                began = time.perf_counter()
                way()
                times[name].append((time.perf_counter() - began) * 1000)
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    bare = medians.pop("spawn")
    report("sandbox: plain spawn", bare, "ms", None, None)
    bars = {"git of our own": GIT, "session": SESSION}
    for name, median in medians.items():
        report(f"sandbox: added to {name}", median - bare, "ms", None, None)
        if name in bars:
            added, bar = (median - bare) / bare, bars[name]
            report(f"sandbox: added to {name}, in spawns", added, "x", bar, added <= bar)


@contextmanager
def _walls() -> Iterator[dict[str, Callable[[], object]]]:
    """The ways to start `true`."""
    from ralph.adapters.executor.clock import SystemClock
    from ralph.adapters.executor.processes import Processes
    from ralph.config.load import load
    from ralph.ports.executor import Command
    from ralph.wiring.walls import Ground, a_sandbox, our_git, wall_of

    root = Path(tempfile.mkdtemp(prefix="ralph-bench-"))
    executor = Processes(SystemClock())
    try:
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        (root / ".ralph.toml").write_text("")
        ways: dict[str, Callable[[], object]] = {
            "spawn": lambda: executor.capture(["true"], cwd=str(root))
        }
        command = Command(argv=("true",), cwd=str(root), env=dict(os.environ))

        def behind(wall: "object") -> None:
            with wall.around(command) as inside:  # type: ignore[attr-defined]
                got = executor.capture(
                    inside.command.argv, cwd=inside.command.cwd, env=inside.command.env
                )
            assert got.code == 0, got.stderr

        loaded = load(str(root), {}, {})
        proxied = load(str(root), {}, {"sandbox.network": "proxy"})
        grounds = {
            name: Ground(loaded=one, database=str(root / "db"), environ=os.environ)
            for name, one in (("on", loaded), ("proxy", proxied))
        }
        sandbox, _ = a_sandbox(grounds["on"], executor)
        with (
            wall_of(grounds["on"], sandbox, "") as wall,
            wall_of(grounds["proxy"], sandbox, "") as other,
        ):
            git = our_git(executor, wall, str(root / ".ralph"))
            ways["git of our own"] = lambda: git.capture(["true"], cwd=str(root))
            ways["session"] = lambda: behind(wall)
            ways["session, through the proxy"] = lambda: behind(other)
            yield ways
    finally:
        executor.close()
        shutil.rmtree(root)
