"""The reference page says what the commands say."""

from pathlib import Path

import pytest

from ralph.cli.commands import listed, load
from ralph.cli.parser import build, examples_of

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "commands.md"


def section(name: str) -> str:
    _, found, rest = PAGE.read_text().partition(f"\n## ralph {name}\n")
    assert found, f"no section about {name}: python -m ralph.cli.reference > {PAGE.name}"
    return " ".join(rest.partition("\n## ralph ")[0].split())


@pytest.mark.parametrize("name", listed())
def test_every_option_and_example_is_on_the_page(name: str) -> None:
    # Not letter by letter: the layout of help differs from one Python to the next.
    text = section(name)
    command = load(name)
    for action in build(name, command)._actions:
        for said in (*action.option_strings, action.help or ""):
            assert " ".join(said.split()) in text
    for example in examples_of(command):
        assert " ".join(example.split()) in text
