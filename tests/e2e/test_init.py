"""`ralph init` finds out what a project can run with, and tries it."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import DONE, Project, end_in_order
from tests.e2e.logins import log_in
from tests.e2e.terminal import INTERRUPT, Terminal

MAKEFILE = "test:\n\t@test -e good.txt\nlint:\n\t@echo 'bad.py:1:1: E501 too long'; exit 1\n"
AGENT = "#!/bin/sh\necho 9.9.9\n"


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """A repository without Ralph, on a machine without agents."""
    home, programs = tmp_path / "home", tmp_path / "bin"
    home.mkdir()
    programs.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    made = Project(tmp_path / "a project")
    made.write("Makefile", MAKEFILE)
    made.write("good.txt", "")
    yield made
    for process in made.started:
        end_in_order(process)


def install(project: Project, name: str) -> None:
    program = project.path.parent / "bin" / name
    program.write_text(AGENT)
    program.chmod(0o755)


def settings(project: Project) -> dict[str, Any]:
    return tomllib.loads((project.path / ".ralph.toml").read_text())


def test_gates_that_pass_are_set_and_the_others_are_comments(fresh: Project) -> None:
    said = fresh.ralph("init")
    assert "gate     test: make test  passes (" in said
    assert "gate     lint: make lint  fails (" in said
    assert "bad.py:1:1: E501 too long" in said
    assert settings(fresh) == {"gates": {"test": "make test"}}
    written = (fresh.path / ".ralph.toml").read_text()
    assert '#lint = "make lint"  # fails now: bad.py:1:1: E501 too long' in written
    assert len(written.splitlines()) < 16
    task = fresh.add("anything")
    fresh.ralph("run", "--max-retries", "0", AGENT_CMD=f"rm good.txt; {DONE}", code=5)
    assert fresh.status(task) == "failed", "the gate that was found is asked"


def test_a_part_of_a_project_becomes_one_with_gates_of_its_own(fresh: Project) -> None:
    fresh.ralph("init")
    fresh.write("api/Makefile", "test:\n\t@test -e served.txt\n")
    fresh.write("api/served.txt", "")
    said = fresh.ralph("-C", "api", "init")
    assert "gate     test: make test  passes (" in said
    assert "lint" not in said
    assert (fresh.path / "api/.ralph.toml").read_text().splitlines()[-1] == 'test = "make test"'


def test_without_gates_one_line_says_what_that_means(fresh: Project) -> None:
    (fresh.path / "Makefile").unlink()
    assert "gates    none found: only a second session checks the work" in fresh.ralph("init")
    assert settings(fresh) == {}


def test_the_tools_of_the_projects_environment_are_used(fresh: Project) -> None:
    fresh.write("pyproject.toml", '[project.optional-dependencies]\ntest = ["pytest"]\n')
    (fresh.path / "Makefile").unlink()
    fresh.write(".venv/bin/pytest", "#!/bin/sh\ntest -e good.txt\n").chmod(0o755)
    fresh.ralph("init", "--yes")
    assert settings(fresh) == {
        "gates": {"test": ".venv/bin/pytest -q"},
        "workspace": {
            "setup": ["python3 -m venv .venv", ".venv/bin/pip install -q -e '.[test]' pytest"]
        },
    }


def test_a_gate_whose_program_is_missing_is_not_suggested(fresh: Project) -> None:
    fresh.write("Makefile", "test:\n\tno-such-program\n")
    said = fresh.ralph("init")
    assert "gates    left out, since no-such-program is not installed: make test\n" in said
    assert settings(fresh) == {}


def test_gates_that_cannot_be_tried_for_want_of_a_sandbox_are_not_lost(fresh: Project) -> None:
    said = fresh.ralph("init", RALPH_SANDBOX_MODE="required", RALPH_SANDBOX_USE="sandbox-exec")
    assert "gates    not tried: sessions need a sandbox" in said
    assert "gate     test: make test  is set, and the next run tries it" in said
    assert settings(fresh)["gates"] == {"test": "make test", "lint": "make lint"}


def test_at_a_terminal_it_asks_which_agent_and_whether_to_keep_what_fails(fresh: Project) -> None:
    install(fresh, "claude")
    install(fresh, "codex")
    log_in()
    log_in(".codex/auth.json", '{"OPENAI_API_KEY": "x"}')
    terminal = Terminal(fresh, "init")
    terminal.until(lambda: b"Which agent does the work?" in terminal.seen, "it asks")
    terminal.type(b"claude\n")
    terminal.until(lambda: b"Keep what fails now (lint)" in terminal.seen, "it asks")
    terminal.type(b"y\n")
    assert terminal.ended() == 0
    gates = {"test": "make test", "lint": "make lint"}
    assert settings(fresh) == {"agent": {"name": "claude"}, "gates": gates}


def test_ctrl_c_in_the_middle_leaves_nothing_that_a_second_try_would_not_replace(
    fresh: Project,
) -> None:
    fresh.write("Makefile", "test:\n\t@sleep 1000; test -e good.txt\n")
    terminal = Terminal(fresh, "init")
    terminal.until(lambda: b"trying test" in terminal.seen, "it tries the gate")
    terminal.type(INTERRUPT)
    assert terminal.ended() == 130
    assert b"Traceback" not in terminal.seen
    assert not (fresh.path / ".ralph.toml").exists()
    fresh.write("Makefile", MAKEFILE)
    fresh.ralph("init")
    assert settings(fresh) == {"gates": {"test": "make test"}}


def test_an_agent_that_is_logged_out_is_chosen_last_and_never_started(fresh: Project) -> None:
    install(fresh, "codex")
    assert "agent    codex: not logged in (" in fresh.ralph("init")
    fresh.add("anything")
    done = fresh.try_ralph("run")
    assert done.returncode == 6
    assert done.stderr.startswith("ralph: codex is not logged in\nhint: ")
    install(fresh, "claude")
    log_in()
    assert "claude" in fresh.ralph("run", "--dry-run")


@pytest.mark.parametrize("role", ["verify", "review"])
def test_a_run_does_not_start_with_a_checker_that_is_logged_out(fresh: Project, role: str) -> None:
    install(fresh, "codex")
    fresh.ralph("init", AGENT_CMD=DONE)
    fresh.write(".ralph.toml", f'[{role}]\nagent = "codex"\n')
    task = fresh.add("anything")
    on = {"RALPH_EXECUTION_VERIFY": "true", "RALPH_REVIEW_ENABLED": "true"}
    done = fresh.try_ralph("run", AGENT_CMD=DONE, **on)
    assert done.returncode == 6
    assert done.stderr.startswith("ralph: codex is not logged in\nhint: ")
    assert fresh.task(task)["attempt"] == 0
