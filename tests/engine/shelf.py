"""A world whose documents are files of its checkout."""

from collections.abc import Mapping
from pathlib import Path

from ralph.engine.kit import Kit
from ralph.testing.doubles import FakeLibrary, FakeWorkspace
from tests.engine.world import Fate, Mortal, World


class Shelf(FakeLibrary):
    """The files of the checkout."""

    def __init__(self, workspace: FakeWorkspace) -> None:
        self._workspace = workspace
        super().__init__()

    @property
    def pages(self) -> dict[str, str]:  # type: ignore[override]
        return self._workspace.files

    @pages.setter
    def pages(self, pages: dict[str, str]) -> None:
        pass


class Papered(World):
    """It begins with some files that are committed."""

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        super().__init__(folder)
        self.library = Shelf(self.workspace)
        for path, text in files.items():
            self.workspace.edit(path, text)
        self.workspace.commit_files("first", [*files])

    def kit(self, fate: Fate | None = None) -> Kit:
        """Whoever dies writes no more documents, either."""
        kit = super().kit(fate)
        kit.library = Mortal(self.library, fate or Fate())  # type: ignore[assignment]
        return kit
