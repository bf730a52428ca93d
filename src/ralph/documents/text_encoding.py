"""Decode the text of a file, and encode it again to the same bytes."""

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from contextlib import suppress
from typing import Final

import msgspec

MARKS: Final = ((BOM_UTF8, "utf-8"), (BOM_UTF16_LE, "utf-16-le"), (BOM_UTF16_BE, "utf-16-be"))


class EncodedText(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    codec: str = "utf-8"
    mark: bytes = b""
    """The bytes at the beginning of the file that only name its encoding."""

    def bytes_of(self, text: str) -> bytes:
        """The bytes of another text in the same encoding."""
        errors = "surrogateescape" if self.codec == "utf-8" else "strict"
        return self.mark + text.encode(self.codec, errors)


def decode_text(data: bytes) -> EncodedText:
    """The text of a file. Bytes that are no text are kept, so that encoding restores them."""
    for mark, codec in MARKS:
        if data.startswith(mark):
            with suppress(UnicodeDecodeError):
                return EncodedText(text=data[len(mark) :].decode(codec), codec=codec, mark=mark)
    text = data.decode("utf-8", "surrogateescape")
    if text.isascii() or any(char > "\x7f" and not _is_stray(char) for char in text):
        return EncodedText(text=text)
    # No letter beyond ASCII is valid UTF-8: an older editor wrote the file.
    return EncodedText(text=data.decode("latin-1"), codec="latin-1")


def readable(text: str) -> str:
    """The text with visible characters in place of those that databases and screens refuse."""
    if "\0" not in text and not any(map(_is_stray, text)):
        return text
    return "".join("\ufffd" if char == "\0" or _is_stray(char) else char for char in text)


def _is_stray(char: str) -> bool:
    """Whether this is a byte that was no text, or half of a letter."""
    return "\ud800" <= char <= "\udfff"
