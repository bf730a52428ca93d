"""The local socket over which `ralph` commands inside a session reach the running loop."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from ralph.core.ids import FeatureId, TaskId
from ralph.core.policy.leash import Leash
from ralph.ports.claims import Claim
from ralph.ports.history import Session


class Door(Protocol):
    """Additions are checked, completions are claims."""

    @property
    def added(self) -> int:
        """How many things the last session has added: tasks, edges, lines of a log."""
        ...

    @property
    def tasks(self) -> Sequence[TaskId]:
        """The tasks that sessions of this run have added for it."""
        ...

    def open_for(
        self, session: Session, claim: Claim, leash: Leash, home: FeatureId | None = None
    ) -> Mapping[str, str]:
        """Let this session in; return the variables that tell it how. Tasks that it adds without
        naming a place belong to the feature `home`, else to that of its own task."""
        ...

    def tell(self, words: str) -> None:
        """Let the session hear this with the next answer that its agent passes on; from then on it
        may end without a claim."""
        ...

    def look_after(self) -> None:
        """Drop clients that took too long. Called at every tick."""
        ...

    def shut(self) -> None:
        """The session is over: its token opens nothing any more."""
        ...
