"""What the project's files say to a session: read anew each time, since people edit them."""

from collections.abc import Callable
from typing import Final

from ralph.core.brief import Telling
from ralph.core.errors import UnusableData
from ralph.core.shelf import Document, Guardrail, Shelf, Skill
from ralph.core.task import Feature
from ralph.documents import guardrails, skills
from ralph.documents.feature_files import can_name_a_folder, plan_of, spec_of
from ralph.ports.library import Library

MOST_SKILLS: Final = 100
"""More than anybody wants to read; each of them is a file to open."""


class Reader:
    """Reads the shelf, and remembers the last guardrails that could be read."""

    def __init__(self, library: Library, lessons: str = guardrails.PATH) -> None:
        self._library = library
        self._path = lessons
        self._guardrails: tuple[Guardrail, ...] = ()

    def shelf(self, feature: Feature | None, telling: Telling) -> Shelf:
        """Everything that is there for a task of this feature. What cannot be read is skipped, and
        said."""
        troubles: list[str] = []
        return Shelf(
            spec=self.spec(feature, troubles),
            plan=self.plan(feature, troubles),
            skills=self._skills(troubles),
            guardrails=self._lessons(troubles) if telling.memory else (),
            references=self._references(telling),
            troubles=tuple(troubles),
        )

    def spec(self, feature: Feature | None, troubles: list[str]) -> Document | None:
        """What the feature is to be."""
        if feature is None:
            return None
        return self._document(feature.spec_path or _usual(feature, spec_of), troubles)

    def plan(self, feature: Feature | None, troubles: list[str]) -> Document | None:
        """How it is to be made."""
        if feature is None:
            return None
        return self._document(feature.plan_path or _usual(feature, plan_of), troubles)

    def _document(self, path: str, troubles: list[str]) -> Document | None:
        if not path:
            return None
        page = self._library.read(path)
        if page.trouble:
            troubles.append(page.trouble)
        return None if page.text is None else Document(path=path, text=page.text)

    def _skills(self, troubles: list[str]) -> tuple[Skill, ...]:
        names = self._library.folders(skills.FOLDER)
        if len(names) > MOST_SKILLS:
            troubles.append(f"{skills.FOLDER} has {len(names)} skills; {MOST_SKILLS} are looked at")
        found = []
        for name in names[:MOST_SKILLS]:
            document = self._document(skills.path_of(name), troubles)
            try:
                if document is not None:
                    found.append(skills.read(name, document.text))
            except UnusableData as wrong:
                troubles.append(f"skill {skills.path_of(name)} is skipped: {wrong}")
        return tuple(found)

    def _lessons(self, troubles: list[str]) -> tuple[Guardrail, ...]:
        page = self._library.read(self._path)
        if page.trouble:
            # Better the lessons of yesterday than none.
            troubles.append(page.trouble)
        else:
            self._guardrails = guardrails.read(page.text or "")
        return self._guardrails

    def _references(self, telling: Telling) -> tuple[str, ...]:
        folders = [folder.rstrip("/") for folder in telling.specs if folder.strip()]
        return tuple(
            f"{folder}/{name}" for folder in folders for name in self._library.files(folder, ".md")
        )


def _usual(feature: Feature, place: Callable[[str], str]) -> str:
    """Where such a document is, if nobody has said anything else; nowhere for a feature whose name
    is none for a folder."""
    return place(feature.name) if can_name_a_folder(feature.name) else ""
