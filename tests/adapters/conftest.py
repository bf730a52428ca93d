"""Fixtures of several of these tests."""

import pytest

from ralph.core.session_environment import SESSION_GIT


@pytest.fixture
def as_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """What git does in the test, a session does."""
    for name, value in SESSION_GIT.items():
        monkeypatch.setenv(name, value)
