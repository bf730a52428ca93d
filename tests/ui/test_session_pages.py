"""A session in pages: whatever its length, only some are in memory."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from ralph.core.agent_events import AgentEvent, Text, ToolUse
from ralph.ui.session_stream import CHUNK, find_bytes, read_page, read_page_before, start_of_line
from ralph.ui.watch.session_pages import KEPT, PAGE, LiveTail, LogPages

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Adds what a session said, and returns the log's name."""

    def add(*events: AgentEvent) -> str:
        with (tmp_path / "a.jsonl").open("ab") as file:
            file.writelines(msgspec.json.encode(event) + b"\n" for event in events)
        return str(tmp_path / "a.log")

    return add


def numbered(count: int, more: str = "x" * 200) -> list[Text]:
    return [Text(text=f"line {number} {more}") for number in range(count)]


def first_words(pages: LogPages) -> list[str]:
    return [" ".join(line.text.plain.split()[:2]) for line in pages.lines()]


def test_all_of_it_can_be_read_forward_and_backward(write: Write) -> None:
    count = 6 * KEPT * PAGE // 200
    pages = LogPages(write(*numbered(count)))
    for begin, go in ((pages.to_start, pages.forward), (pages.to_end, pages.backward)):
        begin()
        seen = {*first_words(pages)}
        while go() is not None:
            seen |= {*first_words(pages)}
            assert len(pages.lines()) < 2 * KEPT * PAGE // 200
        assert seen == {f"line {number}" for number in range(count)}


def test_what_leaves_at_one_end_is_counted(write: Write) -> None:
    pages = LogPages(write(*numbered(8 * PAGE // 200)))
    pages.to_start()
    for _ in range(KEPT + 1):
        before = pages.lines()
        left = pages.forward()
        assert left is not None
        assert pages.lines()[0] == before[left]
    before = pages.lines()
    came = pages.backward()
    assert came is not None
    assert pages.lines()[came] == before[0]


def test_a_session_at_work_adds_lines_and_no_pages(write: Write) -> None:
    pages = LogPages(write(*numbered(3)))
    pages.to_end()
    assert not pages.has_grown()
    for number in range(3 * KEPT):
        write(Text(text=f"more {number}"))
        assert pages.has_grown()
        assert pages.forward() == 0
    assert first_words(pages)[:4] == ["line 0", "line 1", "line 2", "more 0"]
    assert first_words(pages)[-1] == f"more {3 * KEPT - 1}"
    assert pages.forward() is None


def test_a_text_is_found_wherever_it_is(write: Write) -> None:
    many = numbered(8 * PAGE // 200)
    special = Text(text='the "quoted" Needle')
    pages = LogPages(write(special, *many, special, *many))
    pages.to_end()
    for way in (-1, -1, -1, 1, 1, 1):
        assert pages.find('"quoted" needle', way)
        assert first_words(pages)[0] == 'the "quoted"'
    assert not pages.find("no such thing", 1)
    assert not pages.find("no such thing", -1)


def test_what_only_the_file_has_is_not_found(write: Write) -> None:
    pages = LogPages(write(ToolUse(name="Bash", summary="ls", call="hidden-call")))
    pages.to_end()
    assert not pages.find("hidden-call", 1)


def test_lines_that_are_longer_than_a_page_are_left_out(write: Write) -> None:
    pages = LogPages(write(Text(text="first"), Text(text="y" * (3 * PAGE)), Text(text="last")))
    pages.to_end()
    seen = first_words(pages)
    while pages.backward() is not None:
        seen += first_words(pages)
    assert {"first", "last"} <= {*seen}
    pages.to_start()
    while pages.forward() is not None:
        pass
    assert first_words(pages)[-1] == "last"


def test_a_log_that_is_not_there_is_empty(tmp_path: Path) -> None:
    pages = LogPages(str(tmp_path / "none.log"))
    pages.to_end()
    assert pages.lines() == []
    assert pages.forward() is None
    assert pages.backward() is None
    assert not pages.has_grown()
    assert not pages.find("x", 1)
    assert LiveTail(str(tmp_path / "none.log")).more() == []


def test_pages_meet_at_lines(write: Write, tmp_path: Path) -> None:
    write(*numbered(100))
    path = str(tmp_path / "a.jsonl")
    size = (tmp_path / "a.jsonl").stat().st_size
    page = read_page_before(path, -1, 5000)
    assert page.next == size
    before = read_page_before(path, page.start, 5000)
    assert before.next == page.start
    assert [*before.events, *page.events] == read_page(path, before.start, size).events


def test_bytes_are_found_across_chunks(tmp_path: Path) -> None:
    path = tmp_path / "long"
    path.write_bytes(b"n" * (CHUNK - 3) + b"NEEDLE" + b"\n" * CHUNK + b"needle")
    for way, at in ((1, CHUNK - 3), (-1, 2 * CHUNK + 3)):
        assert find_bytes(str(path), "needle", 0, -1, way) == at
    assert find_bytes(str(path), "needle", 0, CHUNK, 1) == -1
    assert start_of_line(str(path), 2 * CHUNK + 3) == 2 * CHUNK + 3
    assert start_of_line(str(path), 10) == 0
