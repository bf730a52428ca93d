"""Changes of a PRD by a person or by a session, whose ticks are claims about its own story."""

from collections.abc import Set

import msgspec

from ralph.core.safe_text import first_few
from ralph.documents.prd import (
    NO_STORY,
    Prd,
    Story,
    boxes_of,
    flaws,
    moved_criteria,
    named_criteria,
    with_boxes,
)


def wanted_state(now: Story, before: Story, *, is_archived: bool) -> bool | None:
    """What a person says about the story: done (True), open (False), or nothing."""
    if before is NO_STORY:
        # The last version has no such story, so it is unknown who moved its box. If it was
        # archived, the person who brought it back did.
        return now.is_ticked if is_archived else None
    if now.is_ticked != before.is_ticked:
        return now.is_ticked
    if now.is_ticked:
        return False if moved_criteria(before, now, ticked=False) else None
    return True if now.has_all_criteria and moved_criteria(before, now, ticked=True) else None


class Ticks(msgspec.Struct, frozen=True, kw_only=True):
    """The boxes that were moved while a session worked on a story."""

    claimed: bool = False
    """The session ticked the heading, or every criterion."""
    partial: tuple[str, ...] = ()
    """The criteria that it ticked, if that is not a claim."""
    foreign: tuple[str, ...] = ()


def ticks(before: Prd, now: Prd, current: str) -> Ticks:
    found, story = before.by_id(), now.story(current)
    foreign = tuple(
        one.id
        for one in now.stories
        if one.id != current and _has_moved(found.get(one.id, NO_STORY), one)
    )
    if story is None:
        return Ticks(foreign=foreign)
    then = found.get(current, NO_STORY)
    claimed = _is_claimed(then, story)
    fresh = () if claimed else moved_criteria(then, story, ticked=True)
    return Ticks(claimed=claimed, partial=tuple(one.text for one in fresh), foreign=foreign)


def _is_claimed(then: Story, now: Story) -> bool:
    if now.is_ticked and not then.is_ticked:
        return True
    # Every criterion that there was: a session that deletes one does not meet it.
    kept = boxes_of(then).keys() <= boxes_of(now).keys()
    return kept and now.has_all_criteria and bool(moved_criteria(then, now, ticked=True))


def _has_moved(then: Story, now: Story) -> bool:
    marks = boxes_of(then)
    return then.is_ticked != now.is_ticked or any(
        marks.get(name, False) != one.box.ticked for name, one in named_criteria(now)
    )


def boxes_after(now: Prd, before: Prd, done: Set[str], current: str) -> dict[int, bool]:
    """The marks of all boxes after a session on the story `current`.

    Headings show the status in the store. An accepted story is ticked with all criteria. Ticks that
    were a claim, and ticks in other stories, are taken back; partial ticks stay.
    """
    wanted: dict[int, bool] = {}
    found = before.by_id()
    for story in now.stories:
        then, is_done = found.get(story.id, NO_STORY), story.id in done
        wanted[story.box.at] = is_done
        if story.id == current and is_done:
            wanted |= {one.box.at: True for one in story.criteria}
        elif story.id != current or _is_claimed(then, story):
            marks = boxes_of(then)
            wanted |= {one.box.at: marks.get(name, False) for name, one in named_criteria(story)}
            if not is_done and then.is_ticked:
                wanted |= {one.box.at: False for one in story.criteria}
    return wanted


def boxes_between(now: Prd, last: Prd | None, done: Set[str]) -> dict[int, bool]:
    """The marks of all boxes before a session, when the store is up to date.

    A person's ticks of criteria stay, but not in a story that was done and is open again: with all
    its criteria ticked it would look done. A story that a team or a command has done is ticked with
    all criteria.
    """
    wanted: dict[int, bool] = {}
    found = last.by_id() if last is not None else {}
    for story in now.stories:
        is_done = story.id in done
        wanted[story.box.at] = is_done
        if is_done and last is not None and not story.is_ticked:
            wanted |= {one.box.at: True for one in story.criteria}
        if not is_done and story.has_all_criteria and found.get(story.id, NO_STORY).is_ticked:
            wanted |= {one.box.at: False for one in story.criteria}
    return wanted


def damage(before: Prd, now: Prd | None, current: str) -> str:
    """What is wrong with the document, as the end of a sentence; empty if it can be used.

    A person may have removed stories; then nothing else has changed. If more has changed, the
    session wrote the document again and left them out.
    """
    if now is None:
        return "is gone"
    if not now.text.strip():
        return "is empty"
    if found := flaws(now):
        return f"is broken: {found[0]}"
    left = now.by_id()
    gone = [story.id for story in before.stories if story.id not in left]
    if current in gone:
        return f"has lost the story {current}, which was being built"
    if gone and not _is_otherwise_same(before, now):
        return f"was rewritten without {first_few(gone, 5)}"
    return ""


def _is_otherwise_same(before: Prd, now: Prd) -> bool:
    """Whether the texts are the same, but for boxes and stories that came or went."""
    if _opening(before) != _opening(now):
        return False
    found = before.by_id()
    pairs = [(found[story.id], story) for story in now.stories if story.id in found]
    return all((then.title, then.body) == (story.title, story.body) for then, story in pairs)


def _opening(prd: Prd) -> str:
    return " ".join(prd.text[: prd.stories[0].start].split())


def removed_parts(before: Prd, now: Prd) -> tuple[str, ...]:
    """The stories of which a requirement is missing now. Stories and criteria may be added, and
    words and order may change: that makes nothing done."""
    left = now.by_id()
    return tuple(one.id for one in before.stories if not _asks(left.get(one.id, NO_STORY), one))


def _asks(now: Story, then: Story) -> bool:
    if not then.criteria:
        # Without criteria, its text is the requirement.
        return now.title == then.title and now.body.startswith(then.body)
    return boxes_of(then).keys() <= boxes_of(now).keys()


def with_ticks_of(before: Prd, now: Prd, current: str) -> str:
    """The text as it was before, with the later ticks of one story."""
    then, story = before.story(current), now.story(current)
    if then is None or story is None:
        return before.text
    marks = boxes_of(story)
    wanted = {one.box.at: marks.get(name, one.box.ticked) for name, one in named_criteria(then)}
    return with_boxes(before.text, wanted | {then.box.at: story.is_ticked})
