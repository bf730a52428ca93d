"""Write guardrails into their file."""

from collections.abc import Callable

from ralph.core.brief import Guardrail
from ralph.core.errors import UnusableData
from ralph.documents.guardrails import PATH, add_guardrail_once
from ralph.ports.project_files import ProjectFiles


class GuardrailFile:
    """Writes guardrails into the files of the current checkout: they are merged with the work."""

    def __init__(self, project_files: Callable[[], ProjectFiles], path: str = PATH) -> None:
        self._project_files = project_files
        self._path = path

    def add_guardrail(self, entry: Guardrail) -> Guardrail:
        there = entry

        def edit(before: str) -> str:
            nonlocal there
            if "\0" in before:
                raise UnusableData(f"{self._path} is not text", hint="look at what is in its place")
            text, there = add_guardrail_once(before, entry)
            return text

        self._project_files().change(self._path, edit)
        return there
