"""What every test of the control socket needs."""

from collections.abc import Iterator

import pytest

from tests.inside.socket_session import SocketWorld


@pytest.fixture
def world() -> Iterator[SocketWorld]:
    made = SocketWorld()
    yield made
    made.control_socket.close()
    made.executor.close()
