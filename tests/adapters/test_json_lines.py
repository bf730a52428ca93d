"""JSON lines, sound and unsound."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.adapters.agents.json_lines import UNKNOWN_CHARS, JsonLineReader
from ralph.core.agent_events import UnknownLine


class Inner(msgspec.Struct, frozen=True):
    text: str = ""
    number: int = 0


class Said(msgspec.Struct, frozen=True, tag="said"):
    text: str = ""
    inner: Inner | None = None
    many: list[Inner] = []
    named: dict[str, int] = {}
    either: str | list[Inner] = ""


class Done(msgspec.Struct, frozen=True, tag="done"):
    ok: bool | None = None


Line = Said | Done
LINES: JsonLineReader[Line] = JsonLineReader(Line)


def read(*lines: object) -> list[Any]:
    texts = (one if isinstance(one, bytes) else json.dumps(one).encode() for one in lines)
    return list(LINES.read(b"\n".join(texts)))


def test_lines_are_told_apart_by_their_tag_wherever_it_stands() -> None:
    assert read({"type": "said", "text": "hi"}, {"ok": True, "more": [1], "type": "done"}) == [
        Said(text="hi"),
        Done(ok=True),
    ]


def test_one_bad_line_does_not_cost_its_neighbors() -> None:
    bad = b'{"type":"said","text":"half'
    assert read({"type": "done"}, bad, {"type": "done"}) == [
        Done(),
        UnknownLine(line=bad.decode()),
        Done(),
    ]


@pytest.mark.parametrize("line", [b"[]", b"1", b"null", b'"said"', b"{}", b'{"type":["said"]}'])
def test_json_that_is_no_known_object_is_unknown(line: bytes) -> None:
    assert read(line) == [UnknownLine(line=line.decode())]


def test_a_kind_that_nobody_knows_is_unknown_and_kept_in_part() -> None:
    (found,) = read({"type": "sung", "text": "x" * 100_000})
    assert isinstance(found, UnknownLine)
    assert len(found.line) == UNKNOWN_CHARS


@pytest.mark.parametrize(
    ("field", "value", "left"),
    [
        ("text", 5, Said()),
        ("inner", {"text": 5, "number": 3}, Said(inner=Inner(number=3))),
        ("inner", "no", Said()),
        ("many", [{"text": "a"}, 5, {"text": []}], Said(many=[Inner(text="a"), Inner()])),
        ("named", {"a": 1, "b": "no"}, Said(named={"a": 1})),
        ("either", [{"number": "no"}], Said(either=[Inner()])),
        ("either", 5, Said()),
        ("named", {"a": 1e400}, Said()),
    ],
)
def test_a_field_of_the_wrong_type_counts_as_missing(field: str, value: object, left: Said) -> None:
    text = json.dumps({"type": "said", field: value}).replace("Infinity", "1e999").encode()
    assert read(text) == [left]


@pytest.mark.parametrize(
    "line",
    [
        b'\x1b[2K\x1b[32m{"type":"said","text":"hi"}\x1b[0m',
        b'\x1b]0;a title\x07{"type":"said","text":"hi"}\x1b[?25h',
        b'\xef\xbb\xbf{"type":"said","text":"hi"}\x00',
        b'{"type":"said",\x1b[1m"text":"hi"}',
        b'spinning\r{"type":"said","text":"hi"}',
    ],
)
def test_noise_of_a_terminal_is_taken_away(line: bytes) -> None:
    assert read(line)[-1] == Said(text="hi")


def test_bytes_that_are_not_utf8_are_replaced() -> None:
    assert read(b'{"type":"said","text":"a\xffb"}') == [Said(text="a\ufffdb")]


def test_half_of_a_surrogate_pair_is_replaced_and_a_whole_one_stays() -> None:
    line = rb'{"type":"said","text":"\ud83d \ud83d\ude00 \\ud83d \ude00"}'
    assert read(line) == [Said(text="\ufffd \U0001f600 \\ud83d \ufffd")]


def test_nesting_without_end_is_unknown() -> None:
    deep = b'{"type":"said","inner":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert isinstance(read(deep)[0], UnknownLine)


WORDS = st.sampled_from(["", "text", "type", "circle", "\u00e9\U0001f600"])
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@given(
    fields=st.dictionaries(
        st.sampled_from(["text", "inner", "many", "named", "either", "other"]), JSON
    )
)
def test_whatever_its_fields_hold_a_line_stays_what_it_is(fields: dict[str, Any]) -> None:
    (found,) = read(json.dumps({"type": "said", **fields}).encode())
    assert isinstance(found, Said)
    if isinstance(text := fields.get("text"), str):
        assert found.text == text


@given(block=st.binary(max_size=200))
def test_reading_never_raises(block: bytes) -> None:
    LINES.read(b'{"type":"said","text":"' + block + b'"}\n' + block)
