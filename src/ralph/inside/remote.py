"""The store as a session sees it: the running loop answers over its socket."""

from typing import Any

import msgspec

from ralph.core import errors
from ralph.inside.knock import Shut, send
from ralph.ports.calls import Answer, Call, hints, result


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
        try:
            said = send(self._path, msgspec.json.encode(call) + b"\n")
        except Shut as shut:
            hint = "outside a session, unset RALPH_SOCKET"
            raise errors.Unavailable(str(shut), hint=hint) from shut
        answer = msgspec.json.decode(said, type=Answer)
        if answer.error:
            kind = getattr(errors, answer.error, errors.RalphError)
            raise kind(answer.message, hint=answer.hint)
        return result(method, answer.value)


def _names(method: str) -> list[str]:
    return [name for name in hints(method) if name != "return"]
