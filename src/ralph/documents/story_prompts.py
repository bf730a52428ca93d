"""Prompt templates of the story pipeline: plain text with `{{NAME}}` placeholders, which users may
replace. Nothing in them is executed."""

import re
from collections.abc import Mapping
from typing import Final

from ralph.core.errors import BadConfig
from ralph.prompts import prompt

TEMPLATE_FOLDER: Final = ".agents/ralph"
VARIABLE: Final = re.compile(r"(?<!\$)\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
"""Not `${{ … }}`, which other tools use."""
VARIABLES: Final = (
    *("PRD_PATH", "PLAN_PATH", "AGENTS_PATH", "PROGRESS_PATH", "REPO_ROOT", "GUARDRAILS_PATH"),
    *("ERRORS_LOG_PATH", "ACTIVITY_LOG_PATH", "NO_COMMIT", "RUN_ID", "ITERATION", "RUN_LOG_PATH"),
    *("RUN_META_PATH", "STORY_ID", "STORY_TITLE", "STORY_BLOCK", "QUALITY_GATES"),
    *("RETRY_ATTEMPT", "RETRY_MAX", "FAILURE_CONTEXT", "REQUEST"),
)
"""All variables. One without a value is empty."""


TEMPLATES: Final = ("prd", "plan", "build", "retry")


def template(name: str) -> str:
    """The template that Ralph brings along."""
    if name == "retry":
        return f"{prompt('story_retry')}\n{prompt('story_build')}"
    return prompt(f"story_{name}")


def template_path(name: str) -> str:
    return f"{TEMPLATE_FOLDER}/PROMPT_{name}.md"


def fill_template(template: str, values: Mapping[str, str], path: str) -> str:
    """The text with values for its variables. BadConfig, with the line, for an unknown variable.
    A value that looks like a variable stays as it is."""
    for number, line in enumerate(template.split("\n"), 1):
        for found in VARIABLE.finditer(line):
            if found[1] not in VARIABLES:
                raise BadConfig(
                    f"{path}, line {number}: there is no variable {{{{{found[1]}}}}}",
                    hint=f"variables: {', '.join(VARIABLES)}",
                )
    return VARIABLE.sub(lambda found: values.get(found[1], ""), template)
