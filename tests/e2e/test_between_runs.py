"""A person at work in the checkout between two runs, while a task's work lies there unfinished."""

import signal

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.dying import trailers
from tests.e2e.stage import CLAIM, Stage, ended, lines, refs, warnings

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
def unjudged(project: Project) -> Project:
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


def test_a_session_is_judged_although_they_have_committed_meanwhile(unjudged: Project) -> None:
    unjudged.write("fix.txt", "a person's")
    unjudged.git("add", "fix.txt")
    unjudged.git("commit", "-q", "-m", "A fix")
    unjudged.write("notes.txt", "a person's")
    unjudged.ralph("run")
    assert sessions(unjudged) == 1
    assert unjudged.commits()[:2] == ["Write it", "A fix"]
    assert unjudged.git("show", "--name-only", "--format=", "HEAD") == "work.txt"
    assert unjudged.git("status", "--porcelain") == "?? notes.txt"


def test_what_they_committed_of_it_themselves_is_not_committed_again(unjudged: Project) -> None:
    unjudged.git("add", "work.txt")
    unjudged.git("commit", "-q", "-m", "I like it")
    events = unjudged.events()
    assert sessions(unjudged) == 1
    assert unjudged.commits()[0] == "I like it"
    assert events[-1]["outcome"] == "complete"


@pytest.mark.parametrize("how", ["stash -u", "clean -qf", "add work.txt"])
def test_a_session_whose_work_they_threw_away_is_repeated(unjudged: Project, how: str) -> None:
    unjudged.git(*how.split())
    unjudged.ralph("run")
    kept = how.startswith("add")
    assert sessions(unjudged) == (1 if kept else 2)
    assert unjudged.git("show", "HEAD:work.txt") == ("1" if kept else "2")
    assert len(trailers(unjudged)) == 1
    assert unjudged.git("status", "--porcelain") == ""


def test_a_session_whose_task_they_blocked_is_repeated_later(unjudged: Project) -> None:
    (task,) = [word for word in unjudged.ralph("task", "list").split() if word.startswith("t-")]
    unjudged.ralph("task", "block", task)
    unjudged.ralph("run", code=2)
    assert not (unjudged.path / "work.txt").exists()
    unjudged.ralph("task", "unblock", task)
    unjudged.ralph("run")
    assert sessions(unjudged) == 2
    assert unjudged.git("show", "HEAD:work.txt") == "2"
    assert unjudged.git("status", "--porcelain") == ""
