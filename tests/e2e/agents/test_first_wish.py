"""A newcomer's path: from the installation to the first own wish done, with a real agent."""

import os
import re
from pathlib import Path

import pytest

from ralph.testing.model import Shell, Write, do, say
from tests.e2e import test_install as installation
from tests.e2e.agents.conftest import Real
from tests.e2e.agents.real import CLAIM, either
from tests.e2e.agents.test_verification import PASS
from tests.e2e.terminal import Terminal
from tests.e2e.test_install import wheel

__all__ = ["wheel"]
WISH = "[[scenario:dark]] add a dark mode"


def test_two_commands_and_one_question_lead_to_the_first_own_commit(
    real: Real, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = real("claude")
    project.git("reset", "-q", "--hard", "HEAD~2")
    project.git("clean", "-qfdx")
    project.write("Makefile", "test:\n\t@test -e README.md\n")
    project.git("add", "-A")
    project.git("commit", "-qm", "a Makefile")
    for name in ("RALPH_SANDBOX_MODE", "RALPH_EXECUTION_VERIFY", "RALPH_REVIEW_ENABLED"):
        monkeypatch.delenv(name)
    # In the place of a login: how the agent finds the scripted model.
    monkeypatch.setenv("RALPH_AGENT_PASS_ENV", ",".join(project.setup.pass_env))
    project.server.script(
        "dark",
        either(do(Write(path="{cwd}/dark.txt", text="dark\n")), say(PASS)),
        do(Shell(command="git add dark.txt && git commit -q -m 'Add dark'")),
        say(CLAIM),
    )
    # 1: uv tool install ralphloop
    places = installation._of_uv(tmp_path)
    argv = (installation.BIN / "uv", "tool", "install", *installation.NO_INDEX, wheel)
    installation._run(*argv, cwd=tmp_path, **places)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}")
    # 2: ralph "add a dark mode"
    terminal = Terminal(project, WISH, program=f"{tmp_path}/bin/ralph")
    terminal.until(lambda: b"build it? [Y/n]" in terminal.seen, "it asks once", 180)
    assert "agent claude, paid by" in terminal.words
    assert "gate test: make test passes" in terminal.words
    terminal.type(b"\n")
    assert terminal.ended() == 0
    assert re.search(rb"complete: task t-\w+ is done", terminal.seen)
    assert project.git("show", "HEAD:dark.txt") == "dark"
    assert terminal.is_sane()
