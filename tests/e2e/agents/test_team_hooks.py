"""A person's own claude, with Ralph's hooks in the project's settings: the gates decide."""

import os
import subprocess

from ralph.testing.model import Asked, Call, Shell, Turn, do, say
from tests.e2e.agents.conftest import Real

DONE = Call(name="TaskUpdate", input={"taskId": "1", "status": "completed"})

ALLOWED = ("--allowedTools", "Bash", "TaskCreate", "TaskUpdate")
QUIET = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}


def test_a_task_of_claudes_own_list_is_completed_when_the_gates_pass(real: Real) -> None:
    project = real("claude")
    task = project.add("Parser")
    project.write(".ralph/config.sh", 'GATE_TEST="test -e parser.txt"\n')
    project.ralph("team", "install", "--yes")
    heard: list[str] = []

    def last(asked: Asked) -> Turn:
        heard.extend(asked.results)
        return say("That is all.")

    project.server.script(
        "list",
        do(Call(name="TaskCreate", input={"subject": "Parser", "description": "write it"})),
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
