"""Which tools a phase may use, whatever an agent calls them."""

from collections.abc import Mapping
from typing import Final

import msgspec

from ralph.core.policy.decision import Phase

READING: Final = frozenset({"Read", "Glob", "Grep"})
WEB: Final = frozenset({"WebSearch", "WebFetch"})

TOOLS: Final[Mapping[Phase, frozenset[str]]] = {
    Phase.DISCOVERY: READING | WEB | {"Write", "Task", "AskUserQuestion"},
    Phase.PLANNING: READING | WEB | {"Write", "Task", "ExitPlanMode"},
    Phase.BUILDING: READING | WEB | {"Write", "Edit", "Bash", "Task", "TodoWrite"},
    Phase.VALIDATION: READING | {"Bash", "Task", "WebFetch"},
}
OWN_TOOLS: Final = ("mcp__ralph__", "ralph_", "mcp_ralph_", "ralph__")
"""How Ralph's own tools begin; they check for themselves what a session may do."""


class Toolbox(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's tools, in the words of the table above."""

    names: Mapping[str, tuple[str, ...]] = {}
    """By the agent's own name; a tool that stands for several is allowed with one of them."""
    reads_by_shell: bool = False
    """It has no other way to read: phases without a shell leave it one that only looks."""


def meant(tool: str, toolbox: Toolbox) -> tuple[str, ...]:
    """What a tool is in the table."""
    return toolbox.names.get(tool, (tool,))


def is_own(tool: str) -> bool:
    """Whether it is one of Ralph's own."""
    return tool.startswith(OWN_TOOLS)
