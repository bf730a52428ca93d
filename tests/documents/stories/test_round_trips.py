"""Whatever a PRD looks like: writing back moves the boxes, and not a byte elsewhere."""

from hypothesis import assume, given
from hypothesis import strategies as st

from ralph.documents.prd import Prd, all_boxes, read_prd, with_boxes
from ralph.documents.prd_changes import Ticks, boxes_after, boxes_between, damage, ticks
from ralph.documents.text_encoding import decode_text, readable
from tests.documents.stories.writing import SCRAPS, documents

Told = list[tuple[str, bool, list[bool]]]


def states(prd: Prd) -> Told:
    return [
        (story.id, story.is_ticked, [one.box.ticked for one in story.criteria])
        for story in prd.stories
    ]


def boxes(prd: Prd) -> list[int]:
    return [box.at for story in prd.stories for box in all_boxes(story)]


@given(documents())
def test_the_stories_that_were_written_are_read(document: tuple[str, Told]) -> None:
    text, output = document
    assert states(read_prd(text)) == output


@given(SCRAPS)
def test_anything_can_be_read_and_every_box_is_one(text: str) -> None:
    for at in boxes(read_prd(text)):
        assert (text[at - 1], text[at + 1]) == ("[", "]")
        assert text[at] in "xX" or text[at].isspace()


@given(SCRAPS | documents().map(lambda one: one[0]), st.data())
def test_any_boxes_can_be_moved_and_nothing_else_is(text: str, data: st.DataObject) -> None:
    prd = read_prd(text)
    wanted = {at: data.draw(st.booleans()) for at in boxes(prd) if data.draw(st.booleans())}
    after = with_boxes(text, wanted)
    now = read_prd(after)
    assert len(after) == len(text)
    assert {at for at in range(len(text)) if text[at] != after[at]} <= wanted.keys()
    assert boxes(now) == boxes(prd)
    for story in now.stories:
        for box in all_boxes(story):
            assert box.ticked is wanted.get(box.at, not text[box.at].isspace())
    assert [(one.id, one.title, one.body) for one in now.stories] == [
        (one.id, one.title, one.body) for one in prd.stories
    ]


@given(SCRAPS | documents().map(lambda one: one[0]))
def test_boxes_that_are_right_stay_as_they_are(text: str) -> None:
    prd = read_prd(text)
    right = {box.at: box.ticked for story in prd.stories for box in all_boxes(story)}
    assert with_boxes(text, right) == text


@given(st.binary() | SCRAPS.map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_file_is_written_back_byte_for_byte(data: bytes) -> None:
    found = decode_text(data)
    assert found.bytes_of(found.text) == data
    assert readable(found.text).encode() or not found.text


@given(
    documents(),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]),
    st.data(),
)
def test_ticking_keeps_the_encoding(
    document: tuple[str, Told], codec: str, data: st.DataObject
) -> None:
    text = document[0]
    assume(codec != "latin-1" or all(char < "\u0100" for char in text))
    found = decode_text(text.encode(codec))
    # Letters of an older encoding may happen to be UTF-8.
    assume(found.text == text)
    wanted = {at: data.draw(st.booleans()) for at in boxes(read_prd(found.text))}
    ticked = with_boxes(found.text, wanted)
    assert found.bytes_of(ticked).decode(codec) == ticked


@given(documents(), documents(), st.data())
def test_whatever_a_session_ticks_only_the_store_says_what_is_done(
    first: tuple[str, Told], second: tuple[str, Told], data: st.DataObject
) -> None:
    before = read_prd(first[0])
    after = first[0] if data.draw(st.booleans()) else second[0]
    moved = {at: data.draw(st.booleans()) for at in boxes(read_prd(after))}
    now = read_prd(with_boxes(after, moved))
    names = [story.id for story in now.stories]
    assume(names)
    done = frozenset(name for name in names if data.draw(st.booleans()))
    current = data.draw(st.sampled_from(names))
    text = with_boxes(now.text, boxes_after(now, before, done, current))
    written = read_prd(text)
    assert {story.id for story in written.stories if story.is_ticked} == done
    # Once is enough, and nothing that is left says anything.
    assert with_boxes(text, boxes_after(written, written, done, current)) == text
    assert with_boxes(text, boxes_between(written, written, done)) == text
    assert ticks(written, written, current) == Ticks()


@given(documents(), st.data())
def test_ticks_alone_are_never_damage(document: tuple[str, Told], data: st.DataObject) -> None:
    before = read_prd(document[0])
    assume(before.stories)
    moved = {at: data.draw(st.booleans()) for at in boxes(before)}
    now = read_prd(with_boxes(before.text, moved))
    current = data.draw(st.sampled_from([story.id for story in before.stories]))
    assert damage(before, now, current) == ""
    said = ticks(before, now, current)
    assert current not in said.foreign
    assert not (said.claimed and said.partial)
