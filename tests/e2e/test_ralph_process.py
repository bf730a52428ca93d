"""A forked command cannot be told from the installed one by what it does."""

import os
import signal
from pathlib import Path

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.fault_helpers import Stage
from tests.e2e.ralph_process import RALPH, RalphProcess, run_ralph

LOOK = """\
cat /proc/$PPID/comm
cut -d" " -f5-8 /proc/$PPID/stat
grep -E "^(Umask|SigIgn|SigCgt|Threads|Seccomp|CapEff|NoNewPrivs):" /proc/$PPID/status
grep -E "^Sig(Blk|Ign):" /proc/self/status
ls /proc/$PPID/fd | head -n 3
umask; pwd -P
env | grep -vE "^(RALPH_|TMPDIR|_=)" | sort
"""
"""What an agent sees of Ralph's process, and of what it inherits."""


@pytest.fixture(params=["forked", "installed"])
def way(request: pytest.FixtureRequest) -> str:
    if request.param == "installed":
        request.getfixturevalue("installed")
    return str(request.param)


@pytest.mark.parametrize("new_session", [False, True], ids=["same session", "session of its own"])
def test_a_fork_has_the_process_state_of_the_program(
    project: Project, monkeypatch: pytest.MonkeyPatch, *, new_session: bool
) -> None:
    seen: dict[str, str] = {}
    for way in ("forked", "installed"):
        monkeypatch.setattr("tests.e2e.ralph_process.FORKS", way == "forked")
        file = project.path.parent / way
        project.agent(f"{{ {LOOK} }} > '{file}'; {DONE}")
        project.add("Look")
        env = dict(os.environ)
        run = RalphProcess([RALPH, "run"], cwd=project.path, env=env, start_new_session=new_session)
        assert run.wait() == 0
        assert run.forked == (way == "forked")
        seen[way] = file.read_text().replace(str(run.pid), "PID")
    assert seen["forked"] == seen["installed"]
    assert len(seen["forked"].splitlines()) > 20


def test_streams_and_exit_code(project: Project, way: str) -> None:
    done = run_ralph("task", "import", "-", cwd=project.path, said="no JSON\n")
    assert (done.returncode, done.stdout) == (65, "")
    assert done.stderr.startswith("ralph: line 1: ")
    with (project.path.parent / "out").open("w") as out:
        assert RalphProcess([RALPH, "--version"], cwd=project.path, stdout=out).wait() == 0
    assert (project.path.parent / "out").read_text().startswith("ralph 0")
    reading, writing = os.pipe()
    os.close(reading)
    assert RalphProcess([RALPH, "task", "list"], cwd=project.path, stdout=writing).wait() == 0
    os.close(writing)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)]
)
def test_signals(project: Project, way: str, number: signal.Signals, code: int) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    project.add("Wait")
    run = project.start("run")
    stage.enter()
    assert run.poll() is None
    assert Path(f"/proc/{run.pid}").exists()
    run.send_signal(number)
    assert run.wait(timeout=90) == code
    assert not Path(f"/proc/{run.pid}").exists()
    stage.go()  # the session of a Ralph that was killed would wait for ever


def test_another_start_up_runs_the_installed_program(project: Project) -> None:
    env = {**os.environ, "PYTHONWARNINGS": "error", "LC_ALL": "C"}
    process = RalphProcess([RALPH, "task", "list"], cwd=project.path, env=env)
    assert (process.wait(), process.forked) == (0, False)
