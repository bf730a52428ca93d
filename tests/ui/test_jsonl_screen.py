import io
import os
from pathlib import Path

import msgspec
from event_lists import FrozenClock, Said, play, the_story

from ralph.core import events
from ralph.ui.plain_screen import JsonLines

WHOLE = (Path(__file__).parent / "the_story.jsonl").read_text(encoding="utf-8")


def the_lines() -> str:
    stream = io.StringIO()
    json = JsonLines(stream)
    play(the_story(), json, FrozenClock())
    json.close()
    return stream.getvalue()


def test_the_whole_story_in_json_lines() -> None:
    assert the_lines() == WHOLE


def test_every_stored_event_is_a_line_and_can_be_read_back() -> None:
    recorded = [scene for scene in the_story() if not isinstance(scene, Said)]
    lines = the_lines().splitlines()

    assert [msgspec.json.decode(line)["seq"] for line in lines] == [one.seq for one in recorded]
    assert [events.DECODE(line) for line in lines] == [one.event for one in recorded]


def test_a_reader_that_goes_away_stops_nothing() -> None:
    reading, writing = os.pipe()
    stream = os.fdopen(writing, "w", encoding="utf-8")
    os.close(reading)

    play(the_story(), JsonLines(stream), FrozenClock())

    stream.close()
