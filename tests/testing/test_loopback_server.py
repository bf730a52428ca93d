"""A server that closes ends every connection, also one on which nothing was ever said."""

import contextlib
import socket
from urllib.parse import urlsplit

import pytest

from ralph.testing.model import ModelServer, RefusingProxy


@pytest.mark.parametrize("kind", [ModelServer, RefusingProxy])
def test_closing_does_not_wait_for_a_client_that_says_nothing(
    kind: type[ModelServer | RefusingProxy],
) -> None:
    with contextlib.ExitStack() as stack:
        with kind() as server:
            here = ("127.0.0.1", urlsplit(server.url).port or 0)
            clients = [
                stack.enter_context(socket.create_connection(here, timeout=20)) for _ in range(8)
            ]
        assert [_is_over(client) for client in clients] == [True] * 8


def _is_over(client: socket.socket) -> bool:
    try:
        return client.recv(1) == b""
    except ConnectionResetError:  # it had not been taken up yet
        return True
