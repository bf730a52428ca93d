"""The project's own files, as sessions are told of them and as people change them."""

from collections.abc import Callable, Iterable
from typing import Protocol

import msgspec

from ralph.core.shelf import Guardrail


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """What was found under a path. Neither text nor trouble: there is no such file."""

    text: str | None = None
    trouble: str = ""
    """Why it cannot be read."""


class Library(Protocol):
    """Files below the project's folder; paths are seen from there. Reading never raises: an odd
    file must not end a run."""

    def read(self, path: str) -> Page:
        """The text of a file, as it is now. Only of a file that is in the project: a session may
        have left a link to what is none of its business."""
        ...

    def content(self, path: str) -> bytes | None:
        """A file byte for byte; None: there is no such file. UnusableData where something else is
        in its place."""
        ...

    def exists(self, path: str) -> bool:
        """Is anything there, whatever it is?"""
        ...

    def put(self, path: str, content: bytes) -> None:
        """Write a file, whole or not at all; its folders, too. CannotWrite where that fails."""
        ...

    def draw(self, path: str, pieces: Iterable[bytes]) -> None:
        """Put a file that can be made again, piece by piece: readers see the one before or this
        one, never a part of it. CannotWrite where that fails."""
        ...

    def extend(self, path: str, more: Callable[[bytes], Iterable[bytes]]) -> None:
        """Add to a file what follows from its end (its last 64 KiB; empty where there is none), as
        one step that nobody else can come between. CannotWrite or Busy where it cannot be."""
        ...

    def remove(self, path: str) -> None:
        """Take a file away; that there is none, or that it cannot be, is no error."""
        ...

    def changed_at(self, path: str) -> float | None:
        """When it was last written, in seconds since 1970; None: there is no such file."""
        ...

    def append(self, path: str, text: str, *, fresh: str) -> None:
        """Add to a log, however long it is, while others wait; where there is none, it begins with
        `fresh`. CannotWrite, Busy or UnusableData where it cannot be."""
        ...

    def folders(self, path: str) -> list[str]:
        """The names of the folders in a folder, sorted; none where it cannot be read."""
        ...

    def files(self, path: str, suffix: str) -> list[str]:
        """The names of the files in a folder that end like this, sorted."""
        ...

    def change(self, path: str, edit: Callable[[str], str]) -> None:
        """Write what `edit` makes of the text (empty where there is no file), as one step that
        nobody else can come between. CannotWrite, Busy or UnusableData where it cannot be."""
        ...


class Lessons(Protocol):
    """Guardrails, as people and sessions add to them. From inside a session the running loop writes
    them down: behind the wall the file can be neither locked nor replaced."""

    def add_guardrail(self, entry: Guardrail) -> Guardrail:
        """Write it down, unless somebody has: return the entry that says it. The rest of the file
        stays as it is."""
        ...
