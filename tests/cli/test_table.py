"""Every command of the table keeps the form that help and completion rely on."""

import shlex

import pytest

from ralph.cli.commands import COMMANDS, GROUPS, HIDDEN, listed, load, summary
from ralph.cli.dispatch import _find
from ralph.cli.parser import build, help_text
from tests.cli.conftest import Cli


@pytest.mark.parametrize("name", COMMANDS)
def test_it_has_a_docstring_examples_and_the_two_functions(name: str) -> None:
    command = load(name)
    first = (command.__doc__ or "").splitlines()[0]
    assert first
    assert len(first) <= 100
    assert first.endswith(".")
    assert command.EXAMPLES.strip()
    assert callable(command.arguments)
    assert callable(command.run)


@pytest.mark.parametrize("name", COMMANDS)
def test_its_help_shows_the_summary_and_the_examples(name: str, bare: Cli) -> None:
    command = load(name)
    shown = bare(*name.split(), "--help").out
    assert shown == help_text(name, command)
    assert f"usage: ralph {name}" in shown
    assert summary(name).lower() in shown.lower()
    for line in command.EXAMPLES.strip().splitlines():
        assert line in shown
    assert bare("help", *name.split()).out == shown


@pytest.mark.parametrize("name", COMMANDS)
def test_its_examples_are_commands_that_exist(name: str) -> None:
    uses = 0
    for line in load(name).EXAMPLES.strip().splitlines():
        # What follows after two spaces explains the example.
        for part in line.partition("  ")[0].split("|"):
            for words in _ralph_commands(part):
                before, found, rest = _find(words)
                build(found, load(found)).read(before + rest)
                uses += found == name
    assert uses, "no example shows the command itself"


def _ralph_commands(part: str) -> list[list[str]]:
    if "$(" in part:
        part = part.partition("$(")[2].partition(")")[0]
    words = shlex.split(part.partition(">")[0])
    return [words[1:]] if words and words[0] == "ralph" and words[1:] else []


def test_every_group_has_a_line_and_commands() -> None:
    prefixes = {" ".join(name.split()[:n]) for name in COMMANDS for n in (1, 2)}
    for group in GROUPS:
        assert group in prefixes
        assert listed(group)
    nested = {" ".join(name.split()[:-1]) for name in COMMANDS if " " in name}
    assert nested == set(GROUPS)


def test_help_all_lists_every_command_that_people_see(bare: Cli) -> None:
    shown = bare("help", "--all").out
    for name in COMMANDS:
        assert (f"ralph {name} " in shown) == (name not in HIDDEN)


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_lists_its_commands(group: str, bare: Cli) -> None:
    shown = bare(*group.split()).out
    assert all(f"ralph {name}" in shown for name in listed(group))
    assert bare(*group.split(), "--help").out == shown
    assert bare("help", *group.split()).out == shown


def test_the_first_help_names_only_commands_that_exist(bare: Cli) -> None:
    shown = bare("--help").out
    entries = [line[2:] for line in shown.splitlines() if line.startswith("  ") and line[2] != " "]
    for entry in entries:
        if not entry.startswith(("-", "help", "ralph")):
            for name in entry.partition("  ")[0].split(", "):
                assert name in COMMANDS, name
