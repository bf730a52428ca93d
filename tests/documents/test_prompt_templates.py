"""Prompt templates: variables are filled in, and nothing is executed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.errors import BadConfig
from ralph.documents.story_prompts import (
    TEMPLATES,
    VARIABLES,
    fill_template,
    template,
    template_path,
)


def test_variables_are_filled_in() -> None:
    text = fill_template(
        "{{STORY_ID}}: {{ STORY_TITLE }}.", {"STORY_ID": "US-1", "STORY_TITLE": "T"}, "x"
    )
    assert text == "US-1: T."


def test_a_variable_without_a_value_is_empty() -> None:
    assert fill_template("[{{FAILURE_CONTEXT}}]", {}, "x") == "[]"


@pytest.mark.parametrize("name", ["STORY", "story_id", "PATH", "x"])
def test_a_variable_that_nobody_knows_is_named_with_its_line(name: str) -> None:
    with pytest.raises(BadConfig, match=rf"^PROMPT_x\.md, line 3: .*\{{\{{{name}\}}\}}") as caught:
        fill_template(f"a\n\n{{{{{name}}}}}", {}, "PROMPT_x.md")
    assert "STORY_ID" in caught.value.hint


@pytest.mark.parametrize(
    "text", ["${{ secrets.KEY }}", "{{ a.b }}", "{ STORY_ID }", "{{}}", "{% x %}"]
)
def test_what_belongs_to_others_stays(text: str) -> None:
    assert fill_template(text, {}, "x") == text


@given(st.text())
def test_values_are_data(value: str) -> None:
    assert fill_template("<{{STORY_BLOCK}}>", {"STORY_BLOCK": value}, "x") == f"<{value}>"


def test_a_value_that_looks_like_a_variable_stays() -> None:
    assert (
        fill_template("{{STORY_BLOCK}}", {"STORY_BLOCK": "{{REPO_ROOT}}"}, "x") == "{{REPO_ROOT}}"
    )


@pytest.mark.parametrize("name", TEMPLATES)
def test_what_ralph_brings_along_can_be_filled_in(name: str) -> None:
    text = fill_template(
        template(name), {one: f"({one})" for one in VARIABLES}, template_path(name)
    )
    assert "{{" not in text
    assert "<task-done>" not in text
