"""Hooks in the schema of Claude Code, which others have taken over."""

import shlex
from collections.abc import Mapping
from typing import Final

from ralph.ports.agent import Terms

NAMES: Final = {
    "PreToolUse": "pre-tool-use",
    "PostToolUse": "post-tool-use",
    "PostToolUseFailure": "post-tool-use",
    "Stop": "stop",
    "SessionStart": "session-start",
}
"""What it calls them, and what Ralph does."""


def hooks(terms: Terms, *events: str) -> Mapping[str, object]:
    """What to put under `hooks`; every tool is asked about."""
    return {
        event: [
            {"hooks": [{"type": "command", "command": shlex.join((*terms.hooks, NAMES[event]))}]}
        ]
        for event in events
    }
