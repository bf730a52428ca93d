"""A line to a server on a socket that can be cut, also right before or after a word is sent."""

import socket
import threading
from pathlib import Path


class CutLine:
    """Passes on what both sides send, in threads of its own."""

    def __init__(self, server: Path, here: Path) -> None:
        self._server = str(server)
        self._here = str(here)
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self.cut_before: bytes = b""
        """Cut the line, once, instead of passing on what holds these bytes."""
        self.cut_after: bytes = b""
        """Cut the line, once, when that was passed on: its answer is lost."""
        self.connections = 0
        self.restore()

    def restore(self) -> None:
        self._door = socket.socket(socket.AF_UNIX)
        Path(self._here).unlink(missing_ok=True)
        self._door.bind(self._here)
        self._door.listen()
        threading.Thread(target=self._accept, args=(self._door,), daemon=True).start()

    def cut(self) -> None:
        """Close all connections, and accept no others."""
        self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        Path(self._here).unlink()
        self._drop()

    def close(self) -> None:
        if Path(self._here).exists():
            self.cut()

    def _drop(self) -> None:
        while self._pairs:
            for one in self._pairs.pop():
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue

    def _accept(self, door: socket.socket) -> None:
        while True:
            try:
                client, _ = door.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._server)
            self.connections += 1
            self._pairs.append((client, server))
            for one, other, is_client in ((client, server, True), (server, client, False)):
                args = (one, other, is_client)
                threading.Thread(target=self._pass_on, args=args, daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket, is_client: bool) -> None:  # noqa: FBT001
        with one:
            while data := self._received(one):
                if is_client and self.cut_before and self.cut_before in data:
                    self.cut_before = b""
                    self._drop()
                    return
                is_last = is_client and bool(self.cut_after) and self.cut_after in data
                if is_last:
                    # No answer comes back: the other direction is closed first.
                    self.cut_after = b""
                    one.shutdown(socket.SHUT_RDWR)
                try:
                    other.sendall(data)
                except OSError:
                    return
                if is_last:
                    return
            try:
                other.shutdown(socket.SHUT_RDWR)
            except OSError:
                return

    def _received(self, one: socket.socket) -> bytes:
        try:
            return one.recv(1 << 16)
        except OSError:
            return b""
