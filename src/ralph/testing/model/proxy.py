"""A proxy that lets nothing through and remembers who was asked for: it proves silence."""

from http.server import BaseHTTPRequestHandler
from typing import Final, Self
from urllib.parse import urlsplit

from ralph.testing.model.listening import LoopbackServer

LOOPBACK: Final = "127.0.0.1,localhost,::1"


class RefusingProxy:
    """Give `environment()` to a program, and look at `wanted` when it has ended."""

    def __init__(self) -> None:
        self.wanted: list[str] = []
        """The hosts that were asked for, with their ports where they were given."""
        self._listener = _Listener(self)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._listener.port}"

    def environment(self) -> dict[str, str]:
        """Everything but this machine goes by way of the proxy."""
        names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
        found = dict.fromkeys(names, self.url) | {"NO_PROXY": LOOPBACK}
        return found | {name.lower(): value for name, value in found.items()}

    def __enter__(self) -> Self:
        self._listener.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.__exit__()


class _Listener(LoopbackServer):
    def __init__(self, proxy: RefusingProxy) -> None:
        super().__init__(_Handler)
        self.proxy = proxy


class _Handler(BaseHTTPRequestHandler):
    server: _Listener

    def __getattr__(self, name: str) -> object:
        # Whatever the method: a program might use any.
        if name.startswith("do_"):
            return self._refuse
        raise AttributeError(name)

    def _refuse(self) -> None:
        asked = self.path if self.command == "CONNECT" else urlsplit(self.path).netloc
        self.server.proxy.wanted.append(asked or self.path)
        self.send_error(403, "nothing leaves this machine")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing is printed."""
