"""Ralph is told to stop: in every state it ends in good order, and nothing of the agent is left."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import DONE, Project, wait_for
from tests.e2e.crash_points import check_sound, left_running, store_of
from tests.e2e.fault_helpers import CLAIM, Stage, ended, lines, until
from tests.e2e.ralph_process import RALPH
from tests.e2e.test_crash_tree import a_git

pytestmark = pytest.mark.usefixtures("installed")

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

each_signal = pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)

ESCAPES = "setsid sh -c 'trap \"\" INT TERM HUP; echo $$ > {pid}; while :; do sleep 0.05; done' &"
"""Leaves its parent's session and does not listen to signals."""


def interrupted(run: subprocess.Popen[str], number: signal.Signals) -> list[dict[str, Any]]:
    """Send it, and expect the end that every interrupted run has."""
    run.send_signal(number)
    events = [json.loads(line) for line in ended(run, 130).splitlines()]
    last = events[-1]
    assert (last["event"], last["outcome"], last["exit_code"]) == ("run_ended", "interrupted", 130)
    assert number.name in last["reason"]
    return events


def check_given_back(project: Project, task: str) -> None:
    """The task is nobody's, and it cost nothing."""
    shown = project.task(task)
    assert (shown["status"], shown["claimed_by"]) == ("pending", None)
    assert (shown["strikes"], shown["retry_count"]) == (0, 0)
    assert left_running(project) == []
    check_sound(project)


@each_signal
def test_in_a_session(project: Project, number: signal.Signals) -> None:
    stage = Stage(project)
    pid = project.path.parent / "pid"
    waits = f"until [ -s {pid} ]; do sleep 0.01; done"
    project.agent(f"echo half > work.txt; {ESCAPES.format(pid=pid)} {waits}; {stage.agent()}")
    task = project.add("Write it")
    run = project.start("run", "--json")
    stage.enter()
    interrupted(run, number)
    check_given_back(project, task)
    with store_of(project) as store:
        (session,) = store.sessions.select()
        assert session.ending is not None
        assert session.ending.ended == "interrupted"
    assert (project.path / "work.txt").read_text() == "half\n"
    project.agent(DONE)
    project.ralph("run")
    assert project.task(task)["attempt"] == 2
    assert project.status(task) == "done"
    assert project.git("status", "--porcelain") == ""


@each_signal
def test_while_a_gate_runs(project: Project, number: signal.Signals) -> None:
    stage = Stage(project)
    sessions = project.path.parent / "sessions"
    project.agent(
        f"echo x >> '{sessions}'; {DONE}",
        gates=f'test = "[ ! -e work.txt ] || {{ {stage.agent("test -e README.md")}; }}"',
    )
    task = project.add("Write it")
    run = project.start("run", "--json")
    stage.enter()
    interrupted(run, number)
    check_given_back(project, task)
    stage.go()
    project.ralph("run")
    assert project.status(task) == "done"
    assert lines(sessions) == ["x"], "a session that has ended is judged, not repeated"


@each_signal
def test_while_the_gates_run_for_the_first_time(project: Project, number: signal.Signals) -> None:
    stage = Stage(project)
    project.agent(DONE, gates=f'test = "{stage.agent("test -e README.md")}"')
    task = project.add("Write it")
    run = project.start("run", "--json")
    stage.enter()
    interrupted(run, number)
    check_given_back(project, task)
    assert project.task(task)["attempt"] == 0


@each_signal
def test_while_it_waits_for_a_usage_limit(project: Project, number: signal.Signals) -> None:
    project.write(
        "script.toml",
        """
        [[session]]
        task = "*"
        steps = [{ limit = 3600 }]
        [[session]]
        task = "*"
        steps = [{ write = "work.txt", text = "x" }, { done = true }]
        """,
    )
    project.write(".ralph.toml", '[agent]\nname = "scripted"\ncommand = "script.toml"\n')
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "configure")
    task = project.add("Write it")
    run = project.start("run", "--json")
    until(run, "run_waiting")
    interrupted(run, number)
    check_given_back(project, task)
    again = project.start("run", "--json")
    until(again, "run_waiting")
    project.ralph("resume")
    assert again.wait(timeout=240) == 0
    assert project.status(task) == "done"


@each_signal
def test_while_it_is_paused(project: Project, number: signal.Signals) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    project.add("first")
    second = project.add("second", "--priority", "1")
    run = project.start("run", "--json")
    stage.enter()
    project.ralph("pause")
    stage.go()
    until(run, "run_paused")
    interrupted(run, number)
    check_given_back(project, second)
    project.ralph("run")
    assert project.status(second) == "done"


