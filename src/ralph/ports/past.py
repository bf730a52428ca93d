"""The commits of a checkout, to be looked at and taken back."""

from collections.abc import Mapping, Sequence, Set
from typing import Protocol

import msgspec

from ralph.core.ids import TaskId
from ralph.ports.workspace import Lost


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """One that a task has left on the branch."""

    id: str
    subject: str
    is_merge: bool = False


class Past(Protocol):
    """The branch that a checkout is on."""

    def made_by(
        self, tasks: Set[TaskId], recorded: Mapping[str, TaskId], since: str
    ) -> list[Commit]:
        """What these tasks have committed and nobody has taken back, newest first.

        By the trailers of Ralph's own commits, and by what is `recorded` of their sessions. Nothing
        is older than `since`.
        """
        ...

    def landed(self, since: str) -> dict[TaskId, str]:
        """The tasks whose commits are on the branch and not taken back, each with its newest. By
        trailers alone; nothing is older than `since`."""
        ...

    def lost(self, commits: Sequence[str]) -> Lost:
        """Which of these commits are broken, or on no branch."""
        ...

    def take_back(self, commits: Sequence[Commit], message: str) -> str | None:
        """Put a commit on the branch that undoes these, newest first; None if nothing is left of
        them. All of it or nothing: where later changes are in the way, no file changes."""
        ...
