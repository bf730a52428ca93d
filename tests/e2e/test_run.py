"""The loop, whole, as a person sees it."""

import json

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.fault_helpers import CLAIM

pytestmark = pytest.mark.usefixtures("installed")


def test_tasks_are_built_in_order_of_their_dependencies(project: Project) -> None:
    project.agent(f'echo "$RALPH_TASK_ID" >> order.txt; {DONE}')
    first = project.add("first", "--priority", "9")
    second = project.add("second", "--blocked-by", first)
    third = project.add("third", "--blocked-by", second)
    project.ralph("run")
    assert (project.path / "order.txt").read_text().split() == [first, second, third]
    assert [project.status(task) for task in (first, second, third)] == ["done"] * 3
    assert project.commits()[:3] == ["third", "second", "first"]
    assert project.git("status", "--porcelain") == ""


def test_every_commit_names_its_task(project: Project) -> None:
    project.agent(f"echo a > a; git add a; git commit -qm mine; git rev-parse HEAD > b; {CLAIM}")
    task = project.add("Add both")
    project.ralph("run")
    own = (project.path / "b").read_text().strip()
    assert project.git("rev-parse", "HEAD~1").strip() == own
    assert f"Ralph-Task: {task}" in project.git("log", "-1", "--notes=ralph", "--format=%N", own)
    assert f"Ralph-Task: {task}" in project.git("log", "-1", "--format=%B")


def test_an_empty_graph_is_no_plan(project: Project) -> None:
    project.agent(DONE)
    project.ralph("run", code=3)


def test_a_claim_without_work_is_rejected_until_the_retries_are_spent(project: Project) -> None:
    project.agent('echo "<task-done>$RALPH_TASK_ID</task-done>"')
    task = project.add("lazy", "--max-retries", "1")
    project.ralph("run", code=5)
    shown = project.task(task)
    assert (shown["status"], shown["attempt"], shown["retry_count"]) == ("failed", 2, 1)


def test_a_task_that_needs_no_change_may_be_done_without_one(project: Project) -> None:
    project.agent('echo "<task-done>$RALPH_TASK_ID</task-done>"')
    task = project.add("look", "--no-change")
    project.ralph("run")
    assert project.status(task) == "done"


def test_an_agent_that_says_nothing_pauses_the_run(project: Project) -> None:
    project.agent("true")
    task = project.add("quiet")
    events = project.events(code=6)
    assert [event["event"] for event in events].count("task_struck") == 3
    assert events[-1]["outcome"] == "paused"
    assert project.status(task) == "pending"


def test_an_agent_that_echoes_its_brief_claims_nothing(project: Project) -> None:
    project.agent("cat")
    task = project.add("echo <task-done>me</task-done>")
    project.ralph("run", code=6)
    assert project.status(task) == "pending"


def test_four_tries_when_a_gate_keeps_failing(project: Project) -> None:
    project.agent(f"touch broken; {DONE}", gates='test = "test ! -e broken"')
    task = project.add("stubborn")
    project.ralph("run", code=5)
    shown = project.task(task)
    assert (shown["status"], shown["attempt"]) == ("failed", 4)
    assert project.git("for-each-ref", "--format=%(refname)", "refs/ralph/") == (
        f"refs/ralph/{task}/4"
    )
    assert not (project.path / "broken").exists()


def test_the_reason_of_a_rejection_is_in_the_next_brief(project: Project) -> None:
    project.agent(
        f'cp {{prompt}} "brief-$RALPH_ATTEMPT.txt"; {DONE}',
        gates='test = "test ! -e work.txt || test -e brief-2.txt || { echo try again; exit 1; }"',
    )
    project.add("twice")
    project.ralph("run")
    assert "try again" in (project.path / "brief-2.txt").read_text()


def test_a_gate_that_is_red_before_does_not_block_everything(project: Project) -> None:
    project.agent(DONE, gates='test = "false"')
    task = project.add("under a red gate")
    events = project.events()
    assert project.status(task) == "done"
    assert any("proves nothing" in event.get("message", "") for event in events)


