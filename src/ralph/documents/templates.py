"""Prompt templates: plain text with `{{NAME}}` in it. Nothing in them is executed."""

import re
from collections.abc import Mapping
from typing import Final

from ralph.core.errors import BadConfig

FOLDER: Final = ".agents/ralph"
"""Where people put their own ones."""
VARIABLE: Final = re.compile(r"(?<!\$)\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
"""Not `${{ … }}`: that belongs to others."""
NAMES: Final = (
    *("PRD_PATH", "PLAN_PATH", "AGENTS_PATH", "PROGRESS_PATH", "REPO_ROOT", "GUARDRAILS_PATH"),
    *("ERRORS_LOG_PATH", "ACTIVITY_LOG_PATH", "NO_COMMIT", "RUN_ID", "ITERATION", "RUN_LOG_PATH"),
    *("RUN_META_PATH", "STORY_ID", "STORY_TITLE", "STORY_BLOCK", "QUALITY_GATES"),
    *("RETRY_ATTEMPT", "RETRY_MAX", "FAILURE_CONTEXT", "REQUEST"),
)
"""Every variable that there is. One without a value here and now is empty."""


def template_path(name: str) -> str:
    """Where a person's own template of that name would be."""
    return f"{FOLDER}/PROMPT_{name}.md"


def fill(template: str, values: Mapping[str, str], path: str) -> str:
    """The text with values for its variables. BadConfig, with the line, for one that nobody knows.

    In one pass: what a value holds is data, also where it looks like a variable.
    """
    for number, line in enumerate(template.split("\n"), 1):
        for found in VARIABLE.finditer(line):
            if found[1] not in NAMES:
                raise BadConfig(
                    f"{path}, line {number}: there is no variable {{{{{found[1]}}}}}",
                    hint=f"variables: {', '.join(NAMES)}",
                )
    return VARIABLE.sub(lambda found: values.get(found[1], ""), template)
