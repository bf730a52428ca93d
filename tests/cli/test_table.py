"""Every command of the table keeps the form that help and completion rely on."""

import shlex

import pytest

from ralph.cli.commands import COMMANDS, GROUPS, HIDDEN, OLD_NAMES, listed, load, summary
from ralph.cli.dispatch import find
from ralph.cli.parser import build, examples_of, help_text
from tests.cli.conftest import Cli


@pytest.mark.parametrize("name", COMMANDS)
def test_it_has_a_summary_examples_and_a_function(name: str) -> None:
    command = load(name)
    first = command.text.splitlines()[0]
    assert first
    assert len(first) <= 100
    assert first.endswith(".")
    assert command.examples.strip()
    assert callable(command.run)


@pytest.mark.parametrize("name", COMMANDS)
def test_its_help_shows_the_summary_and_the_examples(name: str, bare: Cli) -> None:
    command = load(name)
    shown = bare(*name.split(), "--help").out
    assert shown == help_text(name, command)
    assert f"usage: ralph {name}" in shown
    assert summary(name).lower() in shown.lower()
    for line in examples_of(command):
        assert line in shown
    assert bare("help", *name.split()).out == shown


@pytest.mark.parametrize("name", COMMANDS)
def test_its_examples_are_commands_that_exist(name: str) -> None:
    uses = 0
    for line in examples_of(load(name)):
        # What follows after two spaces explains the example.
        for part in line.partition("  ")[0].split("|"):
            for words in _ralph_commands(part):
                before, found, rest = find(words)
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


def test_the_first_help_names_at_most_sixteen_commands_and_groups_that_exist(bare: Cli) -> None:
    shown = bare("--help").out.partition("\noptions of every")[0]
    entries = [line[2:] for line in shown.splitlines() if line.startswith("  ") and line[2] != " "]
    names = {name for one in entries for name in one.partition("  ")[0].split(", ")}
    names = {name.split()[0] for name in names}
    assert names <= {*COMMANDS, *GROUPS}
    assert len(names) <= 16


def test_no_old_name_is_a_name() -> None:
    assert not OLD_NAMES.keys() & {*COMMANDS, *GROUPS}
    assert all(find(new.split())[1] in COMMANDS for new in OLD_NAMES.values())
