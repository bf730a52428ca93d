"""Several runs at one graph: never one task twice, never a dead worker's task for ever."""

import json
import os
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.fault_helpers import Stage, ended, lines, refused, until
from tests.e2e.ralph_process import RALPH


class Pair:
    """Two checkouts of one repository that share a store."""

    def __init__(self, here: Project, there: Project, database: Path) -> None:
        self.here, self.there = here, there
        self.env = {"RALPH_DB": str(database)}
        self.sessions = database.parent / "sessions"


@pytest.fixture
def pair(project: Project, tmp_path: Path) -> Iterator[Pair]:
    project.agent("false")
    path = tmp_path / "second checkout"
    project.git("clone", "-q", str(project.path), str(path))
    there = Project.__new__(Project)
    there.path, there.started = path, []
    yield Pair(project, there, tmp_path / "shared.db")
    for process in there.started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_a_second_run_in_the_same_checkout_is_refused(project: Project) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    task = project.add("x")
    first = project.start("run")
    stage.enter()
    said = refused(project.try_ralph("run"), 75, "another run is at work in this checkout")
    assert str(first.pid) in said
    assert "ralph stop" in said
    assert project.status(task) == "in_progress", "the first goes on"
    stage.go()
    ended(first)
    assert project.status(task) == "done"
    project.add("y")
    project.ralph("run")


def test_two_runs_share_the_work_and_do_nothing_twice(pair: Pair) -> None:
    command = (
        f"echo $RALPH_TASK_ID >> '{pair.sessions}'; echo $RALPH_TASK_ID > $RALPH_TASK_ID; {DONE}"
    )
    for number in range(12):
        pair.here.ralph("task", "add", f"task {number}", **pair.env)
    runs = [
        checkout.start("run", AGENT_CMD=f"sleep 0.05; {command}", **pair.env)
        for checkout in (pair.here, pair.there)
    ]
    for run in runs:
        ended(run)
    done = lines(pair.sessions)
    assert len(done) == 12
    assert len(set(done)) == 12
    listed = json.loads(pair.here.ralph("task", "list", "--all", "--json", **pair.env))
    assert {task["status"] for task in listed} == {"done"}
    assert {task["attempt"] for task in listed} == {1}


def test_a_task_claimed_elsewhere_is_waited_for(pair: Pair) -> None:
    stage = Stage(pair.here)
    first = pair.here.ralph("task", "add", "first", **pair.env)
    second = pair.here.ralph("task", "add", "second", "--blocked-by", first, **pair.env)
    here = pair.here.start("run", "--once", AGENT_CMD=stage.agent(), **pair.env)
    stage.enter()
    there = pair.there.start("run", "--json", AGENT_CMD=DONE, **pair.env)
    until(there, "run_started")
    assert there.poll() is None, "it is not blocked: the other run may still succeed"
    stage.go()
    ended(here, 4)
    events = [json.loads(line) for line in ended(there).splitlines()]
    assert events[-1]["outcome"] == "complete"
    assert [event["event"] for event in events].count("run_ended") == 1, "the other's is not ours"
    assert first in [event["task_id"] for event in events if event["event"] == "task_done"]
    shown = [
        json.loads(pair.there.ralph("task", "show", one, "--json", **pair.env))
        for one in (first, second)
    ]
    assert [one["status"] for one in shown] == ["done", "done"]
    assert "second" in pair.there.git("log", "-1", "--format=%s")
    assert "first" in pair.here.git("log", "-1", "--format=%s")


def test_a_task_that_fails_elsewhere_leaves_the_waiting_run_blocked(pair: Pair) -> None:
    stage = Stage(pair.here)
    first = pair.here.ralph("task", "add", "first", **pair.env)
    pair.here.ralph("task", "add", "second", "--blocked-by", first, **pair.env)
    fail = 'echo "<task-failed>$RALPH_TASK_ID</task-failed>"'
    here = pair.here.start("run", AGENT_CMD=stage.agent(fail), **pair.env)
    stage.enter()
    there = pair.there.start("run", AGENT_CMD=DONE, **pair.env)
    stage.go()
    ended(here, 2)
    ended(there, 2)


