"""Both workspaces keep the promises of their port."""

from pathlib import Path

import pytest

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.workspace.private_checkout import create_private_checkout
from ralph.adapters.workspace.user_checkout import UserCheckout
from ralph.ports.workspace import Workspace
from tests.contracts.workspace_contract import WorkspaceContract
from tests.git_user import GitUser, a_project


@pytest.fixture
def project(tmp_path: Path) -> GitUser:
    return a_project(tmp_path / "the project")


class TestInPlace(WorkspaceContract):
    @pytest.fixture
    def workspace(self, project: GitUser) -> Workspace:
        return UserCheckout(ProcessExecutor(SystemClock()), str(project.top))


class TestPrivateCheckout(WorkspaceContract):
    @pytest.fixture
    def workspace(self, project: GitUser, tmp_path: Path) -> Workspace:
        return create_private_checkout(
            UserCheckout(ProcessExecutor(SystemClock()), str(project.top)),
            project.git("rev-parse", "HEAD").strip(),
            str(tmp_path / "checkouts/t-abc123"),
            "t-abc123",
        )
