"""The folder in which an agent finds its configuration: one of its own for each session."""

from collections.abc import Mapping
from typing import Protocol

from ralph.ports.agent import Home


class Homes(Protocol):
    """Who makes such folders, and takes them away."""

    def files(self, home: Home) -> dict[str, bytes]:
        """The person's own credentials and excerpts, by name; only those that exist."""
        ...

    def open(
        self,
        agent: str,
        home: Home,
        session: str,
        config: Mapping[str, Mapping[str, object]],
    ) -> Mapping[str, str]:
        """Make a folder with nothing but credentials, and what `Launch.config` adds; return the
        variables that lead to it."""
        ...

    def save(self) -> None:
        """Copy back credentials that were refreshed in the last folder so far: other sessions, and
        the person, have the ones that are of no use any more."""
        ...

    @property
    def folder(self) -> str:
        """Where the open session's agent keeps its configuration; empty without one."""
        ...

    def shut(self) -> None:
        """Copy back credentials that were refreshed in the last folder, and remove it."""
        ...

    def tidy(self, homes: Mapping[str, Home]) -> None:
        """The same for every folder that a Ralph which was killed has left; `homes` by agent."""
        ...