def test_a_run_that_was_killed_gives_its_task_back_to_the_other(pair: Pair) -> None:
    stage = Stage(pair.here)
    task = pair.here.ralph("task", "add", "x", **pair.env)
    here = pair.here.start("run", AGENT_CMD=stage.agent(), **pair.env)
    stage.enter()
    there = pair.there.start("run", AGENT_CMD=DONE, **pair.env)
    here.send_signal(signal.SIGKILL)
    here.communicate()
    ended(there)
    shown = json.loads(pair.there.ralph("task", "show", task, "--json", **pair.env))
    assert (shown["status"], shown["attempt"], shown["retry_count"]) == ("done", 2, 0)
    assert pair.there.commits()[0] == "x"


def test_a_killed_run_leaves_nothing_that_a_person_has_to_fix(project: Project) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    task = project.add("x")
    first = project.start("run")
    stage.enter()
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert project.status(task) == "in_progress"
    assert "no run" in project.try_ralph("pause").stderr
    stage.go()
    events = project.events()
    assert project.status(task) == "done"
    lost = next(event for event in events if event["event"] == "session_ended")
    assert lost["ended"] == "lost"
    names = {file.name for file in (project.path / ".ralph" / "runs").glob("*.log")}
    assert len(names) == 2, "the log of the lost session is still there"


def test_a_lease_of_a_machine_that_is_gone_ends_by_itself(project: Project) -> None:
    """Nobody here can see whether its owner lives, so its time has to run out."""
    stage = Stage(project)
    task = project.add("x")
    run = project.start("run", AGENT_CMD=stage.agent())
    stage.enter()
    run.send_signal(signal.SIGKILL)
    run.communicate()
    tell(project, "UPDATE workers SET host = 'elsewhere', boot_id = 'another'")
    second = project.start("run", "--json", AGENT_CMD=DONE)
    until(second, "run_started")
    assert project.status(task) == "in_progress", "it may be alive"
    tell(
        project,
        "UPDATE workers SET lease_s = 0 WHERE host = 'elsewhere'",
    )
    ended(second)
    shown = project.task(task)
    assert (shown["status"], shown["attempt"]) == ("done", 2)
    # The agent of the gone machine is nobody's any more: let it end.
    stage.go()


def tell(project: Project, statement: str) -> None:
    """What the database would hold if another machine had written it."""
    database = sqlite3.connect(project.path / ".ralph" / "progress.db", timeout=30)
    with database:
        assert database.execute(statement).rowcount >= 1
    database.close()


def test_a_live_owner_keeps_its_claim_however_old_its_heartbeat(pair: Pair) -> None:
    """Laptops sleep: a stopped process is not a dead one."""
    stage = Stage(pair.here)
    task = pair.here.ralph("task", "add", "x", **pair.env)
    here = pair.here.start("run", AGENT_CMD=stage.agent(), **pair.env)
    stage.enter()
    here.send_signal(signal.SIGSTOP)
    there = pair.there.start("run", "--json", AGENT_CMD=DONE, **pair.env)
    until(there, "run_started")
    shown = json.loads(pair.here.ralph("task", "show", task, "--json", **pair.env))
    assert (shown["status"], shown["attempt"]) == ("in_progress", 1)
    here.send_signal(signal.SIGCONT)
    stage.go()
    ended(here)
    ended(there)
    shown = json.loads(pair.here.ralph("task", "show", task, "--json", **pair.env))
    assert (shown["status"], shown["attempt"]) == ("done", 1)


def test_twenty_people_add_tasks_at_once(project: Project) -> None:
    processes = [project.start("task", "add", f"task {number}") for number in range(20)]
    ids = {ended(process).strip() for process in processes}
    assert len(ids) == 20
    assert len(json.loads(project.ralph("task", "list", "--json"))) == 20


def test_a_store_that_is_new_is_made_once_by_many(tmp_path: Path, project: Project) -> None:
    env = {"RALPH_DB": str(tmp_path / "new" / "folder" / "tasks.db")}
    processes = [project.start("task", "add", f"task {number}", **env) for number in range(6)]
    for process in processes:
        ended(process)
    assert len(json.loads(project.ralph("task", "list", "--json", **env))) == 6


def test_signals_to_the_group_do_not_orphan_the_agent(project: Project) -> None:
    """What a terminal does when its window is closed."""
    stage = Stage(project)
    project.agent(stage.agent("sleep 1000"))
    project.add("x")
    run = subprocess.Popen(
        [RALPH, "run"],
        cwd=project.path,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    project.started.append(run)
    stage.enter()
    os.killpg(run.pid, signal.SIGHUP)
    ended(run, 130)
