"""Servers on the loopback address: one to build on, and a proxy that lets nothing through."""

import contextlib
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self
from urllib.parse import urlsplit

LOOPBACK: Final = "127.0.0.1,localhost,::1"


class LoopbackServer(ThreadingHTTPServer):
    """Listens in its context; no thread and no connection outlives that."""

    # Closing waits for the threads, so that no test finds those of another.
    daemon_threads = False
    # An agent may open many connections at once.
    request_queue_size = 128

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self._open: set[socket.socket] = set()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection before its thread runs, so that closing finds it."""
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        for connection in list(self._open):
            with contextlib.suppress(OSError):  # the other side was faster
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()


class RefusingProxy(LoopbackServer):
    """Proves that a program asked for nothing beyond this machine: give it `environment()`, and
    look at `wanted` when it has ended."""

    def __init__(self) -> None:
        super().__init__(_RefusingHandler)
        self.wanted: list[str] = []
        """The hosts that were asked for, with their ports if these were given."""

    def environment(self) -> dict[str, str]:
        """Return the variables that send everything but this machine to the proxy."""
        names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
        found = dict.fromkeys(names, self.url) | {"NO_PROXY": LOOPBACK}
        return found | {name.lower(): value for name, value in found.items()}


class _RefusingHandler(BaseHTTPRequestHandler):
    server: RefusingProxy

    def __getattr__(self, name: str) -> object:
        # A program may use any method.
        if name.startswith("do_"):
            return self._refuse
        raise AttributeError(name)

    def _refuse(self) -> None:
        asked = self.path if self.command == "CONNECT" else urlsplit(self.path).netloc
        self.server.wanted.append(asked or self.path)
        self.send_error(403, "nothing leaves this machine")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing."""
