"""Guardrails, written into their file."""

from collections.abc import Callable

from ralph.core.errors import UnusableData
from ralph.core.shelf import Guardrail
from ralph.documents.guardrails import PATH
from ralph.documents.lessons import learned
from ralph.ports.library import Library


class FileLessons:
    """`Lessons` in the library of whoever is at work: where they are written down they join the
    work, and reach the others with it."""

    def __init__(self, library: Callable[[], Library], path: str = PATH) -> None:
        self._library = library
        self._path = path

    def add_guardrail(self, entry: Guardrail) -> Guardrail:
        """Write it down, unless it is known; the rest of the file stays as it is."""
        there = entry

        def edit(before: str) -> str:
            nonlocal there
            if "\0" in before:
                raise UnusableData(f"{self._path} is not text", hint="look at what is in its place")
            text, there = learned(before, entry)
            return text

        self._library().change(self._path, edit)
        return there
