"""The clients of the control socket. Their number, buffers and time are bounded."""

import errno
import resource
import socket
import time
from collections.abc import Callable
from typing import Final

from ralph.inside.socket_client import LONGEST
from ralph.ports.executor import Executor

MOST: Final = 128
"""Connections at a time. Further clients wait in the kernel's queue."""
SHARE: Final = 4
"""One file descriptor in so many is for clients; the loop keeps the others."""
REQUEST_S: Final = 10.0
"""How long a client may take to send its request."""
ANSWER_S: Final = 30.0
"""How long a client may take to read its answer."""
CROWDED_S: Final = 0.25
"""A client that neither sends nor reads anything for so long makes room when others wait."""
HELD_BYTES: Final = 64 * 1024 * 1024
"""Requests that are incomplete and answers that are unread, of all clients together."""
RECEIVE_BYTES: Final = 1 << 20
NOT_ONE_MORE: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class SocketClient:
    def __init__(self, connection: socket.socket, now: float) -> None:
        self.connection = connection
        self.received = bytearray()
        self.unread = memoryview(b"")
        self.since = now
        self.until = now + REQUEST_S

    @property
    def held(self) -> int:
        return len(self.received) + len(self.unread)


class SocketClients:
    """All connections, served in the loop's own thread without ever blocking it."""

    def __init__(
        self, server: socket.socket, executor: Executor, answer: Callable[[bytes, int], bytes]
    ) -> None:
        """`answer` gets a request and how many bytes other clients have not read yet."""
        self._server = server
        self._executor = executor
        self._answer = answer
        self._clients: dict[int, SocketClient] = {}
        """By file descriptor, the oldest first."""
        self._is_listening = False
        self.most = min(MOST, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // SHARE)
        self.now: Callable[[], float] = time.monotonic
        self._listen()

    def __len__(self) -> int:
        return len(self._clients)

    @property
    def held(self) -> int:
        return sum(client.held for client in self._clients.values())

    def drop_late(self) -> None:
        """Drop clients that took too long. Called at every tick of the loop."""
        now = self.now()
        for fd, client in list(self._clients.items()):
            if now >= client.until:
                self._drop(fd)
        self._listen()

    def drop_all(self) -> None:
        for fd in list(self._clients):
            self._drop(fd)

    def close(self) -> None:
        self.drop_all()
        if self._is_listening:
            self._executor.unwatch(self._server.fileno())
        self._server.close()

    def _listen(self) -> None:
        if not self._is_listening:
            self._is_listening = True
            self._executor.watch(self._server.fileno(), self._accept)

    def _accept(self) -> None:
        # All that wait, not one at a time: an agent may use many tools at once.
        for _ in range(self.most):
            if len(self._clients) >= self.most and not self._make_room():
                break
            try:
                connection, _ = self._server.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno not in NOT_ONE_MORE:
                    continue  # that one has gone already
                if self._make_room():
                    continue
                break
            connection.settimeout(0)
            fd = connection.fileno()
            self._clients[fd] = SocketClient(connection, self.now())
            self._executor.watch(fd, lambda fd=fd: self._receive(fd))  # type: ignore[misc]
        else:
            return  # the next turn goes on
        # Until a client leaves or the next tick comes, so that waiting clients cost no time.
        self._is_listening = False
        self._executor.unwatch(self._server.fileno())

    def _make_room(self) -> bool:
        """Drop the oldest client that neither sends nor reads, if there is one."""
        now = self.now()
        for fd, client in self._clients.items():
            if now - client.since >= CROWDED_S:
                self._drop(fd)
                return True
        return False

    def _drop(self, fd: int) -> None:
        client = self._clients.pop(fd)
        self._executor.unwatch(fd)
        client.connection.close()

    def _receive(self, fd: int) -> None:
        client = self._clients[fd]
        try:
            more = client.connection.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            more = b""
        client.received += more
        client.since = self.now()
        if not more or len(client.received) > LONGEST or self.held > HELD_BYTES:
            self._leave(fd)
        elif more.endswith(b"\n"):
            request, client.received = bytes(client.received), bytearray()
            while self.held > HELD_BYTES // 2 and self._make_room():
                pass
            client.unread = memoryview(self._answer(request, self.held))
            client.until = self.now() + ANSWER_S
            self._executor.unwatch(fd)
            # Most answers fit into the socket's buffer and need no turn of the loop.
            self._send(fd)
            if fd in self._clients:
                self._executor.watch(fd, lambda: self._send(fd), writing=True)

    def _send(self, fd: int) -> None:
        client = self._clients[fd]
        try:
            client.unread = client.unread[client.connection.send(client.unread) :]
        except BlockingIOError:
            return
        except OSError:
            client.unread = memoryview(b"")
        client.since = self.now()
        if not client.unread:
            self._leave(fd)

    def _leave(self, fd: int) -> None:
        self._drop(fd)
        self._listen()
