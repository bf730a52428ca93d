"""Which tools a phase may use, whatever an agent calls them, and the commands in their input."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from ralph.core.policy.decision import Phase, Policy, PolicyContext

READING: Final = frozenset({"Read", "Glob", "Grep"})
WEB: Final = frozenset({"WebSearch", "WebFetch"})

TOOLS: Final[Mapping[Phase, frozenset[str]]] = {
    Phase.DISCOVERY: READING | WEB | {"Write", "Task", "AskUserQuestion"},
    Phase.PLANNING: READING | WEB | {"Write", "Task", "ExitPlanMode"},
    Phase.BUILDING: READING | WEB | {"Write", "Edit", "Bash", "Task", "TodoWrite"},
    Phase.VALIDATION: READING | {"Bash", "Task", "WebFetch"},
}
OWN_TOOLS: Final = ("mcp__ralph__", "ralph_", "mcp_ralph_", "ralph__", "ralph-")
"""How Ralph's own tools begin; they check by themselves what a session may do."""
SHELL: Final = re.compile("(?:.*/)?(?:ba|da|a|z|k|mk)?sh")
COMMANDS: Final = ("command", "cmd", "script", "chars", "input")


class AgentTools(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's tools, in the words of the table above."""

    names: Mapping[str, tuple[str, ...]] = {}
    """By the agent's own name; a tool with several meanings is allowed with one of them."""
    reads_by_shell: bool = False
    """It cannot read otherwise: phases without a shell allow it one that only reads."""
    takes_rewrites: bool = True
    """False: its program would run the command all the same, so it is denied."""


class ToolPermissions(msgspec.Struct, frozen=True, kw_only=True):
    """What one session may do with its tools; the same for hooks, a library and MCP."""

    policy: Policy = Policy()
    context: PolicyContext = PolicyContext(checkout="/")
    tools: AgentTools = AgentTools()
    phase: Phase = Phase.BUILDING
    speaks: bool = True
    """False: it reports nothing about the task, and only reads."""


def command_of(given: Mapping[str, object]) -> str:
    """The shell text in a tool's input; a list of words becomes the text that means the same."""
    return _command_in(given)[2]


def with_command(given: Mapping[str, object], command: str) -> dict[str, object]:
    """The same input with another text."""
    key, shell, _ = _command_in(given)
    return {**given, key: [*shell, command] if shell else command}


def _command_in(given: Mapping[str, object]) -> tuple[str, Sequence[object], str]:
    """The key of the command, the words that start its shell if it is a list, and its text."""
    for key in COMMANDS:
        match given.get(key):
            case str(text):
                return key, (), text
            case [str(shell), "-c" | "-lc" as option, str(text)] if SHELL.fullmatch(shell):
                # Some agents start all their commands like this.
                return key, (shell, option), text
            case [_, *_] as words:
                return key, ("bash", "-c"), " ".join(shlex.quote(str(word)) for word in words)
            case _:
                pass
    return COMMANDS[0], (), ""
