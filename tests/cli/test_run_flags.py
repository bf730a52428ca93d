"""Each flag of `ralph run` sets its setting, above the environment and the file."""

from argparse import ArgumentParser
from pathlib import Path

import pytest

from ralph.cli.options import settings_of
from ralph.cli.run import again, run
from ralph.config.load import load_config
from ralph.config.project import Project

FILE = """
[agent]
name = "claude"
[models]
strategy = "escalate"
[execution]
limit = 7
max_retries = 7
verify = true
learn = true
[git]
commit = "ralph"
[sandbox]
mode = "required"
allow = ["ssh"]
"""


def loaded(tmp_path: Path, *argv: str, **environ: str) -> Project:
    (tmp_path / ".ralph.toml").write_text(FILE)
    parser = ArgumentParser()
    run.arguments(parser)
    return load_config(str(tmp_path), environ, settings_of(parser.parse_args(argv)))


def setting(found: Project, name: str) -> object:
    section, _, key = name.partition(".")
    return getattr(getattr(found.config, section), key)


FLAGS = [
    (["--once"], "execution.limit", 1),
    (["--limit", "3"], "execution.limit", 3),
    (["--limit", "0"], "execution.limit", 0),
    (["--agent", "codex"], "agent.name", "codex"),
    (["--model", "opus"], "models.model", "opus"),
    (["--model", "opus"], "models.strategy", "fixed"),
    (["--model-strategy", "plan-then-execute"], "models.strategy", "plan-then-execute"),
    (["--max-retries", "0"], "execution.max_retries", 0),
    (["--no-verify"], "execution.verify", False),
    (["--no-learn"], "execution.learn", False),
    (["--branch", "feature/one"], "git.branch", "feature/one"),
    (["--no-commit"], "git.commit", "none"),
    (["--no-sandbox"], "sandbox.mode", "off"),
    (["--allow", "aws", "--allow", "docker"], "sandbox.allow", ("ssh", "aws", "docker")),
    (["--allow-write", "/usr/lib"], "sandbox.write", ("/usr/lib",)),
    (["--allow-read", "/usr"], "sandbox.read", ("/usr",)),
]


@pytest.mark.parametrize(("argv", "name", "value"), FLAGS)
def test_a_flag_wins_over_the_file(
    tmp_path: Path, argv: list[str], name: str, value: object
) -> None:
    before = loaded(tmp_path)
    found = loaded(tmp_path, *argv)
    assert setting(before, name) != value
    assert setting(found, name) == value


VARIABLES = {
    "RALPH_LIMIT": ("5", ["--limit", "3"], "execution.limit", 5, 3),
    "RALPH_AGENT": ("droid", ["--agent", "codex"], "agent.name", "droid", "codex"),
    "RALPH_MODEL": ("haiku", ["--model", "opus"], "models.model", "haiku", "opus"),
    "RALPH_MODEL_STRATEGY": (
        "cost-optimized",
        ["--model-strategy", "plan-then-execute"],
        "models.strategy",
        "cost-optimized",
        "plan-then-execute",
    ),
    "RALPH_EXECUTION_VERIFY": ("true", ["--no-verify"], "execution.verify", True, False),
    "RALPH_REVIEW_ENABLED": ("true", ["--no-review"], "review.enabled", True, False),
    "RALPH_EXECUTION_LEARN": ("true", ["--no-learn"], "execution.learn", True, False),
}


@pytest.mark.parametrize("variable", VARIABLES)
def test_a_variable_wins_over_the_file_and_a_flag_over_the_variable(
    tmp_path: Path, variable: str
) -> None:
    text, argv, name, by_variable, by_flag = VARIABLES[variable]
    environ = {variable: text}
    assert setting(loaded(tmp_path, **environ), name) == by_variable
    assert loaded(tmp_path, **environ).source(name).kind == "environment"
    assert setting(loaded(tmp_path, *argv, **environ), name) == by_flag


def test_without_flags_the_file_holds(tmp_path: Path) -> None:
    found = loaded(tmp_path)
    assert setting(found, "execution.limit") == 7
    assert setting(found, "models.strategy") == "escalate"
    assert setting(found, "git.commit") == "ralph"


@pytest.mark.parametrize(
    ("argv", "command"),
    [
        ([], "ralph run"),
        (["log in", "--workers", "4", "--once"], "ralph run 'log in' --workers 4"),
    ],
)
def test_the_command_that_goes_on_names_what_it_works_on(argv: list[str], command: str) -> None:
    parser = ArgumentParser()
    run.arguments(parser)
    assert again(parser.parse_args(argv)) == command
