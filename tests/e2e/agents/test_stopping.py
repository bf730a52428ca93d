"""Runs with a real agent are told to stop, and real agents leave things running."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from ralph.testing.model import ScriptedCall, Shell, Silent, do, say
from tests.e2e.agents.conftest import Real
from tests.e2e.agents.real import CLAIM, RealProject, work
from tests.e2e.agents.setups import ONE_FOR_ALL
from tests.e2e.conftest import wait_for
from tests.e2e.fault_helpers import ended

each_agent = pytest.mark.parametrize("agent", ONE_FOR_ALL)


def in_a_tool(project: RealProject) -> tuple[str, subprocess.Popen[str]]:
    """A run whose agent is at work with a tool."""
    wait = "echo half > half.txt; sleep 1000"
    task = project.scripted("x", do(Shell(command=wait)), say(CLAIM), whole=False)
    run = project.start("run", "--json")
    wait_for((project.path / "half.txt").exists, "the tool is at work")
    return task, run


def check_given_back(project: RealProject, task: str, run: subprocess.Popen[str]) -> None:
    """The run is interrupted, the task is nobody's, and a new run finishes it."""
    ended(run, 130)
    assert project.endings(task) == ["interrupted"]
    shown = project.task(task)
    assert (shown["status"], shown["claimed_by"]) == ("pending", None)
    assert (shown["strikes"], shown["retry_count"]) == (0, 0)
    project.server.script("x", *work("x"))
    project.ralph("run")
    assert project.status(task) == "done"


@each_agent
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.soak)]
)
def test_a_signal_while_a_tool_is_at_work(real: Real, agent: str, number: signal.Signals) -> None:
    project = real(agent)
    task, run = in_a_tool(project)
    run.send_signal(number)
    check_given_back(project, task, run)


@each_agent
def test_a_signal_while_the_model_is_awaited(real: Real, agent: str) -> None:
    project = real(agent)
    task = project.scripted("x", *work("x", faults=(Silent(),)), whole=False)
    run = project.start("run", "--json")
    project.server.await_request("x")
    run.send_signal(signal.SIGINT)
    check_given_back(project, task, run)


@each_agent
def test_what_a_tool_leaves_running_is_ended(real: Real, agent: str) -> None:
    project = real(agent)
    leave = "nohup setsid sleep 1000 >/dev/null 2>&1 </dev/null & echo x > x.txt; git add x.txt"
    task = project.scripted(
        "x", do(Shell(command=f"{leave} && git commit -q -m 'Add x'")), say(CLAIM)
    )
    events = project.events()
    assert project.status(task) == "done"
    (swept,) = [one["swept"] for one in events if one["event"] == "session_ended"]
    # Codex's own sandbox is gone with its tool, and all that was in it.
    assert swept >= (agent != "codex")


@each_agent
def test_a_session_that_lives_on_after_its_result_counts(
    real: Real, agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = real(agent, timeouts={"after_result": "1s"})
    folder = tmp_path / "lingering"
    folder.mkdir()
    (folder / agent).write_text(f'#!/bin/sh\n"{shutil.which(agent)}" "$@"\nsleep 1000\n')
    (folder / agent).chmod(0o755)
    task = project.scripted("x")
    project.ralph("run", PATH=f"{folder}:{os.environ['PATH']}")
    assert project.endings(task) == ["finished"]
    assert project.status(task) == "done"


def test_a_background_task_of_claude_does_not_hold_up_its_session(real: Real) -> None:
    project = real("claude", timeouts={"after_result": "1s"})
    background = {"command": "sleep 1000", "description": "wait", "run_in_background": True}
    first, *rest = work("x")
    task = project.scripted("x", do(ScriptedCall(name="Bash", input=background)), first, *rest)
    project.ralph("run")
    assert project.endings(task) == ["finished"]
    assert project.status(task) == "done"
