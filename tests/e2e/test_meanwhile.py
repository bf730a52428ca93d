"""People change the graph while a run works on it."""

import json

import pytest

from tests.e2e.conftest import DONE, Project, wait_for
from tests.e2e.fault_helpers import CLAIM, Stage, ended, lines, refs


class Show:
    """A run in the middle of its first session."""

    def __init__(self, project: Project, *titles: str, then: str = DONE) -> None:
        self.project = project
        self.stage = Stage(project)
        self.sessions = project.path.parent / "sessions"
        project.agent(
            f"echo $RALPH_TASK_ID >> '{self.sessions}'; echo half > half.txt; "
            + self.stage.agent(then)
        )
        self.tasks = [project.add(title) for title in titles or ("first",)]
        self.run = project.start("run", "--json")
        self.stage.enter()

    def end(self, code: int = 0) -> list[dict[str, object]]:
        return [json.loads(line) for line in ended(self.run, code).splitlines()]


def test_a_task_that_is_deleted_while_it_runs(project: Project) -> None:
    show = Show(project, "first", "second")
    first, second = show.tasks
    project.ralph("task", "delete", first, "--yes")
    wait_for(lambda: f"refs/ralph/{first}/1" in refs(project), "its work is kept aside")
    show.stage.go()
    events = show.end()
    assert events[-1]["outcome"] == "complete"
    assert project.status(second) == "done"
    assert project.git("show", f"refs/ralph/{first}/1:half.txt") == "half"
    assert project.commits()[0] == "second"
    gone = project.try_ralph("task", "show", first)
    assert gone.returncode == 66
    assert gone.stderr.startswith(f"ralph: there is no task {first}\n")


def test_the_only_task_is_deleted_while_it_runs(project: Project) -> None:
    show = Show(project)
    project.ralph("task", "delete", show.tasks[0], "--yes")
    events = show.end(3)
    assert events[-1]["outcome"] == "no-plan"
    assert not (project.path / "half.txt").exists()


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [(["done"], "done", 0), (["fail", "-r", "a person knows better"], "failed", 5)],
)
def test_a_task_that_a_person_settles_while_it_runs(
    project: Project, words: list[str], status: str, code: int
) -> None:
    show = Show(project)
    (task,) = show.tasks
    project.ralph("task", words[0], task, *words[1:])
    show.end(code)
    shown = project.task(task)
    assert (shown["status"], shown["claimed_by"]) == (status, None)
    assert refs(project) == [f"refs/ralph/{task}/1"], "half-done work is kept, not mixed in"
    assert project.git("status", "--porcelain") == ""
    assert lines(show.sessions) == [task]


def test_a_task_that_is_reset_while_it_runs_begins_anew(project: Project) -> None:
    show = Show(project)
    (task,) = show.tasks
    project.ralph("task", "reset", task)
    wait_for(lambda: len(lines(show.sessions)) == 2, "a second session began")
    show.stage.go()
    show.end()
    shown = project.task(task)
    assert (shown["status"], shown["attempt"], shown["retry_count"]) == ("done", 2, 0)


def test_a_task_that_is_blocked_while_it_runs_is_left(project: Project) -> None:
    show = Show(project, "first", "second")
    first, second = show.tasks
    project.ralph("task", "block", first, "-r", "wait for the design")
    wait_for(lambda: len(lines(show.sessions)) == 2, "the next session began")
    show.stage.go()
    show.end(2)
    assert (project.status(first), project.status(second)) == ("blocked", "done")
    assert f"refs/ralph/{first}/1" in refs(project)


def test_tasks_that_are_added_while_it_runs_are_done_too(project: Project) -> None:
    show = Show(project)
    (first,) = show.tasks
    second = project.add("second", "--blocked-by", first)
    third = project.add("third", "--blocked-by", second)
    show.stage.go()
    show.end()
    assert [project.status(task) for task in (first, second, third)] == ["done"] * 3
    assert lines(show.sessions) == [first, second, third]


def test_a_running_task_that_gets_children_is_not_done_before_them(project: Project) -> None:
    show = Show(project)
    (parent,) = show.tasks
    child = project.add("child", "--parent", parent)
    show.stage.go()
    show.end()
    assert (project.status(parent), project.status(child)) == ("done", "done")
    assert child in lines(show.sessions)


def test_a_running_task_may_be_renamed(project: Project) -> None:
    show = Show(project)
    (task,) = show.tasks
    project.ralph("task", "update", task, "--title", "a better name")
    show.stage.go()
    show.end()
    assert project.task(task)["title"] == "a better name"
    assert project.status(task) == "done"


def test_a_running_task_that_gets_a_blocker_may_still_finish(project: Project) -> None:
    show = Show(project)
    (task,) = show.tasks
    blocker = project.add("blocker")
    project.ralph("task", "deps", "add", blocker, task)
    show.stage.go()
    show.end()
    assert (project.status(task), project.status(blocker)) == ("done", "done")


def test_settings_that_change_while_it_runs_wait_for_the_next_run(project: Project) -> None:
    """The configuration is frozen when a run starts: an agent cannot edit its judge."""
    then = (
        'printf \'[agent]\\ncommand = "false"\\n[gates]\\nx = "false"\\n\' > .ralph.toml;'
        f" echo x >> work.txt; {CLAIM}"
    )
    show = Show(project, "first", "second", then=then)
    show.stage.go()
    show.end()
    assert [project.status(task) for task in show.tasks] == ["done", "done"]


def test_work_of_a_person_on_the_branch_meanwhile_is_not_undone(project: Project) -> None:
    """Committed while the session ran; and the session failed."""
    show = Show(project, then='echo "<task-failed>$RALPH_TASK_ID</task-failed>"')
    project.write("mine.txt", "by hand\n")
    project.git("add", "mine.txt")
    project.git("commit", "-q", "-m", "by hand")
    show.stage.go()
    show.end(5)
    kept = project.git("log", "--all", "--format=%s")
    assert "by hand" in kept.splitlines(), "whatever the branch shows, nothing is lost"
