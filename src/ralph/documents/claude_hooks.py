"""Ralph's two hooks in the settings of Claude Code, for teams that Claude Code leads itself."""

import json
from typing import Any, Final

from ralph.core.errors import UnusableData
from ralph.documents.json_edit import Piece, appended, member, pieces, start_of, without

PATH: Final = ".claude/settings.json"
HOOKS: Final = {"TaskCompleted": "task-completed", "TeammateIdle": "teammate-idle"}
"""What Claude Code calls them, and what Ralph does."""
TIMEOUT_S: Final = 3600
"""Gates take their time."""


def installed(text: str, ralph: str) -> str:
    """The settings with both hooks, each once. UnusableData where they are no settings."""
    text = text if text.strip() else "{}\n"
    for event, name in HOOKS.items():
        if not any(_is_ours(one, name) for one in _entries(text, event)):
            text = _added(text, event, f"{ralph} hook {name}")
    return text


def uninstalled(text: str) -> str:
    """The settings without them; what else is there stays as it is."""
    for event, name in HOOKS.items():
        while True:
            ours = next((one for one in _entries(text, event) if _is_ours(one, name)), None)
            if ours is None:
                break
            text = _removed(text, event, ours)
    return text


def _added(text: str, event: str, command: str) -> str:
    hook = {"type": "command", "command": command, "timeout": TIMEOUT_S}
    entry: Any = {"hooks": [hook]}
    top = _top(text)
    hooks = member(text, top, "hooks")
    if hooks is None:
        return appended(text, top, f'"hooks": {_shown({event: [entry]})}', 1)
    events = member(text, hooks.at, event)
    if events is None:
        return appended(text, hooks.at, f'"{event}": {_shown([entry])}', 2)
    return appended(text, events.at, _shown(entry), 3)


def _removed(text: str, event: str, ours: Piece) -> str:
    """An entry, and with it what held nothing else."""
    top = _top(text)
    hooks = member(text, top, "hooks")
    assert hooks is not None
    events = member(text, hooks.at, event)
    assert events is not None
    if len(events.value) > 1:
        return without(text, events.at, ours)
    if len(hooks.value) > 1:
        return without(text, hooks.at, events)
    return without(text, top, hooks)


def _entries(text: str, event: str) -> list[Piece]:
    top = _top(text)
    hooks = member(text, top, "hooks")
    if hooks is None:
        return []
    _require(isinstance(hooks.value, dict), "hooks is no object")
    events = member(text, hooks.at, event)
    if events is None:
        return []
    _require(isinstance(events.value, list), f"hooks.{event} is no list")
    return list(pieces(text, events.at))


def _top(text: str) -> int:
    try:
        _require(isinstance(json.loads(text), dict), "it is no object")
    except (ValueError, RecursionError) as error:
        raise UnusableData(f"{PATH} is no JSON: {error}", hint="mend it first") from error
    return start_of(text)


def _require(is_so: bool, otherwise: str) -> None:  # noqa: FBT001
    if not is_so:
        raise UnusableData(f"{PATH}: {otherwise}", hint="mend it first")


def _is_ours(entry: Piece, name: str) -> bool:
    """Does it do nothing but call Ralph? Whatever path that has."""
    hooks = entry.value.get("hooks") if isinstance(entry.value, dict) else None
    if not isinstance(hooks, list) or len(hooks) != 1 or not isinstance(hooks[0], dict):
        return False
    words = str(hooks[0].get("command", "")).split()
    return words[-2:] == ["hook", name] and "ralph" in " ".join(words[:-2])


def _shown(value: object) -> str:
    return json.dumps(value, indent=2)
