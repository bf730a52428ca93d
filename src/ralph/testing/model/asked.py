"""What an agent asked of the model: the request as it is understood and remembered."""

import re
from typing import Final

import msgspec

MARKER: Final = re.compile(r"\[\[scenario:([^\]\s]+)\]\]")
"""Names the scenario, anywhere in the conversation; the last one wins."""

CWD: Final = re.compile(r"(?:[Ww]orking directory: |<cwd>|% pwd\n)([^\n<]+)")
"""How agents tell their model where they work."""

TASK: Final = re.compile(r"^## (?:Your task|The task that is said to be done): (\S+)", re.MULTILINE)
"""How a brief names its task."""

KEPT: Final = 32 * 1024


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """A request's body in no API's words."""

    model: str = ""
    stream: bool = False
    system: str = ""
    user: str = ""
    results: tuple[str, ...] = ()
    """What tools answered, in order."""
    tools: frozenset[str] = frozenset()

    @property
    def scenario(self) -> str:
        """What the conversation is about."""
        found = MARKER.findall(self.user) or MARKER.findall(self.system)
        return found[-1] if found else "default"

    @property
    def wants_title(self) -> bool:
        """Some agents ask for a name of the session: the whole prompt is in there, but no tools."""
        return not self.tools and "title" in self.system.lower()

    def find(self, what: re.Pattern[str]) -> str | None:
        """The first thing that the agent says of this kind."""
        found = what.search(self.system) or what.search(self.user)
        return found.group(1).strip() if found else None


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request, for tests to look at. Long texts are kept in part."""

    method: str
    path: str
    scenario: str = ""
    turn: int = -1
    """The place in the script; -1 for what is not part of one, such as a request for a title."""
    model: str = ""
    stream: bool = False
    headers: frozenset[str] = frozenset()
    """Their names, in lower case."""
    auth: str = ""
    """What it identified itself with."""
    system: str = ""
    user: str = ""
    results: tuple[str, ...] = ()
    tools: frozenset[str] = frozenset()
    cwd: str | None = None
    task: str | None = None
    size: int = 0
    """Of the body, in bytes."""
    retry: int = 0
    """How many requests came before it for the same turn of the same scenario."""
