"""Bytes become blocks of whole lines, whatever the pieces they come in."""

from hypothesis import given
from hypothesis import strategies as st

from ralph.adapters.executor.child_process import LineBlocks


def cut(chunks: list[bytes], limit: int) -> list[bytes]:
    blocks: list[bytes] = []
    stream = LineBlocks(limit, blocks.append)
    for chunk in chunks:
        stream.feed(chunk)
    stream.flush()
    return blocks


def test_lines_of_one_chunk_come_as_one_block() -> None:
    assert cut([b"a\nb\nc\n"], 100) == [b"a\nb\nc\n"]


def test_an_unfinished_line_waits_for_its_end() -> None:
    assert cut([b"a\nb", b"b", b"b\nc\n"], 100) == [b"a\n", b"bbb\nc\n"]


def test_the_last_line_needs_no_newline() -> None:
    assert cut([b"a\nb"], 100) == [b"a\n", b"b"]


def test_an_overlong_line_comes_in_pieces_and_its_neighbours_whole() -> None:
    chunks = [b"a\nx", b"xxx", b"xxxx", b"xx\nb\n"]
    assert cut(chunks, 4) == [b"a\n", b"xxxx", b"xxxx", b"xx\nb\n"]


def test_a_line_of_just_the_limit_is_whole() -> None:
    assert cut([b"xx", b"x\nyyy\n"], 4) == [b"xxx\nyyy\n"]


def test_nothing_comes_of_nothing() -> None:
    assert cut([], 4) == []


some_bytes = st.binary(max_size=40) | st.text(alphabet="a\n", max_size=40).map(str.encode)


@given(st.lists(some_bytes, max_size=20), st.integers(1, 50))
def test_no_byte_is_lost_changed_or_moved(chunks: list[bytes], limit: int) -> None:
    assert b"".join(cut(chunks, limit)) == b"".join(chunks)


@given(st.lists(some_bytes, max_size=20), st.integers(1, 50))
def test_no_more_of_a_line_is_held_than_the_limit(chunks: list[bytes], limit: int) -> None:
    most = max([limit, *map(len, chunks)])
    for block in cut(chunks, limit):
        assert block
        assert all(len(part) <= most for part in block.split(b"\n"))


@given(st.lists(some_bytes, max_size=20))
def test_with_room_enough_every_block_but_the_last_ends_a_line(chunks: list[bytes]) -> None:
    assert all(block.endswith(b"\n") for block in cut(chunks, 1000)[:-1])


@given(st.lists(some_bytes, max_size=20), st.integers(1, 50))
def test_whole_lines_and_pieces_are_never_in_one_block(chunks: list[bytes], limit: int) -> None:
    # So that a reader knows by a block's last byte whether a line goes on in the next one.
    for block in cut(chunks, limit)[:-1]:
        assert block.endswith(b"\n") or b"\n" not in block
