"""Whatever a session does, a signal ends its run within a bounded time, and the next command
answers."""

import random
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph.files import remove_tree
from tests.e2e.conftest import DONE, Project, wait_for
from tests.e2e.crash_points import left_running
from tests.e2e.hostile import ACTS, SPOILT

ENDED = 60.0
"""Seconds after which a run that was told to end has failed to."""
DOCUMENTED = {0, 1, 2, 3, 4, 5, 6, 64, 65, 66, 69, 73, 75, 78, 130}
SAMPLE = (
    "a pipe for .gitignore",
    "a pipe for .git/HEAD",
    "answers that nobody reads",
    "a search for a million words",
    "deaf to signals",
    "a hole for .gitignore",
    "folders without end in .git",
    "stopped",
)
"""One of each kind; the others are tried by `make soak`."""


@pytest.fixture(autouse=True)
def no_remains(tmp_path: Path) -> Iterator[None]:
    """Folders without end are too deep for whoever removes what tests have left."""
    yield
    remove_tree(str(tmp_path))


def attack(project: Project, act: str, number: signal.Signals, *, sandbox: bool) -> None:
    """Let a session do it, and tell the run to end."""
    there = project.path / "there"
    project.agent(f"{ACTS[act]}\ntouch there; while :; do sleep 1; done")
    task = project.add("Write it")
    env = {"RALPH_SANDBOX_MODE": "required" if sandbox else "off"}
    run = project.start("run", "--json", **env)
    wait_for(lambda: there.exists() or run.poll() is not None, "the session did it")
    run.send_signal(number)
    try:
        out, err = run.communicate(timeout=ENDED)
    except subprocess.TimeoutExpired:
        run.kill()
        raise AssertionError(f"{act}: the run does not end") from None
    said = f"{act}: {run.returncode}\n{out[-2000:]}\n{err}"
    # Without a repository there is nothing to give back: then that is said instead.
    assert run.returncode == 130 or (act in SPOILT and run.returncode in DOCUMENTED), said
    assert "Traceback" not in err, said
    assert "bug" not in err, said
    assert left_running(project) == [], said
    assert not (project.path / "refused").exists(), f"{act}: Ralph does not know the call"
    for command in ("status", "task list"):
        done = project.try_ralph(*command.split())
        assert done.returncode in DOCUMENTED, f"{act}: {command}: {done.stderr}"
    # Without a sandbox nothing keeps a session from removing the settings themselves.
    has_settings = sandbox or act != "a pipe for .ralph.toml"
    if act not in SPOILT and has_settings:
        after = project.try_ralph("run", AGENT_CMD=DONE, **env)
        said = f"{act}: {after.returncode}\n{after.stdout[-2000:]}\n{after.stderr}"
        assert after.returncode == 0, said
        assert project.status(task) == "done", said


@pytest.mark.parametrize("act", SAMPLE)
def test_a_signal_ends_the_run(project: Project, act: str) -> None:
    attack(project, act, signal.SIGTERM, sandbox=False)


@pytest.mark.parametrize("act", ["idle connections", "a pipe for .gitattributes"])
def test_a_signal_ends_the_run_behind_a_sandbox(project: Project, act: str) -> None:
    attack(project, act, signal.SIGINT, sandbox=True)


@pytest.mark.soak
@pytest.mark.parametrize("sandbox", [False, True], ids=["off", "sandbox"])
@pytest.mark.parametrize("act", ACTS)
def test_every_act_and_a_signal(project: Project, act: str, sandbox: bool) -> None:  # noqa: FBT001
    number = random.Random(f"{act} {sandbox}").choice((signal.SIGINT, signal.SIGTERM))
    attack(project, act, number, sandbox=sandbox)
