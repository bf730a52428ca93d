"""Serves the web page on a socket: bounded in connections and in patience."""

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS: Final = 400
"""Below the usual limit of 1,024 open files."""
REQUEST_S: Final = 10.0
"""How long a connection may be silent, or take to send the head of a request."""
SHUTDOWN_S: Final = 1


class BoundedConnection(H11Protocol):
    """Closes a connection that sends no whole request in time; makes room by closing the one that
    has waited longest."""

    _deadline: asyncio.TimerHandle | None = None
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_request()
        if len(self.connections) > MAX_CONNECTIONS:
            ours = (one for one in self.connections if isinstance(one, BoundedConnection))
            idle = [one for one in ours if one.is_idle]
            if idle:
                min(idle, key=lambda one: one._since).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        if not self.is_idle:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        self._await_request()
        super().on_response_complete()

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _await_request(self) -> None:
        self._stop_waiting()
        self._since = self.loop.time()
        self._deadline = self.loop.call_later(REQUEST_S, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def listen(host: str, port: int) -> socket.socket:
    """A socket that accepts connections; port 0 takes a free one. OSError if it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(128)
    except OSError:
        sock.close()
        raise
    return sock


def serve(app: ASGIApp, sock: socket.socket, on_start: Callable[[], None]) -> None:
    """Answer requests until SIGINT or SIGTERM; `on_start` is called when the first may come."""
    logging.getLogger("uvicorn.error").disabled = True
    config = uvicorn.Config(
        app,
        http=BoundedConnection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=int(REQUEST_S),
        timeout_graceful_shutdown=SHUTDOWN_S,
        h11_max_incomplete_event_size=32 * 1024,
    )
    server = uvicorn.Server(config)

    async def run() -> None:
        async with asyncio.TaskGroup() as tasks:
            serving = tasks.create_task(server.serve([sock]))
            while not server.started and not serving.done():
                await asyncio.sleep(0.01)
            if server.started:
                on_start()

    asyncio.run(run())
