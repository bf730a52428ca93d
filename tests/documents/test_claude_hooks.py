"""Hooks in a person's settings: put in, and taken out again."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.errors import UnusableData
from ralph.documents.claude_hooks import with_hooks, without_hooks

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
ENTRY = st.just({"hooks": [{"type": "command", "command": "make lint"}]})
EVENTS = st.sampled_from(["TaskCompleted", "TeammateIdle", "Stop"])
HOOKED = st.dictionaries(EVENTS, st.lists(ENTRY, min_size=1, max_size=2), min_size=1)


@st.composite
def settings(draw: st.DrawFn) -> str:
    """As people and programs write them."""
    value: dict[str, Any] = draw(st.dictionaries(st.text(max_size=6), JSON, max_size=4))
    value.pop("hooks", None)
    if draw(st.booleans()):
        value["hooks"] = draw(HOOKED)
    indent = draw(st.sampled_from([None, 2, 4, "\t"]))
    text = json.dumps(value, indent=indent, ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from(["", " ", "\n"])) + text + draw(st.sampled_from(["", "\n"]))


@given(settings())
def test_what_was_put_in_is_taken_out(text: str) -> None:
    after = with_hooks(text, "ralph")
    assert with_hooks(after, "/elsewhere/ralph") == after
    assert json.loads(without_hooks(after)) == json.loads(text)
    assert without_hooks(text) == text


@given(settings())
def test_both_hooks_are_there_and_nothing_else_has_changed(text: str) -> None:
    before, after = json.loads(text), json.loads(with_hooks(text, "ralph"))
    for event, name in (("TaskCompleted", "task-completed"), ("TeammateIdle", "teammate-idle")):
        ours = after["hooks"][event].pop()
        assert ours["hooks"][0]["command"] == f"ralph hook {name}"
        if not after["hooks"][event]:
            del after["hooks"][event]
    if not after["hooks"]:
        del after["hooks"]
    assert after == before


def test_a_new_file_looks_as_if_somebody_had_written_it() -> None:
    text = with_hooks("", "ralph")
    assert text == json.dumps(json.loads(text), indent=2) + "\n"
    assert without_hooks(text) == "{}\n"


def test_lines_end_and_are_indented_as_they_were() -> None:
    text = with_hooks('{\r\n\t"a": "é"\r\n}\r\n', "ralph")
    written = json.dumps(json.loads(text), indent="\t", ensure_ascii=False) + "\n"
    assert text == written.replace("\n", "\r\n")


@pytest.mark.parametrize(
    "text", ["{", "[]", "// c\n{}", '{"hooks": 1}', '{"hooks": {"TaskCompleted": {}}}']
)
def test_what_are_no_settings_is_left_alone(text: str) -> None:
    with pytest.raises(UnusableData, match=r"^\.claude/settings\.json is not "):
        with_hooks(text, "ralph")


def test_a_hook_that_does_more_is_not_ours() -> None:
    theirs = {"hooks": [{"command": "ralph hook task-completed && say done"}]}
    text = json.dumps({"hooks": {"TaskCompleted": [theirs]}})
    assert without_hooks(text) == text
    assert json.loads(without_hooks(with_hooks(text, "ralph"))) == json.loads(text)
