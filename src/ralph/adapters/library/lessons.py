"""Guardrails, written into their file."""

from ralph.core.shelf import Guardrail
from ralph.documents.guardrails import PATH, added
from ralph.ports.library import Library


class FileLessons:
    """`Lessons` in the library."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def add_guardrail(self, entry: Guardrail) -> None:
        """Write it down; the rest of the file stays as it is."""
        self._library.change(PATH, lambda before: added(before, entry))
