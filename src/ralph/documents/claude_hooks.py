"""Ralph's two hooks in the settings of Claude Code, for teams that Claude Code leads itself."""

import json
import re
from typing import Any, Final

from ralph.core.errors import UnusableData
from ralph.documents.markdown import line_end

PATH: Final = ".claude/settings.json"
HOOKS: Final = {"TaskCompleted": "task-completed", "TeammateIdle": "teammate-idle"}
"""The events of Claude Code, and the names of Ralph's hooks."""
TIMEOUT_S: Final = 3600
"""Long enough for gates."""


def with_hooks(text: str, ralph: str) -> str:
    """The settings with both hooks, each once. UnusableData if the text is not settings."""
    settings = _read(text)
    hooks = settings.setdefault("hooks", {})
    for event, name in HOOKS.items():
        entries = hooks.setdefault(event, [])
        if not any(_is_ours(one, name) for one in entries):
            command = f"{ralph} hook {name}"
            hook = {"type": "command", "command": command, "timeout": TIMEOUT_S}
            entries.append({"hooks": [hook]})
    return _written(settings, text)


def without_hooks(text: str) -> str:
    """The settings without Ralph's hooks, and without the lists that are empty then."""
    settings = _read(text)
    hooks = settings.get("hooks", {})
    for event, name in HOOKS.items():
        theirs = [one for one in hooks.get(event, []) if not _is_ours(one, name)]
        hooks[event] = theirs
        if not theirs:
            del hooks[event]
    if not hooks:
        settings.pop("hooks", None)
    return _written(settings, text)


def _read(text: str) -> dict[str, Any]:
    try:
        settings = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise UnusableData(f"{PATH} is not JSON: {error}", hint="fix it first") from error
    hooks = settings.get("hooks", {}) if isinstance(settings, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(hooks.get(e, []), list) for e in HOOKS):
        raise UnusableData(f"{PATH} is not settings with hooks", hint="fix it first")
    return settings


def _written(settings: dict[str, Any], before: str) -> str:
    """JSON with the indentation and the line ends of the text before; that text if it says so."""
    if settings == _read(before):
        return before
    indented = re.search(r"\n([ \t]+)\S", before)
    text = json.dumps(
        settings, indent=indented[1] if indented else 2, ensure_ascii=before.isascii()
    )
    return (text + "\n").replace("\n", line_end(before))


def _is_ours(entry: object, name: str) -> bool:
    """Whether the entry does nothing but call Ralph's hook, by any path of `ralph`."""
    match entry:
        case {"hooks": [{"command": str(command)}]}:
            words = command.split()
            return words[-2:] == ["hook", name] and "ralph" in " ".join(words[:-2])
        case _:
            return False
