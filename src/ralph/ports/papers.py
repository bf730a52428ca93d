"""Documents as Ralph last saw them, and the tasks of stories that were taken out of them."""

from typing import Protocol

import msgspec

from ralph.core.ids import FeatureId, TaskId
from ralph.core.task import Task


class Paper(msgspec.Struct, frozen=True, kw_only=True):
    """A document, byte for byte, as it was when Ralph last was done with it."""

    path: str
    content: bytes
    held_for: TaskId | None = None
    """A session works on this task: what it does to the document is not on record yet."""


class Papers(Protocol):
    """What tells a person's edits from a session's, and survives both."""

    def paper(self, path: str) -> Paper | None: ...
    def keep_paper(self, paper: Paper) -> None:
        """In the place of the one before."""
        ...

    def archive(self, task: TaskId) -> list[TaskId]:
        """Take it and everything below it out of the graph, to be brought back as it was; return
        what went. Whoever holds a claim on it loses that."""
        ...

    def archived(self, feature: FeatureId) -> list[Task]:
        """What was taken out of a feature, the tops only."""
        ...

    def bring_back(self, task: TaskId) -> Task:
        """Put it, and what was below it, into the graph again, with its history. NoSuchTask where
        nothing of that id was taken out."""
        ...
