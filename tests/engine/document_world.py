"""A world whose documents are files of its checkout."""

from collections.abc import Mapping
from pathlib import Path

from ralph.ports.project_files import ProjectFiles
from tests.doubles import FakeProjectFiles, FakeWorkspace
from tests.engine.world import CrashingPart, CrashPoint, World


class CheckoutFiles(FakeProjectFiles):
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


class DocumentWorld(World):
    """It begins with some files that are committed."""

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        super().__init__(folder)
        self.project_files = CheckoutFiles(self.workspace)
        for path, text in files.items():
            self.workspace.edit(path, text)
        self.workspace.commit_files("first", [*files])

    def project_files_for(self, crash_point: CrashPoint) -> ProjectFiles:
        """Whoever dies writes no more documents, either."""
        return CrashingPart(self.project_files, crash_point)  # type: ignore[return-value]
