"""A session leaves a secret among its work: the work is committed, the secret is not."""

from tests.e2e.conftest import Project
from tests.e2e.test_build import AGENT, stories


def test_a_likely_secret_stays_uncommitted_and_is_named(project: Project) -> None:
    project.agent(
        "echo TOKEN=1 > .env; echo $RALPH_TASK_ID >> work.txt; echo TOKEN=2 >> .env;"
        ' echo "<task-done>$RALPH_TASK_ID</task-done>"'
    )
    first, second = project.add("first"), project.add("second", "--priority", "1")
    events = project.events()
    assert events[-1]["outcome"] == "complete"
    warned = [event["message"] for event in events if event["event"] == "warned"]
    assert [line for line in warned if line.startswith(".env ")] == [
        ".env is not committed: its name is one for secrets; ignore it, or commit it yourself"
    ]
    assert project.git("status", "--porcelain") == "?? .env"
    assert project.git("show", "HEAD:work.txt").split() == [first, second]
    assert (project.path / ".env").read_text() == "TOKEN=1\nTOKEN=2\n"


def test_what_an_agent_commits_itself_is_said(project: Project) -> None:
    project.agent(
        "echo TOKEN=1 > .env; git add -A; git commit -qm mine;"
        ' echo "<task-done>$RALPH_TASK_ID</task-done>"'
    )
    project.add("first")
    warned = [one["message"] for one in project.events() if one["event"] == "warned"]
    assert [line for line in warned if ".env" in line] == [
        "the session has committed .env, but its name is one for secrets;"
        " take it out of the history before you push"
    ]


def test_a_secret_that_is_not_committed_is_among_the_uncommitted_changes(project: Project) -> None:
    stories(project, agent=f"echo TOKEN=1 > .env; {AGENT}")
    project.ralph("story", "build", "1", code=4)
    summary = next((project.path / ".ralph/runs").glob("*-iter-1.md")).read_text()
    assert summary.partition("### Uncommitted Changes\n")[2].strip() == "- .env"
