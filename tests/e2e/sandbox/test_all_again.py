"""What holds for any run holds in the sandbox: all of the same tests, which takes its time."""

import pytest

from tests.e2e.conftest import Project
from tests.e2e.test_own_state import *  # noqa: F403
from tests.e2e.test_run import *  # noqa: F403

pytestmark = pytest.mark.soak


@pytest.fixture
def project(sandboxed: Project) -> Project:
    return sandboxed
