"""Which of its tools an agent writes files and runs commands with, told by the tools it offers."""

from collections.abc import Callable, Mapping
from typing import Final

from ralph.testing.model.turn import Call, Deed, Shell, Write


def _patch(deed: Write) -> str:
    lines = "".join(f"+{line}\n" for line in deed.text.splitlines())
    return f"*** Begin Patch\n*** Add File: {deed.path}\n{lines}*** End Patch\n"


def _create(deed: Write) -> dict[str, object]:
    return {"file_path": deed.path, "content": deed.text}


WRITERS: Final[Mapping[str, Callable[[Write], dict[str, object] | str]]] = {
    "Write": _create,
    "Create": _create,
    "apply_patch": _patch,
}

SHELLS: Final[Mapping[str, Callable[[Shell], dict[str, object] | str]]] = {
    "Bash": lambda deed: {"command": deed.command, "description": "as told"},
    "Execute": lambda deed: {
        "command": deed.command,
        "riskLevel": "medium",
        "riskLevelReason": "as told",
        "timeout": 600,
    },
    "exec_command": lambda deed: {"cmd": deed.command},
}


def by_hand(deed: Deed, offered: frozenset[str]) -> Call:
    """The call that does it, or LookupError where the agent has no tool for it."""
    match deed:
        case Call():
            return deed
        case Write():
            name = _offered(WRITERS, offered)
            return Call(name=name, input=WRITERS[name](deed))
        case Shell():
            name = _offered(SHELLS, offered)
            return Call(name=name, input=SHELLS[name](deed))


def _offered(known: Mapping[str, object], offered: frozenset[str]) -> str:
    for name in known:
        if name in offered:
            return name
    raise LookupError(f"none of {', '.join(known)} is offered, only {', '.join(sorted(offered))}")