@each_signal
def test_while_it_waits_for_another_run(
    project: Project, tmp_path: Path, number: signal.Signals
) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    task = project.add("Write it")
    first = project.start("run", "--json")
    stage.enter()
    other = tmp_path / "other"
    project.git("clone", "-q", str(project.path), str(other))
    database = str(project.path / ".ralph/progress.db")
    second = project.start("-C", str(other), "run", "--json", RALPH_DB=database)
    until(second, "run_started")
    interrupted(second, number)
    assert project.status(task) == "in_progress"
    stage.go()
    ended(first)
    assert project.status(task) == "done"


def test_a_second_interrupt_ends_it_at_once(project: Project) -> None:
    outside = project.path.parent
    agent = outside / "agent.sh"
    agent.write_text(
        f"""
        trap 'touch "{outside}/asked"' INT
        trap '' TERM HUP
        {ESCAPES.format(pid=outside / "pid")}
        until [ -s '{outside}/pid' ]; do sleep 0.01; done
        touch '{outside}/there'
        while :; do sleep 0.05; done
        """
    )
    project.agent(f"exec sh '{agent}'")
    task = project.add("Write it")
    run = project.start("run", "--json")
    wait_for((outside / "there").exists, "the session began")
    run.send_signal(signal.SIGINT)
    wait_for((outside / "asked").exists, "the agent was asked to end")
    assert run.poll() is None, "it waits for the agent"
    events = interrupted(run, signal.SIGINT)
    assert events[-1]["reason"] == "by a second SIGINT"
    check_given_back(project, task)
    project.agent(DONE)
    project.ralph("run")
    shown = project.task(task)
    assert (shown["status"], shown["attempt"], shown["retry_count"]) == ("done", 2, 0)


def test_an_agent_that_does_not_listen_is_ended_all_the_same(project: Project) -> None:
    stage = Stage(project)
    project.agent(f"trap '' INT TERM HUP; {stage.agent()}")
    task = project.add("Write it")
    run = project.start("run", "--json")
    stage.enter()
    interrupted(run, signal.SIGTERM)
    check_given_back(project, task)


def test_signals_in_a_row_are_one_wish(project: Project) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    project.add("Write it")
    run = project.start("run", "--json")
    stage.enter()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGTERM):
        run.send_signal(number)
    events = [json.loads(line) for line in ended(run, 130).splitlines()]
    assert events[-1]["outcome"] == "interrupted"


def test_an_agent_that_signals_its_own_group_interrupts_nobody_else(project: Project) -> None:
    project.agent(f'if [ "$RALPH_ATTEMPT" = 1 ]; then kill -INT 0; fi; {DONE}')
    task = project.add("Write it")
    project.ralph("run")
    shown = project.task(task)
    assert (shown["status"], shown["attempt"], shown["strikes"]) == ("done", 2, 0)


def test_what_is_said_to_the_agent_alone_does_not_end_the_run(project: Project) -> None:
    """Exit code 130 of an agent is a killed session, not a person's wish."""
    project.agent(f'if [ "$RALPH_ATTEMPT" = 1 ]; then echo bye; exit 130; fi; {CLAIM}; echo x > w')
    project.add("Write it")
    events = project.events()
    assert events[-1]["outcome"] == "complete"
    assert [event["ended"] for event in events if event["event"] == "session_ended"] == [
        "killed",
        "finished",
    ]


def test_a_hangup_is_ignored_under_nohup(project: Project) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    task = project.add("Write it")
    run = subprocess.Popen(
        ["nohup", RALPH, "run", "--json"],
        cwd=project.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env=os.environ,
    )
    project.started.append(run)
    stage.enter()
    run.send_signal(signal.SIGHUP)
    stage.go()
    ended(run)
    assert project.status(task) == "done"


@pytest.mark.parametrize("call", [1, 6, 12])
@each_signal
def test_a_command_that_is_no_run_ends_its_git_and_can_be_given_again(
    project: Project, tmp_path: Path, number: signal.Signals, call: int
) -> None:
    project.agent(DONE)
    task = project.add("Write it")
    project.ralph("run")
    there = tmp_path / "there"
    hangs = f"if [ \"$number\" -eq {call} ]; then touch '{there}'; exec sleep 1000; fi"
    undo = project.start("undo", "--yes", task, PATH=a_git(tmp_path / "bin", hangs))
    wait_for(lambda: there.exists() or undo.poll() is not None, "git hangs")
    assert there.exists(), "undo asks git less often than that"
    undo.send_signal(number)
    ended(undo, 130)
    assert left_running(project) == []
    project.ralph("undo", "--yes", task)
    assert project.status(task) == "pending"
    assert not (project.path / "work.txt").exists()
    assert project.git("worktree", "list").count("\n") == 0
    check_sound(project)
