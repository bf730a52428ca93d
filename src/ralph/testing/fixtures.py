"""Fixtures for tests of agents: name this module in `pytest_plugins`."""

from collections.abc import Iterator

import pytest

from ralph.testing.model import ModelServer, RefusingProxy


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A scripted model. The test fails if an agent asks for more than its scripts hold, or if a
    script was not played to its end."""
    with ModelServer() as server:
        yield server
    server.check()


@pytest.fixture
def refusing_proxy() -> Iterator[RefusingProxy]:
    """A proxy for everything beyond this machine. The test fails if it is asked for anything."""
    with RefusingProxy() as proxy:
        yield proxy
    assert proxy.wanted == [], f"asked for beyond this machine: {proxy.wanted}"
