"""Every attempt after a failure is told the newest reason, whoever gave it."""

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import DONE, Project

GATE = r"""
test -e bad.txt || exit 0
printf '.....F...F [100%%]\n____ test_slug ____\n'
printf "\033[31mE       AssertionError: 'A' != 'a'\033[0m\nE         - a\n"
printf '____ test_last ____\nE       AssertionError: 1 != 2\n'
exit 1
"""
GIVES_UP = 'echo "<task-failed>$RALPH_TASK_ID</task-failed> The vendor has shut the API down."'


def last_brief(project: Project) -> str:
    briefs = sorted((project.path / ".ralph/runs").glob("*.prompt.md"), key=_age)
    return briefs[-1].read_text()


def _age(path: Path) -> int:
    return path.stat().st_mtime_ns


def test_after_a_retry_the_session_is_told_why_the_task_failed(project: Project) -> None:
    task = project.add("one")
    project.agent(GIVES_UP)
    text = project.ralph("run", code=5)
    assert "The vendor has shut the API down." in text
    assert project.task(task)["reason"] == "The vendor has shut the API down."
    for command in ("status", f"logs {task}", f"task show {task}"):
        assert "The vendor has shut the API down." in project.quick(*command.split())
    project.quick("task", "retry", task)
    project.agent(DONE)
    project.ralph("run")
    assert "> The vendor has shut the API down." in last_brief(project)


def test_the_first_assertion_of_a_gate_and_its_log_are_shown_everywhere(project: Project) -> None:
    gate = project.write("gate.sh", GATE)
    project.agent(f"touch bad.txt; {DONE}", gates=f'test = "sh {gate.name}"')
    task = project.add("one", "--max-retries", "0")
    assert "test_slug: AssertionError: 'A' != 'a'" in project.ralph("run", code=5)
    [log] = (project.path / ".ralph/runs").glob("*-iter-1.gate-test.log")
    for command in ("status", f"logs {task}", f"task show {task}"):
        shown = project.quick(*command.split())
        assert "test_slug: AssertionError: 'A' != 'a'" in shown
        assert str(log) in shown
        assert ".....F" not in shown
        assert "test_last" not in shown
    for command in (f"logs {task}", f"task show {task}"):
        assert "E         - a" in project.quick(*command.split())


@pytest.mark.parametrize(("retries", "code"), [("0", 5), ("1", 4)], ids=["failed", "open"])
def test_a_persons_reason_is_the_newest_one(project: Project, retries: str, code: int) -> None:
    task = project.add("one", "--max-retries", retries)
    project.agent('echo "<task-done>$RALPH_TASK_ID</task-done>"')
    project.ralph("run", "--limit", "1", code=code)
    project.quick("task", "fail", task, "-r", "use the other library")
    project.quick("task", "retry", task)
    project.agent(DONE)
    project.ralph("run")
    brief = last_brief(project)
    assert "> use the other library" in brief
    assert "> it was claimed done" not in brief


@pytest.mark.parametrize("way", ["block", "reset"])
def test_the_reason_outlives_a_block_and_a_reset(project: Project, way: str) -> None:
    task = project.add("one")
    project.agent('echo "<task-done>$RALPH_TASK_ID</task-done>"')
    project.ralph("run", "--limit", "1", code=4)
    if way == "block":
        project.quick("task", "block", task, "-r", "later")
        way = "unblock"
    project.quick("task", way, task)
    project.agent(DONE)
    project.ralph("run")
    assert "> it was claimed done, but nothing" in last_brief(project)


def test_the_reason_of_an_undo_is_told_first(project: Project) -> None:
    task = project.add("one")
    project.agent('echo "<task-done>$RALPH_TASK_ID</task-done>"')
    project.ralph("run", "--limit", "1", code=4)
    project.agent(DONE)
    project.ralph("run")
    project.quick("undo", task, "--yes", "-r", "it broke the export")
    project.ralph("run")
    brief = last_brief(project)
    assert "> Your earlier work on this was undone: it broke the export" in brief
    assert "> it was claimed done" not in brief


@pytest.mark.parametrize(("fail_fast", "status"), [("true", "failed"), ("false", "pending")])
def test_a_failure_by_hand_has_the_consequences_of_one_in_a_run(
    project: Project, fail_fast: str, status: str
) -> None:
    project.agent(DONE, execution=f"fail_fast = {fail_fast}")
    parent = project.add("parent")
    child, other = project.add("one", "--parent", parent), project.add("two", "--parent", parent)
    project.quick("task", "fail", child)
    assert project.status(parent) == status
    assert project.status(other) == "pending"
    ready = json.loads(project.quick("task", "list", "--ready", "--json"))
    assert [one["id"] for one in ready] == ([] if status == "failed" else [other])
