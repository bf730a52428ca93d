"""The interface of the control socket, over which `ralph` commands in a session reach the run."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from ralph.core.ids import FeatureId, TaskId
from ralph.core.policy.tools import ToolPermissions
from ralph.store.claims import Claim
from ralph.store.sessions import Session


class ControlSocket(Protocol):
    """Serves the calls of a session. Additions are checked, and completions are claims."""

    @property
    def additions(self) -> int:
        """Return how many tasks, edges and log lines the last session has added."""

    @property
    def added_tasks(self) -> Sequence[TaskId]:
        """Return the tasks that sessions of this run have added."""

    def open_session(
        self,
        session: Session,
        claim: Claim,
        permissions: ToolPermissions,
        home: FeatureId | None = None,
    ) -> Mapping[str, str]:
        """Let this session in; return the variables that tell it how. Tasks that it adds without
        naming a place belong to the feature `home`, else to that of its own task."""

    def send_to_session(self, words: str) -> None:
        """Send a message to the session with the next answer to its agent. From then on the session
        may end without a claim."""

    def drop_late_clients(self) -> None:
        """Drop clients that take too long. Called at every tick."""

    def close_session(self) -> None: ...
