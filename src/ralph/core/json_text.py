"""Encode and decode values as JSON, also with file names that are not valid UTF-8."""

from typing import Any, Final

import msgspec

NOT_JSON: Final = (msgspec.MsgspecError, ValueError, RecursionError)
"""What comes of a text that cannot be decoded: it is no JSON, no UTF-8, something else than was
expected, or nested without end."""

_encode = msgspec.json.Encoder().encode


def encode(value: Any) -> bytes:
    """JSON. A file's name that is not UTF-8 comes out escaped, and `decode` brings it back."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        import json

        return json.dumps(msgspec.to_builtins(value)).encode()


def decode(text: str, kind: Any) -> Any:
    """The value again. msgspec.DecodeError if the text is no JSON."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError as error:
        import json

        try:
            value = json.loads(text)
        except ValueError:
            raise error from None
        return msgspec.convert(value, kind)
