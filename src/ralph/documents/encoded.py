"""Text as it lies in a file: decoded to be read, and encoded again to the very same bytes."""

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from typing import Final

import msgspec

MARKS: Final = ((BOM_UTF8, "utf-8"), (BOM_UTF16_LE, "utf-16-le"), (BOM_UTF16_BE, "utf-16-be"))


class Encoded(msgspec.Struct, frozen=True, kw_only=True):
    """A text, and how to write it as it was written."""

    text: str
    codec: str = "utf-8"
    mark: bytes = b""
    """The bytes before it that only say how it is encoded."""

    def bytes_of(self, text: str) -> bytes:
        """Another text, written like this one."""
        errors = "surrogateescape" if self.codec == "utf-8" else "strict"
        return self.mark + text.encode(self.codec, errors)


def decode(data: bytes) -> Encoded:
    """The text of a file, whatever it is. Bytes that are no text survive as they are."""
    for mark, codec in MARKS:
        if data.startswith(mark):
            found = _strictly(data[len(mark) :], codec)
            if found is not None:
                return Encoded(text=found, codec=codec, mark=mark)
    text = data.decode("utf-8", "surrogateescape")
    if text.isascii() or any(char > "\x7f" and not _is_stray(char) for char in text):
        return Encoded(text=text)
    # Not one letter beyond ASCII is UTF-8: it was written by an older editor.
    return Encoded(text=data.decode("latin-1"), codec="latin-1")


def _strictly(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return None


def readable(text: str) -> str:
    """The text with what no database and no screen takes made visible."""
    if "\0" not in text and not any(map(_is_stray, text)):
        return text
    return "".join("\ufffd" if char == "\0" or _is_stray(char) else char for char in text)


def _is_stray(char: str) -> bool:
    """A byte that was no text, or half of a letter."""
    return "\ud800" <= char <= "\udfff"
