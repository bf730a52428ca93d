"""A document whose parts are tasks: graph changes in, statuses out."""

from typing import Protocol

import msgspec

from ralph.core import shelf
from ralph.core.role import Role
from ralph.core.task import Task


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """What a session left in the document."""

    claims: bool = False
    """It says there that its task is done."""
    broken: str = ""
    """What it did to the document, which is as it was before, for the next session to hear."""
    warnings: tuple[str, ...] = ()


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """What the documents say about one task."""

    text: str
    """Instead of the task's description: as it stands there now, with its boxes."""
    plan: shelf.Document | None = None
    """The part of the plan that is about it."""
    role: Role = Role.WORK
    rules: str = ""
    """Instead of those that hold for work."""
    checkout: str = ""
    """Where the session works, if not where the run does."""


class Document(Protocol):
    """Read at the start of an iteration, written back at its end. Ralph owns the status; what a
    session ticks is a claim."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that Ralph writes on its own account, from the project's root: they are
        committed with the work, and stay when work is set aside."""
        ...

    def follow(self) -> tuple[str, ...]:
        """Before an iteration: let the store follow what people have changed. What is worth a word
        to them is returned. UnusableData or Missing where nothing can begin."""
        ...

    def passage(self, task: Task) -> Passage | None:
        """What a session is told of it; None: the task does not stand in the document."""
        ...

    def begin(self, task: Task) -> None:
        """A session is about to work on the task: from now on it may be the one who ticks."""
        ...

    def leave(self, task: Task) -> tuple[str, ...]:
        """The session has just ended, and nobody has looked at the checkout yet: put back what was
        not its to change. What is worth a word is returned."""
        ...

    def look(self, task: Task) -> Left:
        """When the session is over: what it says in the document. A broken one is put back."""
        ...

    def review(self, task: Task) -> None:
        """Its work has come so far that a reviewer reads it now."""
        ...

    def conclude(self, task: Task, *, done: bool) -> None:
        """Write the verdict back, and take away what was claimed without right. Also before the
        store knows of it, and twice after a crash."""
        ...

    def release(self, task: Task) -> None:
        """The store knows it, too: the session is over, and what changes now is a person's."""
        ...
