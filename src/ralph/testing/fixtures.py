"""Fixtures for tests of agents: name this module in `pytest_plugins`."""

from collections.abc import Iterator

import pytest

from ralph.testing.model import ModelServer, RefusingProxy


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A scripted model. Asking for more than its scripts hold fails the test, and so does a script
    that was not played to its end."""
    with ModelServer() as server:
        yield server
    server.check()


@pytest.fixture
def refusing_proxy() -> Iterator[RefusingProxy]:
    """A proxy for everything beyond this machine. Being asked for anything fails the test."""
    with RefusingProxy() as proxy:
        yield proxy
    assert proxy.wanted == [], f"asked for beyond this machine: {proxy.wanted}"
