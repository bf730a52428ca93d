"""Checkouts that are made to be thrown away."""

from contextlib import AbstractContextManager
from typing import Protocol

from ralph.core.snapshot import Snapshot
from ralph.ports.workspace import Workspace


class Checkouts(Protocol):
    """Who makes them."""

    def of(self, workspace: Workspace, at: Snapshot, name: str) -> AbstractContextManager[str]:
        """A private checkout of exactly this state of the workspace, prepared as a person has said;
        yields the project's directory in it. Whatever is done there is gone afterwards."""
        ...

    def tidy(self) -> None:
        """Remove what a Ralph that was killed has left of them."""
        ...
