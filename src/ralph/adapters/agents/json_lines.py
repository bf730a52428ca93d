"""Read an agent's output: JSON lines, also damaged ones, and values that several agents share."""

import functools
import operator
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import UnionType
from typing import Any, Final, Generic, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, Raw, Struct

from ralph.core.agent_events import TokenUsage, ToolResult, UnknownLine
from ralph.core.safe_text import one_line

UNKNOWN_CHARS: Final = 2000
MOST: Final = 2**53
"""A number beyond this is neither a count nor an amount."""
SUMMARY_CHARS: Final = 300
RESULT_CHARS: Final = 2000
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

COMMENT: Final = re.compile(rb"^\s*//.*$", re.MULTILINE)

_decode = msgspec.json.decode


class JsonPart(Struct, frozen=True, gc=False):
    """A line of an agent's output, or a part of one. It declares the fields that Ralph reads, each
    with a default: other fields are skipped, and a field of the wrong type counts as missing.

    What is often null says so in its type: a wrong type is survived, but costs time.
    """


class JsonLineReader(Generic[Kind]):
    """Reads lines of several kinds, which the tag of their struct tells apart."""

    def __init__(self, kinds: UnionType) -> None:
        # Of the whole block in one call: nothing is done for each line but what it costs in C.
        self._decoder: msgspec.json.Decoder[Kind] = msgspec.json.Decoder(kinds)
        self._by_tag: dict[str, type[Kind]] = {
            kind.__struct_config__.tag: kind for kind in get_args(kinds)
        }
        self._tag_field = get_args(kinds)[0].__struct_config__.tag_field

    def read(self, block: bytes) -> Sequence[Kind | UnknownLine]:
        """Return each line as its kind, or as an UnknownLine. Never raises."""
        try:
            return self._decoder.decode_lines(block)
        except UNREADABLE:
            return [self._read(line) for line in block.splitlines() if line.strip()]

    def _read(self, line: bytes) -> Kind | UnknownLine:
        with suppress(*UNREADABLE):
            return self._decoder.decode(line)
        text = _repaired(line)
        with suppress(*UNREADABLE):
            return self._decoder.decode(text)
        with suppress(*UNREADABLE):
            there = _decode(text, type=dict[str, Raw])
            kind = self._by_tag.get(_decode(there.get(self._tag_field, b"0"), type=str))
            if kind is not None:
                return _filled(there, kind)
        shown = text[: 4 * UNKNOWN_CHARS].decode("utf-8", "replace")
        return UnknownLine(line=shown[:UNKNOWN_CHARS])


def silent_kinds(*tags: str) -> Any:
    """Kinds of lines that mean nothing to Ralph, to be joined with the others. They are read as
    objects that no case matches, so that they are not unknown lines."""
    kinds = (msgspec.defstruct("SilentLine", [], bases=(JsonPart,), tag=tag) for tag in tags)
    return functools.reduce(operator.or_, kinds)


def without_comments(data: bytes) -> bytes:
    """A JSON text without the lines that are comments."""
    return COMMENT.sub(b"", data)


def decode_leniently(data: bytes, kind: type[Kind]) -> Kind:
    """A struct from a JSON text, with defaults for what is missing or wrong. Never raises."""
    try:
        return _filled(_decode(data, type=dict[str, Raw]), kind)
    except UNREADABLE:
        return kind()


def _repaired(line: bytes) -> bytes:
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
    with suppress(*UNREADABLE):
        return _decode(data, type=kind)
    for option in get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,):
        with suppress(*UNREADABLE):
            return _parts(data, option)
    return UNSET


def _parts(data: Raw, kind: Any) -> Any:
    """What can be had of something that has parts."""
    sequence = get_origin(kind)
    if sequence in (list, tuple):
        values = (_value(one, get_args(kind)[0]) for one in _decode(data, type=list[Raw]))
        return sequence(value for value in values if value is not UNSET)
    if get_origin(kind) is dict:
        pairs = _decode(data, type=dict[str, Raw]).items()
        named = ((name, _value(one, get_args(kind)[1])) for name, one in pairs)
        return {name: value for name, value in named if value is not UNSET}
    if isinstance(kind, type) and issubclass(kind, Struct):
        return _filled(_decode(data, type=dict[str, Raw]), kind)
    raise msgspec.ValidationError("it has no parts")


def plausible(number: float | None) -> float | None:
    """An amount that an agent reports; None if it is missing or cannot be true."""
    return number if number is not None and 0 <= number <= MOST else None


def plausible_count(number: int | None) -> int | None:
    return number if plausible(number) is not None else None


def tokens(*numbers: int | None) -> int:
    """The sum of the counts that are plausible."""
    return sum(plausible_count(number) or 0 for number in numbers)


def tool_result(call: str, text: str, *, error: bool, keep_end: bool = True) -> ToolResult:
    """The answer of a tool, shortened. Programs say at the end of their output what is wrong."""
    kept = text[-RESULT_CHARS:] if keep_end else text[:RESULT_CHARS]
    return ToolResult(call=call, text=kept, cut=len(text) - len(kept), error=error)


class _Input(JsonPart, frozen=True):
    """The fields that say most about a call, the most telling first."""

    command: str = ""
    file_path: str = ""
    notebook_path: str = ""
    pattern: str = ""
    patterns: str | tuple[str, ...] = ""
    url: str = ""
    query: str = ""
    directory_path: str = ""
    path: str = ""
    description: str = ""
    skill: str = ""
    prompt: str = ""


_decode_input = msgspec.json.Decoder(_Input).decode


def tool_summary(given: Raw) -> str:
    """The input of a tool in one line: the command, the file, the pattern, otherwise as it is."""
    raw = bytes(given)
    if raw == b"{}":
        return ""
    try:
        shown = next(filter(None, msgspec.structs.astuple(_decode_input(raw))), "")
    except UNREADABLE:
        shown = ""
    if isinstance(shown, tuple):
        shown = " ".join(shown)
    return one_line(shown or raw[: 4 * SUMMARY_CHARS].decode("utf-8", "replace"), SUMMARY_CHARS)


class TextPart(JsonPart, frozen=True):
    text: str = ""


class MessagePart(JsonPart, frozen=True):
    message: str = ""


class RequestTokens(JsonPart, frozen=True):
    """Tokens. `input_tokens` leaves out what was read from the cache or written into it."""

    input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def usage(self) -> TokenUsage:
        cached = tokens(self.cache_read_input_tokens)
        return TokenUsage(
            input_tokens=tokens(self.input_tokens, self.cache_creation_input_tokens) + cached,
            cached_tokens=cached,
            output_tokens=tokens(self.output_tokens),
        )
