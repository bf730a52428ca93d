"""Both workspaces keep the promises of their port."""

from pathlib import Path

import pytest

from ralph.adapters.executor.clock import SystemClock
from ralph.adapters.executor.processes import Processes
from ralph.adapters.workspace.in_place import InPlace
from ralph.adapters.workspace.private import clone
from ralph.ports.workspace import Workspace
from ralph.testing.hands import Hands, a_project
from ralph.testing.workspace_contract import WorkspaceContract


@pytest.fixture
def project(tmp_path: Path) -> Hands:
    return a_project(tmp_path / "the project")


class TestInPlace(WorkspaceContract):
    @pytest.fixture
    def workspace(self, project: Hands) -> Workspace:
        return InPlace(Processes(SystemClock()), str(project.top))


class TestPrivateCheckout(WorkspaceContract):
    @pytest.fixture
    def workspace(self, project: Hands, tmp_path: Path) -> Workspace:
        return clone(
            Processes(SystemClock()),
            source_top=str(project.top),
            project_subdir="",
            commit=project.git("rev-parse", "HEAD").strip(),
            top=str(tmp_path / "checkouts/t-abc123"),
            name="t-abc123",
        )
