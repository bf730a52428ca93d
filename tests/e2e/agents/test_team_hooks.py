"""A person's own claude, with Ralph's hooks in the project's settings: the gates decide."""

import json
import os
import shutil
import subprocess

import pytest

from ralph.testing.model import ModelRequestLog, ScriptedCall, Shell, Turn, do, say
from tests.e2e.agents.conftest import Real
from tests.e2e.agents.test_conversation import known_here
from tests.e2e.terminal import Terminal

DONE = ScriptedCall(name="TaskUpdate", input={"taskId": "1", "status": "completed"})

ALLOWED = ("--allowedTools", "Bash", "TaskCreate", "TaskUpdate")
QUIET = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}


def test_a_task_of_claudes_own_list_is_completed_when_the_gates_pass(real: Real) -> None:
    project = real("claude")
    task = project.add("Parser")
    project.write(".ralph/config.sh", 'GATE_TEST="test -e parser.txt"\n')
    project.ralph("team", "install", "--yes")
    heard: list[str] = []

    def last(asked: ModelRequestLog) -> Turn:
        heard.extend(asked.results)
        return say("That is all.")

    project.server.script(
        "list",
        do(ScriptedCall(name="TaskCreate", input={"subject": "Parser", "description": "write it"})),
        do(DONE),
        do(Shell(command="echo x > parser.txt")),
        do(DONE),
        last,
    )
    done = subprocess.run(
        ["claude", "-p", "[[scenario:list]]", "--model", project.setup.model, *ALLOWED],
        cwd=project.path,
        env={**os.environ, **QUIET, "CLAUDE_CODE_ENABLE_TASKS": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "gate test fails" in heard[1]
    assert "gate" not in heard[3]
    assert project.status(task) == "done"


def test_a_teammate_of_claudes_own_team_rests_when_nothing_is_left(
    real: Real, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = real("claude")
    known_here(project.path)
    task = project.add("Parser")
    project.write(".ralph/config.sh", 'GATE_TEST="test -e parser.txt"\n')
    project.ralph("team", "install", "--yes")
    for name, value in {**QUIET, "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "1"}.items():
        monkeypatch.setenv(name, value)

    def first(asked: ModelRequestLog) -> Turn:
        """It rests, until it is told that there is work left."""
        if f"`ralph task brief {task}`" not in asked.user:
            return say("I rest.")
        return do(
            ScriptedCall(name="TaskCreate", input={"subject": "Parser", "description": "write it"})
        )

    mate = {"name": "teammate-2", "description": "mate", "prompt": "[[scenario:mate]]"}
    project.server.script(
        "lead", do(ScriptedCall(name="Agent", input=mate)), say("Fine."), repeat=True
    )
    project.server.script(
        "mate", first, do(Shell(command="echo x > parser.txt")), do(DONE), say("It is done.")
    )
    terminal = Terminal(
        project,
        *("[[scenario:lead]]", "--model", project.setup.model, *ALLOWED, "Agent"),
        program=shutil.which("claude") or "",
    )
    terminal.until(lambda: len(project.server.asked_in("lead")) == 3, "the lead hears it rests")
    assert len(project.server.asked_in("mate")) == 5
    assert project.status(task) == "done"
    terminal.type(b"/exit")
    terminal.until(lambda: "/exit" in terminal.words, "it was typed")
    terminal.type(b"\r")
    terminal.ended()
    metrics = json.loads((project.path / ".ralph/metrics.json").read_text())
    assert metrics["per_teammate"] == {"teammate-2": {"completed": 1, "failed": 0}}
