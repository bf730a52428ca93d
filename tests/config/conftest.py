"""A project on disk, and its settings."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from ralph.config.load import load_config
from ralph.config.project import Project


class ProjectFolder:
    """A folder with a `.ralph.toml`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.write(".ralph.toml", "")

    def write(self, name: str, text: str | bytes) -> None:
        """Write a file below the project's folder."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    def load(
        self,
        toml: str | bytes | None = None,
        environ: Mapping[str, str] | None = None,
        flags: Mapping[str, object] | None = None,
    ) -> Project:
        """The settings, after writing `.ralph.toml` when its text is given."""
        if toml is not None:
            self.write(".ralph.toml", toml)
        return load_config(str(self.path), environ or {}, flags or {})


@pytest.fixture
def project(tmp_path: Path) -> ProjectFolder:
    return ProjectFolder(tmp_path / "project")
