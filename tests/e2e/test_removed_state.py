"""Agents that clean up too well: what they remove of Ralph's comes back."""

import json
import shutil

import pytest

from tests.e2e.conftest import DONE, Project, wait_for
from tests.e2e.fault_helpers import CLAIM, Stage, ended, path, refused, warnings

HARM = [
    "rm -rf .ralph",
    "git clean -fdxq",
    "git clean -fdxq; git checkout -q -- .",
    "rm -f .ralph/progress.db",
    "rm -f .ralph/progress.db .ralph/progress.db-wal .ralph/progress.db-shm",
    "rm -f .ralph/progress.db-wal .ralph/progress.db-shm",
    "rm -rf .ralph; mkdir .ralph",
    "rm -rf .ralph/runs",
    "mv .ralph ../moved",
]


@pytest.mark.parametrize("harm", HARM)
def test_the_run_goes_on_and_the_data_is_back(project: Project, harm: str) -> None:
    project.agent(f"{harm}; {DONE}; echo and a log")
    tasks = [project.add("first"), project.add("second")]
    events = project.events()
    assert [project.status(task) for task in tasks] == ["done", "done"]
    assert project.commits()[:2] == ["second", "first"]
    if harm != "rm -rf .ralph/runs":
        assert "the database was removed" in warnings(events)
    assert project.ralph("doctor", code=None)
    if "mv" not in harm:
        assert "and a log" in project.ralph("logs", tasks[1])
    assert project.git("status", "--porcelain") == ""


def test_while_it_is_removed_a_second_run_is_still_refused(project: Project) -> None:
    stage = Stage(project)
    project.agent(f"rm -rf .ralph; {stage.agent()}")
    task = project.add("x")
    run = project.start("run")
    stage.enter()
    wait_for((project.path / ".ralph" / "progress.db").exists, "the database is back")
    refused(project.try_ralph("run"), 75, "another run is at work", "hint: ")
    stage.go()
    ended(run)
    assert project.status(task) == "done"


def test_a_task_added_after_the_removal_is_not_lost(project: Project) -> None:
    stage = Stage(project)
    project.agent(f"rm -rf .ralph; {stage.agent()}")
    first = project.add("first")
    run = project.start("run", "--json")
    stage.enter()
    wait_for((project.path / ".ralph" / "progress.db").exists, "the database is back")
    second = project.add("second")
    stage.go()
    events = [json.loads(line) for line in ended(run).splitlines()]
    assert [project.status(task) for task in (first, second)] == ["done", "done"]
    assert [event["seq"] for event in events] == sorted({event["seq"] for event in events})


@pytest.mark.parametrize(
    ("last_words", "code"), [(":", 6), ("printf '<promise>FAILURE</promise>'", 1), ("exit 127", 69)]
)
def test_the_last_deed_of_a_run_loses_nothing(project: Project, last_words: str, code: int) -> None:
    project.agent(f"rm -rf .ralph; {last_words}")
    task = project.add("kept")
    project.ralph("run", code=code)
    assert project.status(task) == "pending"
    assert "last run" in project.ralph("status")


def test_a_gate_that_removes_everything(project: Project) -> None:
    project.agent(DONE, gates='clean = "rm -rf .ralph && test -e README.md"')
    tasks = [project.add(f"task {number}") for number in range(3)]
    project.ralph("run")
    assert [project.status(task) for task in tasks] == ["done"] * 3


def test_somebody_who_merely_looks_meanwhile_does_no_harm(project: Project) -> None:
    """Looking makes an empty database where there is none; that one must not win."""
    look = "rm -rf .ralph; env -u RALPH_SOCKET ralph status > /dev/null"
    project.agent(f"{look}; sleep 0.6; {look}; {DONE}")
    tasks = [project.add("first"), project.add("second")]
    project.ralph("run", PATH=path())
    assert [project.status(task) for task in tasks] == ["done", "done"]


def test_removed_between_two_runs_is_no_new_beginning(project: Project) -> None:
    project.agent(DONE)
    project.add("x")
    shutil.rmtree(project.path / ".ralph")
    refused(project.try_ralph("run"), 65, "progress.db is gone", "ralph init --new-database")


def test_the_checkout_itself_is_removed(project: Project) -> None:
    project.agent(f'cd /; rm -rf "$OLDPWD"; {CLAIM}')
    project.add("x")
    done = project.try_ralph("run")
    assert "Traceback" not in done.stdout + done.stderr
    assert done.returncode in (66, 73), done.stderr
