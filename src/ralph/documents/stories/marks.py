"""Which boxes of a story have changed. A criterion is known by its words, wherever it stands."""

from collections.abc import Iterator

from ralph.documents.stories.prd import Box, Criterion, Story

Name = tuple[str, int]
"""A criterion's words, and which of those with the same words it is."""


def named_criteria(story: Story) -> Iterator[tuple[Name, Criterion]]:
    """Each criterion with a name that does not depend on its place."""
    seen: dict[str, int] = {}
    for one in story.criteria:
        number = seen[one.text] = seen.get(one.text, 0) + 1
        yield (one.text, number), one


def boxes_of(story: Story | None) -> dict[Name, bool]:
    """Which criteria are ticked."""
    return {name: one.box.ticked for name, one in named_criteria(story)} if story else {}


def newly_ticked(before: Story | None, now: Story) -> tuple[Criterion, ...]:
    """The criteria that are ticked now and were not, or were not there."""
    then = boxes_of(before)
    return tuple(
        one for name, one in named_criteria(now) if one.box.ticked and not then.get(name, False)
    )


def newly_cleared(before: Story, now: Story) -> tuple[Criterion, ...]:
    """The criteria that were ticked and are not."""
    then = boxes_of(before)
    return tuple(
        one for name, one in named_criteria(now) if not one.box.ticked and then.get(name, False)
    )


def all_boxes(story: Story) -> tuple[Box, ...]:
    """The heading's and those of the criteria."""
    return (story.box, *(one.box for one in story.criteria))
