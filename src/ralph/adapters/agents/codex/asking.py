"""Hooks for a conversation with Codex, which works in the person's own folder.

That folder is not Ralph's to write, so they are settings of this one session. Codex runs no hook
that a person has not trusted, by its fingerprint; it is told that of this one. The switch that
trusts all would also trust those that a repository brings along.
"""

import json
import shlex
from collections.abc import Iterator
from hashlib import sha256
from typing import Final

from ralph.adapters.agents.asking import NAMES
from ralph.ports.agent import Terms

EVENT: Final = "PreToolUse"
PLACE: Final = "/<session-flags>/config.toml:pre_tool_use:0:0"
"""What Codex calls the first hook of the first group for this event on its command line."""
TIMEOUT_S: Final = 60


def hooks(terms: Terms) -> Iterator[str]:
    """Values for `-c`."""
    if not terms.hooks:
        return
    command = shlex.join((*terms.hooks, NAMES[EVENT]))
    hook = f'{{type="command",command={_text(command)},timeout={TIMEOUT_S}}}'
    yield f"hooks.{EVENT}=[{{hooks=[{hook}]}}]"
    yield f'hooks.state={{{_text(PLACE)}={{trusted_hash="{_fingerprint(command)}"}}}}'


def _fingerprint(command: str) -> str:
    """As Codex works it out: of everything that says what the hook does."""
    hook = {"type": "command", "command": command, "timeout": TIMEOUT_S, "async": False}
    said = {"event_name": "pre_tool_use", "hooks": [hook]}
    text = json.dumps(said, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def _text(value: str) -> str:
    # A JSON string is a TOML string too, except for one character that JSON leaves as it is.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
