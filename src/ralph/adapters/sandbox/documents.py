"""Documents beside Ralph's own files, which agents write, and templates, which they do not."""

import os
from collections.abc import Mapping
from typing import Final

from ralph.core.fence import is_inside

REPORTS: Final = ("validation", "blockers")
"""What Ralph itself has to say, though people read it like a document."""
WRITTEN: Final = (
    *("PRD_PATH", "PLAN_PATH", "PROGRESS_PATH", "GUARDRAILS_PATH"),
    *("ERRORS_LOG_PATH", "ACTIVITY_LOG_PATH"),
)
TEMPLATES: Final = ("PROMPT_PLAN", "PROMPT_BUILD")
"""Variables of `config.sh` by which people put them elsewhere."""


def documents(project: str, variables: Mapping[str, str]) -> tuple[str, ...]:
    """Files in `.ralph`: all that are Markdown, but for reports, and what `config.sh` names."""
    state = os.path.join(project, ".ralph")
    try:
        names = os.listdir(state)
    except OSError:
        names = []
    found = [
        os.path.join(state, name)
        for name in sorted(names)
        if name.endswith(".md") and not name.startswith(REPORTS)
    ]
    named = (_whole(project, variables.get(key, "")) for key in WRITTEN)
    return tuple(dict.fromkeys((*found, *(path for path in named if is_inside(path, state)))))


def templates(project: str, variables: Mapping[str, str]) -> tuple[str, ...]:
    """Those that `config.sh` names."""
    found = (_whole(project, variables[key]) for key in TEMPLATES if variables.get(key))
    return tuple(path for path in found if is_inside(path, project))


def _whole(project: str, path: str) -> str:
    return os.path.normpath(os.path.join(project, path)) if path else ""
