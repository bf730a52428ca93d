"""Parts of commands that several agents share: the prompt and hook settings."""

import shlex
from collections.abc import Mapping
from typing import Final

from ralph.ports.agent import HOOK_NAMES, Brief, SessionTerms, brief_with_rules

ARGUMENT_BYTES: Final = 96 * 1024
"""Of a first message. Linux takes no argument of 128 KiB or more."""


def prompt_text(brief: Brief) -> str:
    """The whole brief, for an agent that reads the rules from their file if there is one."""
    return brief.text if brief.rules_path else brief_with_rules(brief)


def first_message(brief: Brief, most: int = ARGUMENT_BYTES, *, rules: bool = True) -> str:
    """The brief if it fits, otherwise where to find it. `rules`: put the rules before it."""
    whole = brief_with_rules(brief) if rules else brief.text
    if len(whole.encode("utf-8", "replace")) <= most:
        return whole
    pointer = f"What is to be done is in {brief.path}: read that file to the end, part by part."
    return f"{brief.rules}\n\n{pointer}" if rules and brief.rules else pointer


def hook_command(terms: SessionTerms, event: str) -> str:
    """The command line that asks Ralph at an event of the agent's program."""
    return shlex.join((*terms.hooks, HOOK_NAMES[event]))


def claude_style_hooks(
    terms: SessionTerms, *events: str, **settings: object
) -> Mapping[str, object]:
    """The value of `hooks` in Claude Code's schema, which others use as well: for every tool.
    `settings` are of each hook, such as a timeout."""
    return {
        event: [{"hooks": [{"type": "command", "command": hook_command(terms, event), **settings}]}]
        for event in events
    }
