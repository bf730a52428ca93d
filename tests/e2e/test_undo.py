"""Taking a task's work back: its commits, its status, and what builds on it."""

import json
from typing import Any

import pytest

from tests.e2e.conftest import Project
from tests.e2e.fault_helpers import Stage, refused

AGENT = (
    "name=$(sed -n 's/^\\*\\*\\(.*\\)\\*\\*$/\\1/p' {prompt} | head -1); "
    "echo $name.$RALPH_ATTEMPT >> $name.txt; echo $name >> all.txt; "
    'echo "<task-done>$RALPH_TASK_ID</task-done>"'
)
"""Writes a file named after its task, and a line into one that all tasks share."""

COMMITS = AGENT.replace(
    "echo $name >> all.txt;", "git add -A; git commit -qm by-hand; echo $name > left.txt;"
)
"""Commits a part itself, and leaves another part to Ralph."""


def undone(project: Project, task: str, *args: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(project.ralph("undo", task, "--yes", "--json", *args))
    return found


def test_a_tasks_work_is_taken_back_and_can_be_done_again(project: Project) -> None:
    project.agent(COMMITS)
    task = project.add("one")
    before = project.git("rev-parse", "HEAD^{tree}")
    project.ralph("run")
    assert project.commits()[:2] == ["one", "by-hand"]
    undone_tasks = undone(project, task)
    assert project.git("rev-parse", "HEAD^{tree}") == before
    assert len(undone_tasks["reverted"]) == 2
    assert undone_tasks["reopened"] == [task]
    assert project.commits()[0] == "Undo: one"
    assert project.git("log", "-1", "--format=%(trailers:key=Ralph-Undo,valueonly)") == task
    assert project.git("status", "--porcelain") == ""
    assert project.status(task) == "pending"
    project.ralph("run")
    assert project.status(task) == "done"
    assert (project.path / "one.txt").read_text() == "one.2\n"


def test_only_what_was_done_since_the_last_undoing_is_taken_back(project: Project) -> None:
    project.agent(COMMITS)
    task = project.add("one")
    project.ralph("run")
    undone(project, task)
    project.ralph("run")
    undone_tasks = undone(project, task)
    assert len(undone_tasks["reverted"]) == 2
    assert not (project.path / "one.txt").exists()
    refused(project.try_ralph("undo", task, "--yes"), 64, "nothing to undo")


def test_what_builds_on_it_is_opened_again_and_keeps_its_commits(project: Project) -> None:
    project.agent(AGENT.replace("echo $name >> all.txt; ", ""))
    one = project.add("one")
    two = project.add("two", "--blocked-by", one)
    three = project.add("three", "--blocked-by", two)
    other = project.add("other")
    project.ralph("run")
    undone_tasks = undone(project, one)
    assert undone_tasks["reopened"] == [one, two, three]
    assert [project.status(task) for task in (one, two, three, other)] == ["pending"] * 3 + ["done"]
    assert not (project.path / "one.txt").exists()
    assert (project.path / "two.txt").exists()
    project.ralph("run")
    assert [project.status(task) for task in (one, two, three)] == ["done"] * 3


def test_a_parent_is_undone_with_all_below_it(project: Project) -> None:
    project.agent(AGENT)
    parent = project.add("parent")
    parts = [project.add(name, "--parent", parent) for name in ("a", "b")]
    waits = project.add("waits", "--blocked-by", parent, "--max-retries", "0")
    project.ralph("run", parent)
    undone_tasks = undone(project, parent)
    assert len(undone_tasks["reverted"]) == 2
    assert sorted(undone_tasks["reopened"]) == sorted([parent, *parts])
    assert not (project.path / "all.txt").exists()
    assert project.status(waits) == "pending"


def test_later_changes_in_the_way_change_nothing_at_all(project: Project) -> None:
    project.agent(AGENT)
    one = project.add("one")
    two = project.add("two", "--priority", "1")
    project.ralph("run")
    head = project.git("rev-parse", "HEAD")
    said = refused(project.try_ralph("undo", one, "--yes"), 1, "all.txt")
    assert "later changes are in the way" in said
    assert project.git("rev-parse", "HEAD") == head
    assert project.git("status", "--porcelain") == ""
    assert project.git("worktree", "list").count("\n") == 0
    assert project.status(one) == "done"
    undone(project, two)
    undone(project, one)
    assert not (project.path / "all.txt").exists()


def test_a_persons_own_changes_stay_or_stop_it(project: Project) -> None:
    project.agent(AGENT)
    task = project.add("one")
    project.ralph("run")
    project.write("README.md", "mine\n")
    project.write("one.txt", "mine as well\n")
    refused(project.try_ralph("undo", task, "--yes"), 1, "your own changes are in the way: one.txt")
    assert project.status(task) == "done"
    project.git("checkout", "-q", "one.txt")
    undone(project, task)
    assert (project.path / "README.md").read_text() == "mine\n"
    assert project.git("status", "--porcelain") == "M README.md"


def test_it_is_shown_first_and_needs_a_yes(project: Project) -> None:
    project.agent(AGENT)
    one = project.add("one")
    two = project.add("two", "--blocked-by", one)
    project.ralph("run", one)
    head = project.git("rev-parse", "--short=10", "HEAD")
    asked = project.try_ralph("undo", one)
    assert asked.returncode == 64
    assert f"  {head}  one" in asked.stderr
    assert f"  {one}  done" in asked.stderr
    assert two not in asked.stderr, "it was not done yet"
    assert project.status(one) == "done"


def test_its_next_session_is_told_why(project: Project) -> None:
    project.agent(AGENT)
    task = project.add("one")
    project.ralph("run")
    undone(project, task, "-r", "it broke the export")
    file = project.path.parent / "told.md"
    project.agent(f"cat > {file}; {AGENT.replace(': {prompt}', '')}".replace("{prompt}", str(file)))
    project.ralph("run")
    assert "was undone: it broke the export" in file.read_text()
    assert any(
        "undone: its work was taken back" in one["message"] for one in project.task(task)["log"]
    )


@pytest.mark.parametrize("commit", ["auto", "none"])
def test_a_task_without_commits_is_only_opened_again(project: Project, commit: str) -> None:
    project.agent('echo "<task-done>$RALPH_TASK_ID</task-done>"', git=f'commit = "{commit}"')
    task = project.add("one", "--no-change")
    project.ralph("run")
    assert undone(project, task)["commit"] is None
    assert project.status(task) == "pending"


def test_not_while_a_run_is_at_work(project: Project) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    task = project.add("one")
    run = project.start("run", "--json")
    stage.enter()
    refused(project.try_ralph("undo", task, "--yes"), 75, "another run is at work")
    stage.go()
    run.communicate(timeout=240)


def test_attempts_commits_and_cost_are_shown_together(project: Project) -> None:
    project.agent(COMMITS)
    task = project.add("one")
    project.ralph("run")
    theirs, ours = project.git("log", "-2", "--format=%H", "--reverse").split()
    (attempt,) = project.task(task)["attempts"]
    assert attempt["commits"] == [theirs, ours]
    for shown in (project.ralph("task", "show", task), project.ralph("logs", task)):
        assert f"commits  {theirs[:12]} {ours[:12]}" in shown
        assert "cost unknown" in shown
        assert "verdict  accepted" in shown
