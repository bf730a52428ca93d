"""A person at work in the checkout between two runs, while a task's work lies there unfinished."""

import signal

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.crash_points import trailers
from tests.e2e.fault_helpers import CLAIM, Stage, ended, lines, refs, warnings

HALF = "echo half > half.txt; echo not done yet"
GIVES_UP = 'echo "<task-failed>$RALPH_TASK_ID</task-failed>"'


@pytest.fixture
def half(project: Project) -> Project:
    """A project in which a session has left something and claimed nothing."""
    project.agent(HALF)
    project.add("Write it", "--max-retries", "0")
    project.ralph("run", "--once", code=4)
    assert (project.path / "half.txt").exists()
    return project


def test_their_files_outlive_the_failure_of_the_task(half: Project) -> None:
    half.write("notes.txt", "a person's")
    half.write("README.md", "changed by a person")
    half.ralph("run", code=5, AGENT_CMD=GIVES_UP)
    assert not (half.path / "half.txt").exists()
    assert (half.path / "notes.txt").read_text() == "a person's"
    assert half.git("status", "--porcelain").splitlines() == ["M README.md", "?? notes.txt"]
    (kept,) = refs(half)
    assert half.git("show", f"{kept}:half.txt") == "half"


def test_their_commit_outlives_the_failure_of_the_task(half: Project) -> None:
    half.write("fix.txt", "a person's")
    half.git("add", "fix.txt")
    half.git("commit", "-q", "-m", "A fix")
    half.ralph("run", code=5, AGENT_CMD=GIVES_UP)
    assert half.commits()[0] == "A fix"
    assert half.git("status", "--porcelain") == ""
    assert (half.path / "fix.txt").read_text() == "a person's"


def test_their_files_are_not_committed_by_any_later_run(half: Project) -> None:
    half.write("notes.txt", "a person's")
    half.ralph("run", "--once", code=4, AGENT_CMD="echo more > more.txt; echo still not")
    half.ralph("run", AGENT_CMD=DONE)
    assert half.git("show", "--name-only", "--format=", "HEAD").splitlines() == [
        "half.txt",
        "more.txt",
        "work.txt",
    ]
    assert half.git("status", "--porcelain") == "?? notes.txt"


def test_when_git_has_forgotten_what_it_began_with_the_work_is_theirs(project: Project) -> None:
    project.agent(HALF)
    project.write("notes.txt", "a person's")
    task = project.add("Write it")
    project.ralph("run", "--once", code=4)
    project.git("gc", "-q", "--prune=now")
    events = project.events(AGENT_CMD=DONE)
    assert "is taken for yours" in warnings(events)
    assert project.status(task) == "done"
    assert project.git("show", "--name-only", "--format=", "HEAD") == "work.txt"
    assert project.git("status", "--porcelain").splitlines() == ["?? half.txt", "?? notes.txt"]


@pytest.fixture
def pending(project: Project) -> Project:
    """A project with a session that has ended and was never judged."""
    stage = Stage(project)
    sessions = project.path.parent / "sessions"
    project.agent(
        f"echo x >> '{sessions}'; echo $RALPH_ATTEMPT > work.txt; {CLAIM}",
        gates=f'test = "[ ! -e work.txt ] || {{ {stage.agent("test -e README.md")}; }}"',
    )
    project.add("Write it")
    run = project.start("run")
    stage.enter()
    run.send_signal(signal.SIGINT)
    ended(run, 130)
    stage.go()
    return project


def sessions(project: Project) -> int:
    return len(lines(project.path.parent / "sessions"))


def test_a_session_is_judged_although_they_have_committed_meanwhile(pending: Project) -> None:
    pending.write("fix.txt", "a person's")
    pending.git("add", "fix.txt")
    pending.git("commit", "-q", "-m", "A fix")
    pending.write("notes.txt", "a person's")
    pending.ralph("run")
    assert sessions(pending) == 1
    assert pending.commits()[:2] == ["Write it", "A fix"]
    assert pending.git("show", "--name-only", "--format=", "HEAD") == "work.txt"
    assert pending.git("status", "--porcelain") == "?? notes.txt"


def test_what_they_committed_of_it_themselves_is_not_committed_again(pending: Project) -> None:
    pending.git("add", "work.txt")
    pending.git("commit", "-q", "-m", "I like it")
    events = pending.events()
    assert sessions(pending) == 1
    assert pending.commits()[0] == "I like it"
    assert events[-1]["outcome"] == "complete"


@pytest.mark.parametrize("how", ["stash -u", "clean -qf", "add work.txt"])
def test_a_session_whose_work_they_threw_away_is_repeated(pending: Project, how: str) -> None:
    pending.git(*how.split())
    pending.ralph("run")
    kept = how.startswith("add")
    assert sessions(pending) == (1 if kept else 2)
    assert pending.git("show", "HEAD:work.txt") == ("1" if kept else "2")
    assert len(trailers(pending)) == 1
    assert pending.git("status", "--porcelain") == ""


def test_a_session_whose_task_they_blocked_is_repeated_later(pending: Project) -> None:
    (task,) = [word for word in pending.ralph("task", "list").split() if word.startswith("t-")]
    pending.ralph("task", "block", task)
    pending.ralph("run", code=2)
    assert not (pending.path / "work.txt").exists()
    pending.ralph("task", "unblock", task)
    pending.ralph("run")
    assert sessions(pending) == 2
    assert pending.git("show", "HEAD:work.txt") == "2"
    assert pending.git("status", "--porcelain") == ""
