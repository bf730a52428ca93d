"""Where a tool's input holds its shell text, and how it gets another one."""

from collections.abc import Mapping, Sequence
from typing import Final

from ralph.core.policy.shells import SHELLS
from ralph.core.shell.escapes import quote

COMMANDS: Final = ("command", "cmd", "script", "chars", "input")


def command_of(given: Mapping[str, object]) -> str:
    """The shell text in a tool's input; a list of words becomes the text that means the same."""
    for key in COMMANDS:
        match given.get(key):
            case str(text):
                return text
            case [*words] if words:
                texts = [str(word) for word in words]
                return texts[2] if _is_script(words) else " ".join(map(quote, texts))
            case _:
                pass
    return ""


def with_command(given: Mapping[str, object], command: str) -> dict[str, object]:
    """The same input with another text."""
    for key in COMMANDS:
        match given.get(key):
            case str():
                return {**given, key: command}
            case [*words] if words:
                shell = words[:2] if _is_script(words) else ["bash", "-c"]
                return {**given, key: [*shell, command]}
            case _:
                pass
    return {**given, COMMANDS[0]: command}


def _is_script(words: Sequence[object]) -> bool:
    """`bash -lc TEXT`, as some agents start all their commands."""
    match words:
        case [str(shell), "-c" | "-lc", str()]:
            return shell.rpartition("/")[2] in SHELLS
        case _:
            return False
