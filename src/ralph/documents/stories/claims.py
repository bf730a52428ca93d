"""What a session did to the boxes: a claim about its own story, and nothing about others."""

from collections.abc import Set

import msgspec

from ralph.documents.stories.marks import all_boxes, boxes_of, named_criteria, newly_ticked
from ralph.documents.stories.prd import Prd, Story


class Ticks(msgspec.Struct, frozen=True, kw_only=True):
    """How the boxes have moved while a session worked on a story."""

    claimed: bool = False
    """It ticked the heading, or every criterion."""
    partial: tuple[str, ...] = ()
    """The criteria that it ticked, where that is no claim."""
    foreign: tuple[str, ...] = ()
    """Other stories whose boxes have moved: not its to say."""


def ticks(before: Prd, now: Prd, current: str) -> Ticks:
    """Compare the document as the session found it with how it left it."""
    then, story = before.story(current), now.story(current)
    found = before.by_id()
    foreign = tuple(
        one.id for one in now.stories if one.id != current and _has_moved(found.get(one.id), one)
    )
    if story is None:
        return Ticks(foreign=foreign)
    claimed = _is_claimed(then, story)
    fresh = () if claimed else newly_ticked(then, story)
    return Ticks(claimed=claimed, partial=tuple(one.text for one in fresh), foreign=foreign)


def _is_claimed(then: Story | None, now: Story) -> bool:
    if now.is_ticked and not (then is not None and then.is_ticked):
        return True
    # Every criterion that it was given: leaving one out does not meet it.
    kept = boxes_of(then).keys() <= boxes_of(now).keys()
    return kept and now.has_all_criteria and bool(newly_ticked(then, now))


def _has_moved(then: Story | None, now: Story) -> bool:
    if then is None:
        return any(box.ticked for box in all_boxes(now))
    marks = boxes_of(then)
    return then.is_ticked != now.is_ticked or any(
        marks.get(name, False) != one.box.ticked for name, one in named_criteria(now)
    )


def boxes_after(now: Prd, before: Prd, done: Set[str], current: str) -> dict[int, bool]:
    """How each box is to stand when a session is over that worked on the story `current`.

    The heading says what the store says. A story that was just accepted is ticked whole. Ticks
    that were a claim, and ticks in other stories, go back to how they were; partial ticks stay.
    """
    wanted: dict[int, bool] = {}
    found = before.by_id()
    for story in now.stories:
        then, is_done = found.get(story.id), story.id in done
        wanted[story.box.at] = is_done
        if story.id == current and is_done:
            wanted |= {one.box.at: True for one in story.criteria}
        elif story.id != current or _is_claimed(then, story):
            marks = boxes_of(then)
            wanted |= {one.box.at: marks.get(name, False) for name, one in named_criteria(story)}
            if not is_done and _was_done(then):
                wanted |= {one.box.at: False for one in story.criteria}
    return wanted


def boxes_between(now: Prd, last: Prd | None, done: Set[str]) -> dict[int, bool]:
    """How each box is to stand before a session, when the store has followed the document.

    A person's criteria stay as they are, but for a story that was done and is open again: with
    every criterion ticked it would look done. One that was done elsewhere, by a team or a command,
    is ticked whole.
    """
    wanted: dict[int, bool] = {}
    found = last.by_id() if last is not None else {}
    for story in now.stories:
        is_done = story.id in done
        wanted[story.box.at] = is_done
        if is_done and last is not None and not story.is_ticked:
            wanted |= {one.box.at: True for one in story.criteria}
        if not is_done and story.has_all_criteria and _was_done(found.get(story.id)):
            wanted |= {one.box.at: False for one in story.criteria}
    return wanted


def _was_done(then: Story | None) -> bool:
    return then is not None and then.is_ticked
