"""Each of the real agents works in the sandbox: without questions, with real commits."""

import os
from pathlib import Path

import pytest

from ralph.testing.model import Shell, Write, do, say
from tests.e2e.agents.conftest import Real
from tests.e2e.agents.real import CLAIM, work
from tests.e2e.agents.setups import AGENTS, ONE_FOR_ALL
from tests.e2e.ralph_process import RALPH


@pytest.fixture
def in_the_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RALPH_SANDBOX_MODE")


@pytest.mark.usefixtures("in_the_sandbox")
@pytest.mark.parametrize("agent", AGENTS)
def test_it_finishes_a_graph(real: Real, agent: str) -> None:
    project = real(agent, gates={"test": "! touch ~/by-gate"})
    one = project.scripted("one")
    two = project.scripted("two", blocked_by=one)
    events = project.events()
    assert events[-1]["outcome"] == "complete", events
    assert events[0]["sandbox"] == "bubblewrap"
    assert [project.status(task) for task in (one, two)] == ["done"] * 2
    subjects = [line for line in project.commits() if line.startswith("Add ")]
    assert subjects == ["Add two", "Add one"]
    assert project.git("status", "--porcelain") == ""
    sessions = [one for one in events if one["event"] == "session_ended"]
    assert [one["denied"] for one in sessions] == [[], []]


@pytest.mark.usefixtures("in_the_sandbox")
@pytest.mark.parametrize("agent", ONE_FOR_ALL)
def test_what_it_must_not_do_fails_and_it_goes_on(real: Real, agent: str) -> None:
    project = real(agent)
    home = Path(os.environ["HOME"])
    tries = (
        f"echo x > {home}/planted; mkdir -p {home}/.claude/hooks; cat {home}/.netrc;"
        " echo x >> .ralph.toml; echo x > .git/hooks/pre-commit; true"
    )
    (home / ".netrc").write_text("a-secret-of-mine\n")
    before = (project.path / ".ralph.toml").read_text()
    task = project.scripted("x", do(Shell(command=tries)), *work("x"))
    assert project.events()[-1]["outcome"] == "complete"
    assert project.status(task) == "done"
    assert not (home / "planted").exists()
    assert not (home / ".claude/hooks").exists()
    assert (project.path / ".ralph.toml").read_text() == before
    assert not (project.path / ".git/hooks/pre-commit").exists()
    text = "".join(request.user for request in project.server.asked_in("x"))
    assert "a-secret-of-mine" not in text


@pytest.mark.usefixtures("in_the_sandbox")
@pytest.mark.parametrize("agent", ONE_FOR_ALL)
def test_ralph_can_be_called_from_a_session(real: Real, agent: str) -> None:
    project = real(agent)
    command = f'"{RALPH}" task add "Found on the way" && echo y > y.txt'
    project.scripted("x", do(Shell(command=command)), say(CLAIM))
    events = project.events("--limit", "1", code=4)
    added = [one["task"]["title"] for one in events if one["event"] == "task_added"]
    assert added == ["Found on the way"]


@pytest.mark.usefixtures("in_the_sandbox")
@pytest.mark.parametrize("agent", ONE_FOR_ALL)
def test_it_writes_documents_with_its_own_tools(real: Real, agent: str) -> None:
    """Most of them put another file in the place of the one that they write."""
    project = real(agent)
    texts = {".ralph/IMPLEMENTATION_PLAN.md": "# Plan\n", ".ralph/features/a/spec.md": "# Spec\n"}
    # Not every tool that writes a file makes its folder.
    (project.path / ".ralph/features/a").mkdir(parents=True, exist_ok=True)
    deeds = [do(Write(path=f"{{cwd}}/{name}", text=text)) for name, text in texts.items()]
    task = project.scripted("x", *deeds, *work("x"))
    assert project.events()[-1]["outcome"] == "complete"
    assert project.status(task) == "done"
    for name, text in texts.items():
        assert (project.path / name).read_text() == text
    assert project.git("status", "--porcelain") == ""
