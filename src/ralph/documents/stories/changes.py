"""What a person has changed: the document as it is now, beside what Ralph last wrote into it and
what the store knows. What somebody changed in the document counts; otherwise the store is right."""

from collections.abc import Mapping

import msgspec

from ralph.documents.stories.marks import newly_cleared, newly_ticked
from ralph.documents.stories.prd import Prd, Story


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """A story as the store has it."""

    title: str
    body: str
    place: int
    """Its number in the document, from 1: the order in which stories are built."""
    needs: frozenset[str] = frozenset()
    is_done: bool = False
    is_archived: bool = False


class Rewired(msgspec.Struct, frozen=True, kw_only=True):
    """A story that depends on others than before."""

    id: str
    more: tuple[str, ...] = ()
    fewer: tuple[str, ...] = ()


class Cleared(msgspec.Struct, frozen=True, kw_only=True):
    """A story that was done, and is not to a person's mind."""

    id: str
    criteria: tuple[str, ...] = ()
    """Which of its criteria do not hold; none where the whole story was cleared."""


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """What the store has to follow, in the order of the document."""

    added: tuple[Story, ...] = ()
    removed: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    """They had been removed, and stand there again."""
    edited: tuple[Story, ...] = ()
    """Title or body is another."""
    moved: tuple[str, ...] = ()
    rewired: tuple[Rewired, ...] = ()
    ticked: tuple[str, ...] = ()
    cleared: tuple[Cleared, ...] = ()
    places: dict[str, int] = {}
    """The number of every story in the document."""

    @property
    def is_empty(self) -> bool:
        return self == Changes(places=self.places)


def compare(now: Prd, last: Prd | None, known: Mapping[str, Known]) -> Changes:
    """What to do to the store so that it follows the document."""
    places = {story.id: place for place, story in enumerate(now.stories, 1)}
    before = last.by_id() if last is not None else {}
    order = {name: place for place, name in enumerate(before, 1)}
    there = [(story, known[story.id]) for story in now.stories if story.id in known]
    wishes = [(story, then, _wish(story, before.get(story.id), then)) for story, then in there]
    return Changes(
        added=tuple(story for story in now.stories if story.id not in known),
        # Only what stood there: a task that a session has added never did.
        removed=tuple(
            name
            for name in before
            if name in known and name not in places and not known[name].is_archived
        ),
        back=tuple(story.id for story, then in there if then.is_archived),
        edited=tuple(
            story for story, then in there if _is_edited(story, before.get(story.id), then)
        ),
        moved=tuple(
            story.id
            for story, then in there
            if places[story.id] not in (order.get(story.id), then.place)
        ),
        rewired=tuple(
            rewired
            for story, then in there
            if (rewired := _rewired(story, before.get(story.id), then)) is not None
        ),
        ticked=tuple(s.id for s, then, wish in wishes if wish is True and not then.is_done),
        cleared=tuple(
            _cleared(story, before.get(story.id))
            for story, then, wish in wishes
            if wish is False and then.is_done
        ),
        places=places,
    )


def _is_edited(now: Story, before: Story | None, then: Known) -> bool:
    """Are there other words than Ralph last saw, and than the store has? What was changed in the
    store alone, by a command, stays."""
    words = (now.title, now.body)
    seen = (before.title, before.body) if before is not None else None
    return words not in (seen, (then.title, then.body))


def _rewired(now: Story, before: Story | None, then: Known) -> Rewired | None:
    """Likewise: an edge that the document never had is somebody else's."""
    needs = frozenset(now.needs)
    seen = frozenset(before.needs) if before is not None else frozenset()
    more, fewer = needs - then.needs - seen, (seen - needs) & then.needs
    if not more and not fewer:
        return None
    return Rewired(id=now.id, more=tuple(sorted(more)), fewer=tuple(sorted(fewer)))


def _wish(now: Story, before: Story | None, then: Known) -> bool | None:
    """Done, open, or nothing said."""
    if before is None:
        # Nobody can tell who moved the box of a story that the store knows and the last version
        # does not have, unless it was away: then whoever brought it back did.
        return now.is_ticked if then.is_archived else None
    if now.is_ticked != before.is_ticked:
        return now.is_ticked
    if now.is_ticked:
        return False if newly_cleared(before, now) else None
    return True if now.has_all_criteria and newly_ticked(before, now) else None


def _cleared(now: Story, before: Story | None) -> Cleared:
    whole = before is None or not now.is_ticked
    criteria = () if whole or before is None else newly_cleared(before, now)
    return Cleared(id=now.id, criteria=tuple(one.text for one in criteria))
