"""A document whose parts are tasks: graph changes in, statuses out."""

from typing import Protocol

import msgspec

from ralph.core.task import Task


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """What a session left in the document."""

    claims: bool = False
    """It says there that its task is done."""
    broken: str = ""
    """What it did to the document, which is as it was before, for the next session to hear."""
    warnings: tuple[str, ...] = ()


class Document(Protocol):
    """Read at the start of an iteration, written back at its end. Ralph owns the status; what a
    session ticks is a claim."""

    def follow(self) -> tuple[str, ...]:
        """Before an iteration: let the store follow what people have changed. What is worth a word
        to them is returned. UnusableData or Missing where nothing can begin."""
        ...

    def begin(self, task: Task) -> None:
        """A session is about to work on the task: from now on it may be the one who ticks."""
        ...

    def look(self, task: Task) -> Left:
        """When the session is over: what it says in the document. A broken one is put back."""
        ...

    def conclude(self, task: Task, *, done: bool) -> None:
        """Write the verdict back, and take away what was claimed without right."""
        ...
