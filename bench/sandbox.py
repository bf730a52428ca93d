"""What a sandbox costs: the time that it adds to one command, against a plain spawn in the same
run.

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
"""What a sandbox may cost, in plain spawns: on an idle machine one of them takes a millisecond."""


def run(report: Report) -> None:
    """Measure, and tell. In turn, so that what else the machine does hits all of them."""
    with _sandboxes() as ways:
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
def _sandboxes() -> Iterator[dict[str, Callable[[], object]]]:
    """The ways to start `true`."""
    from ralph.adapters.executor.event_loop import SystemClock
    from ralph.adapters.executor.process_executor import ProcessExecutor
    from ralph.config.load import load_config
    from ralph.ports.executor import Command
    from ralph.ports.sandbox import CheckoutSandbox
    from ralph.wiring.project_sandbox import ProjectSandbox
    from ralph.wiring.sandbox import find_sandbox, open_checkout_sandbox, sandboxed_git

    root = Path(tempfile.mkdtemp(prefix="ralph-bench-"))
    executor = ProcessExecutor(SystemClock())
    try:
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        (root / ".ralph.toml").write_text("")
        command = Command(argv=("true",), cwd=str(root), env=dict(os.environ))
        ways: dict[str, Callable[[], object]] = {"spawn": lambda: executor.capture(command)}

        def run_in(checkout_sandbox: CheckoutSandbox) -> None:
            with checkout_sandbox.sandboxed(command) as inside:
                got = executor.capture(inside.command)
            assert got.code == 0, got.stderr

        loaded = load_config(str(root), {}, {})
        proxied = load_config(str(root), {}, {"sandbox.network": "proxy"})
        grounds = {
            name: ProjectSandbox(project=one) for name, one in (("on", loaded), ("proxy", proxied))
        }
        sandbox, _ = find_sandbox(grounds["on"].project, executor)
        with (
            open_checkout_sandbox(grounds["on"], executor, (sandbox, "")) as checkout_sandbox,
            open_checkout_sandbox(grounds["proxy"], executor, (sandbox, "")) as other,
        ):
            git = sandboxed_git(executor, checkout_sandbox, str(root / ".ralph"))
            ways["git of our own"] = lambda: git.capture(command)
            ways["session"] = lambda: run_in(checkout_sandbox)
            ways["session, through the proxy"] = lambda: run_in(other)
            yield ways
    finally:
        executor.close()
        shutil.rmtree(root)
