"""What a PRD asks for stays while a session works on it: whoever is asked does not change that."""

from ralph.documents.stories.boxes import with_boxes
from ralph.documents.stories.marks import boxes_of, named_criteria
from ralph.documents.stories.prd import Prd, Story


def taken_out(before: Prd, now: Prd) -> tuple[str, ...]:
    """The stories of which something that was asked is missing now, in the document's order.

    Stories and criteria may come, words and order may change: none of that makes anything done.
    """
    left = now.by_id()
    return tuple(one.id for one in before.stories if not _asks(left.get(one.id), one))


def _asks(now: Story | None, then: Story) -> bool:
    """Is everything asked that was asked then?"""
    if now is None:
        return False
    if not then.criteria:
        # Its words are all there is to go by.
        return now.title == then.title and now.body.startswith(then.body)
    return boxes_of(then).keys() <= boxes_of(now).keys()


def with_ticks_of(before: Prd, now: Prd, current: str) -> str:
    """The text as it was, with nothing of what came later but the ticks of one story."""
    then, story = before.story(current), now.story(current)
    if then is None or story is None:
        return before.text
    marks = boxes_of(story)
    wanted = {one.box.at: marks.get(name, one.box.ticked) for name, one in named_criteria(then)}
    return with_boxes(before.text, wanted | {then.box.at: story.is_ticked})
