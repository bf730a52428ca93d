"""JSON lines from a program: fast where they are sound, patient where they are not."""

import re
from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Any, Final, Generic, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, Raw, Struct

from ralph.core.agent_events import Unknown

UNKNOWN_CHARS: Final = 2000
UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

NOISE: Final = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])"
    rb"|[\x00-\x08\x0b-\x1f]|\xef\xbb\xbf"
)
"""Colors, titles, control characters, byte order marks: JSON holds none of them unescaped."""

ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)
"""One escape of a JSON text. The group is half a surrogate pair: what is left of an emoji when a
program cuts a text in the middle of it."""

Kind = TypeVar("Kind", bound=Struct)

_decode = msgspec.json.decode


class Lines(Generic[Kind]):
    """Reads lines of several kinds, told apart by the tag of their struct.

    The fields of a kind are what is wanted of it, and all have defaults. Whatever else a line
    holds is skipped; a field of the wrong type counts as missing.
    """

    def __init__(self, *kinds: type[Kind]) -> None:
        # Of the whole block in one call: nothing is done for each line but what it costs in C.
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Union[kinds])  # noqa: UP007
        self._by_tag = {kind.__struct_config__.tag: kind for kind in kinds}

    def read(self, block: bytes) -> Sequence[Kind | Unknown]:
        """What each line is; `Unknown` where it is none of the kinds. Never raises."""
        try:
            lines: list[Kind | Unknown] = self._decoder.decode_lines(block)
        except UNREADABLE:
            lines = [self._read(line) for line in block.splitlines() if line.strip()]
        return lines

    def _read(self, line: bytes) -> Kind | Unknown:
        found: Kind
        try:
            found = self._decoder.decode(line)
            return found
        except UNREADABLE:
            text = _mended(line)
        if text != line:
            try:
                found = self._decoder.decode(text)
                return found
            except UNREADABLE:
                pass
        try:
            there = _decode(text, type=dict[str, Raw])
            kind = self._by_tag.get(_decode(there.get("type", b"0"), type=str))
            if kind is not None:
                return _filled(there, kind)
        except UNREADABLE:
            pass
        return Unknown(line=text[: 4 * UNKNOWN_CHARS].decode("utf-8", "replace")[:UNKNOWN_CHARS])


def salvage(data: bytes, kind: type[Kind]) -> Kind:
    """A struct from a JSON text, with defaults for what is missing or wrong. Never raises."""
    try:
        return _filled(_decode(data, type=dict[str, Raw]), kind)
    except UNREADABLE:
        return kind()


def _mended(line: bytes) -> bytes:
    text = NOISE.sub(b"", line).strip()
    text = ESCAPE.sub(lambda found: b"\\ufffd" if found[1] else found[0], text)
    return text.decode("utf-8", "replace").encode()


def _filled(there: Mapping[str, Raw], kind: type[Kind]) -> Kind:
    """The struct without the fields that are not what they should be."""
    found = {}
    for field in msgspec.structs.fields(kind):
        if field.encode_name in there:
            value = _value(there[field.encode_name], field.type)
            if value is not UNSET:
                found[field.name] = value
    return kind(**found)


def _value(data: Raw, kind: Any) -> Any:
    try:
        return _decode(data, type=kind)
    except UNREADABLE:
        pass
    for option in get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,):
        try:
            return _parts(data, option)
        except UNREADABLE:
            pass
    return UNSET


def _parts(data: Raw, kind: Any) -> Any:
    """What can be had of something that has parts."""
    if get_origin(kind) is list:
        values = (_value(one, get_args(kind)[0]) for one in _decode(data, type=list[Raw]))
        return [value for value in values if value is not UNSET]
    if get_origin(kind) is dict:
        pairs = _decode(data, type=dict[str, Raw]).items()
        named = ((name, _value(one, get_args(kind)[1])) for name, one in pairs)
        return {name: value for name, value in named if value is not UNSET}
    if isinstance(kind, type) and issubclass(kind, Struct):
        return _filled(_decode(data, type=dict[str, Raw]), kind)
    raise msgspec.ValidationError("it has no parts")
