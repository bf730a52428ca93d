"""A server on the loopback address that ends with everything it has opened."""

import contextlib
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class LoopbackServer(ThreadingHTTPServer):
    """Listens while its context lasts; no thread and no connection outlives it."""

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
        """Chosen by the system."""
        return int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """Known before its thread runs: closing must find every connection."""
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Its thread is done with it."""
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
