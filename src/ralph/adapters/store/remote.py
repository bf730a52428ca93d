"""The store as a session sees it: the running loop answers over its socket."""

import socket
from typing import Any

import msgspec

from ralph.core import errors
from ralph.ports.calls import Answer, Call, result


class RemoteStore:
    """Every method of the store becomes one call; what is not allowed comes back as an error."""

    def __init__(self, path: str, token: str) -> None:
        self._path = path
        self._token = token

    def __getattr__(self, method: str) -> Any:
        if method.startswith("_"):
            raise AttributeError(method)

        def call(*args: Any, **kwargs: Any) -> Any:
            return self._call(method, args, kwargs)

        return call

    def close(self) -> None:
        """Nothing is held open between calls."""

    def _call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        named = dict(zip(_names(method), args, strict=False)) | kwargs
        call = Call(token=self._token, method=method, args=msgspec.to_builtins(named))
        answer = msgspec.json.decode(self._ask(msgspec.json.encode(call) + b"\n"), type=Answer)
        if answer.error:
            kind = getattr(errors, answer.error, errors.RalphError)
            raise kind(answer.message, hint=answer.hint)
        return result(method, answer.value)

    def _ask(self, line: bytes) -> bytes:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
                door.settimeout(60.0)
                door.connect(self._path)
                door.sendall(line)
                answer = bytearray()
                while more := door.recv(1 << 20):
                    answer += more
        except OSError as error:
            raise errors.Unavailable(
                f"the loop that started this session does not answer: {error}",
                hint="outside a session, unset RALPH_SOCKET",
            ) from error
        if not answer:
            raise errors.Unavailable("the loop that started this session has closed its door")
        return bytes(answer)


def _names(method: str) -> list[str]:
    from ralph.ports.calls import hints

    return [name for name in hints(method) if name != "return"]