def test_a_gate_that_cannot_run_stops_the_run_before_it_starts(project: Project) -> None:
    project.agent(DONE, gates='test = "no-such-program-anywhere"')
    task = project.add("never started")
    done = project.try_ralph("run")
    assert done.returncode == 69
    assert "gate test cannot run" in done.stderr
    assert project.task(task)["attempt"] == 0


def test_a_gate_that_cannot_fail_is_refused(project: Project) -> None:
    project.agent(DONE, gates='test = "make test || true"')
    project.add("x")
    done = project.try_ralph("run")
    assert done.returncode == 78
    assert "test" in done.stderr


def test_what_depends_on_a_failed_task_leaves_the_run_blocked(project: Project) -> None:
    project.agent('echo "<task-failed>$RALPH_TASK_ID</task-failed>"')
    first = project.add("impossible")
    second = project.add("after it", "--blocked-by", first)
    project.ralph("run", code=2)
    assert (project.status(first), project.status(second)) == ("failed", "pending")


def test_a_limit_ends_the_run_and_the_next_goes_on(project: Project) -> None:
    project.agent(DONE)
    tasks = [project.add(f"task {number}") for number in range(3)]
    project.ralph("run", "--limit", "2", code=4)
    assert [project.status(task) for task in tasks] == ["done", "done", "pending"]
    project.ralph("run", "--once")
    assert project.status(tasks[2]) == "done"


def test_a_promise_of_failure_ends_the_run_and_releases_the_claim(project: Project) -> None:
    project.agent("printf '<promise>FAILURE</promise>\\n'")
    task = project.add("hopeless")
    project.ralph("run", code=1)
    shown = project.task(task)
    assert (shown["status"], shown["claimed_by"]) == ("pending", None)


def test_json_lines_have_seq_time_and_event_and_end_with_the_outcome(project: Project) -> None:
    project.agent(DONE)
    project.add("one")
    events = project.events()
    assert all({"seq", "time", "event"} <= event.keys() for event in events)
    assert [event["seq"] for event in events] == sorted(event["seq"] for event in events)
    assert (events[-1]["event"], events[-1]["outcome"]) == ("run_ended", "complete")


def test_a_target_is_built_alone(project: Project) -> None:
    project.agent(DONE)
    parent = project.add("parent")
    child = project.add("child", "--parent", parent)
    other = project.add("other")
    project.ralph("run", parent)
    assert [project.status(task) for task in (parent, child, other)] == ["done", "done", "pending"]


def test_a_session_reaches_the_loop_by_its_socket(project: Project) -> None:
    project.agent(
        'echo x > work.txt; ralph task add "found on the way" --no-change >/dev/null;'
        ' ralph task done "$RALPH_TASK_ID"'
    )
    task = project.add("by socket", "--no-change")
    project.ralph("run", "--limit", "1", code=4, PATH=_path())
    assert project.status(task) == "done"
    assert "found on the way" in project.ralph("task", "list")


def test_a_session_may_not_settle_another_task(project: Project) -> None:
    other = project.add("other", "--priority", "5")
    project.agent(f"ralph task done {other} 2>&1")
    project.add("mine")
    project.ralph("run", "--once", code=4, PATH=_path())
    assert project.status(other) == "pending"


def _path() -> str:
    import os
    import sys

    return os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]


def test_commits_of_a_session_that_was_not_to_commit_are_said_with_the_way_back(
    project: Project,
) -> None:
    project.agent(f"{DONE}; git add -A; git commit -qm mine")
    head = project.git("rev-parse", "HEAD")
    project.add("x")
    warned = [one for one in project.events("--no-commit") if one["event"] == "warned"]
    said = next(one["message"] for one in warned if "nothing is to be committed" in one["message"])
    assert f"git reset --soft {head[:10]}" in said


def test_every_iteration_of_a_task_run_leaves_a_summary(project: Project) -> None:
    project.agent(DONE)
    task = project.add("x")
    project.ralph("run")
    summary = next((project.path / ".ralph/runs").glob("run-*-iter-1.md")).read_text()
    assert f"- Story: {task}: x\n" in summary
    assert "- Mode: run\n" in summary
    assert "- work.txt\n" in summary
    state = json.loads((project.path / ".ralph/state.json").read_text())
    assert state["total_cost_usd"] is None, "a command does not say what it cost"
