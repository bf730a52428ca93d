"""Completion scripts are what their shells can read."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ralph.cli.commands import groups, listed
from tests.cli.conftest import Cli


@pytest.mark.parametrize(
    ("shell", "check"),
    [("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])],
)
def test_the_script_parses(shell: str, check: list[str], bare: Cli, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(bare("completion", shell).out)
    if shutil.which(check[0]) is None:
        pytest.skip(f"there is no {shell} here")
    done = subprocess.run([*check, str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_command_is_offered_but_those_for_programs(bare: Cli) -> None:
    for group in ("", *groups()):
        words = {
            line.partition("\t")[0]
            for line in bare("complete", "--", *group.split(), "").out.splitlines()
        }
        names = {
            name.rpartition(" ")[2]
            for name in (*listed(), *groups())
            if name.rpartition(" ")[0] == group
        }
        assert words == names
        assert not words & {"mcp", "hook", "files", "complete"}


PROGRAMS = {
    "bash": """
        source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _ralph; printf '%s\\n' "${COMPREPLY[@]}"
    """,
    "zsh": """
        compdef() { :; }; _files() { :; }; _describe() { print -l -- ${(M)${(P@)2}:#$PREFIX*}; }
        source "$1"; shift; words=("$@"); CURRENT=$#; PREFIX=${@[-1]}; _ralph
    """,
    "fish": 'source $argv[1]; complete -C (string join " " -- $argv[2..])',
}


def complete(cli: Cli, tmp_path: Path, *words: str, shell: str = "bash") -> list[str]:
    """What a shell would offer after these words, the last of them unfinished."""
    script = tmp_path / f"completion.{shell}"
    script.write_text(cli("completion", shell).out)
    program = [shell, "-c", PROGRAMS[shell], *(["-"] if shell != "fish" else [])]
    done = subprocess.run(
        [*program, str(script), "ralph", *words],
        env={"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(tmp_path)},
        cwd=cli.path,
        capture_output=True,
        text=True,
        check=True,
    )
    return [re.split("[\t:]", line)[0] for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_offers_commands_options_values_and_names(
    shell: str, ralph: Cli, tmp_path: Path
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    task = ralph.add("one")
    for words, expected in {
        ("task", "de"): ["delete", "deps"],
        ("task", "add", "--pri"): ["--priority"],
        ("task", "list", "--status", "d"): ["done"],
        ("run", "t-"): [task],
    }.items():
        assert complete(ralph, tmp_path, *words, shell=shell) == expected


def test_what_may_follow_is_offered(ralph: Cli) -> None:
    task = ralph.add("one", "--feature", "login")

    def offered(*words: str) -> list[str]:
        lines = ralph("complete", "--", *words).out.splitlines()
        return [line.partition("\t")[0] for line in lines]

    assert offered("ta") == ["task"]
    assert "task" in offered("")
    assert offered("task", "de") == ["delete", "deps"]
    assert offered("task", "deps", "") == ["add", "rm", "list"]
    assert offered("task", "add", "--pri") == ["--priority"]
    assert offered("task", "show", "t-") == [task]
    assert offered("task", "add", "x", "--parent", "") == [task]
    assert offered("feature", "plan", "") == ["login"]
    assert offered("task", "add", "x", "--feature", "lo") == ["login"]
    assert offered("run", "") == ["login", task]
    assert offered("undo", "") == [task]
    assert offered("task", "list", "--status", "d") == ["done"]
    assert offered("completion", "f") == ["fish"]
    assert offered("run", "--agent", "co") == ["codex", "command", "copilot"]
    assert offered("agents", "probe", "cl") == ["claude", "claude-sdk"]
    assert offered("story", "") == ["write", "plan", "build", "validate"]
    assert offered("task", "add", "-d", "x") == []


def test_outside_a_project_no_names_are_offered_and_nothing_fails(bare: Cli) -> None:
    assert bare("complete", "--", "task", "show", "") == (0, "", "")
