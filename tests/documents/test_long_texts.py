"""Long values are read in linear time: twice the text is about twice the work.

Work is counted in lines of Ralph's own code that run, not in seconds.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from ralph.config.toml_lines import line_numbers
from ralph.core.sigils import read_sigils
from ralph.documents import guardrails, progress_log, shell_variables, views
from ralph.documents.stories.reading import read_prd

READERS: dict[str, tuple[Callable[[str], Any], Callable[[int], str]]] = {
    "a quoted value": (shell_variables.read, lambda n: 'A="' + '\\"' * n + '"\n'),
    "a bare value": (shell_variables.read, lambda n: "A=" + "\\x" * n + "\n"),
    "many variables": (shell_variables.read, lambda n: "".join(f"A{i}=b\n" for i in range(n))),
    "sigils that never end": (progress_log.last_words, lambda n: "<promise>" * n),
    "sigils": (read_sigils, lambda n: "<knowledge>x</knowledge>\n" * n),
    "settings": (line_numbers, lambda n: "".join(f"a{i} = 'x'\n" for i in range(n))),
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


def test_nested_without_end_is_no_json() -> None:
    nested = "[" * 100_000
    assert views.phase_in(nested) == views.phase_in("")
    assert views.last_archived(nested.encode()) == 0


def test_sigils_are_left_out_of_the_last_words() -> None:
    said = (
        "before <knowledge title='x'>a\nb</knowledge>after <promise>open <task-done>t</task-done>"
    )
    assert progress_log.last_words(said) == "before after <promise>open"
