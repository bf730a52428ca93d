"""Long values are read in linear time: twice the text is about twice the work.

Work is counted in lines of Ralph's own code that run, not in seconds.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from ralph.config.toml_file import line_numbers
from ralph.core.message_tags import read_message_tags
from ralph.core.toml_text import parse_toml
from ralph.documents import guardrails, log_files, shell_variables, state_files
from ralph.documents.gate_commands import cannot_fail
from ralph.documents.gate_settings import has_same_gate_settings
from ralph.documents.prd import read_prd

READERS: dict[str, tuple[Callable[[str], Any], Callable[[int], str]]] = {
    "a quoted value": (shell_variables.read, lambda n: 'A="' + '\\"' * n + '"\n'),
    "a bare value": (shell_variables.read, lambda n: "A=" + "\\x" * n + "\n"),
    "many variables": (shell_variables.read, lambda n: "".join(f"A{i}=b\n" for i in range(n))),
    "tags that never end": (log_files.final_message_text, lambda n: "<promise>" * n),
    "tags": (read_message_tags, lambda n: "<knowledge>x</knowledge>\n" * n),
    "settings": (line_numbers, lambda n: "".join(f"a{i} = 'x'\n" for i in range(n))),
    "a gate": (cannot_fail, lambda n: "( true ) && " * n + "true"),
    "a gate of many lines": (cannot_fail, lambda n: "echo $x\n" * n + "true"),
    "guardrails": (guardrails.read, lambda n: "- x\n" * n),
    "a PRD": (read_prd, lambda n: "### US-001: x\n" + "- [ ] x\n" * n),
}


def work(call: Callable[[], object]) -> int:
    """How many lines of Python run."""
    lines = 0

    def count(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal lines
        del frame, arg
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        call()
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize("name", READERS)
def test_twice_the_text_is_twice_the_work(name: str) -> None:
    read, text = READERS[name]
    read(text(10))  # what is made once
    once, twice = (work(lambda n=n: read(text(n))) for n in (400, 800))  # type: ignore[misc]
    assert twice < 2.5 * once + 100


@pytest.mark.parametrize(
    "text",
    [
        "a." * 500_000 + "a = 1",
        "[" + "a . " * 500_000 + "a]",
        'a = {"b" . ' + '"b".' * 500_000 + "b = 1}",
        'a = "' + '\\"' * 500_000 + "." * 500,
    ],
    ids=["a key", "a table", "an inline table", "a string that does not end"],
)
def test_a_key_without_measure_is_no_toml(text: str) -> None:
    with pytest.raises(ValueError, match=r"\(at "):
        parse_toml(text)
    assert not has_same_gate_settings("pyproject.toml", b"", text.encode())


def test_dots_in_strings_are_not_counted() -> None:
    dots = "." * 500
    assert parse_toml(f"""a = "{dots}\\"{dots}"\nb = '{dots}'""")["b"] == dots


def test_nested_without_end_is_no_json() -> None:
    nested = "[" * 100_000
    assert state_files.phase_in(nested) == state_files.phase_in("")
    assert state_files.last_archived(nested.encode()) == 0


def test_tags_are_left_out_of_the_last_words() -> None:
    said = (
        "before <knowledge title='x'>a\nb</knowledge>after <promise>open <task-done>t</task-done>"
    )
    assert log_files.final_message_text(said) == "before after <promise>open"
