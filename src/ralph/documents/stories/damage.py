"""Has a session broken the PRD? It may tick boxes; a person may change anything meanwhile."""

from ralph.documents.stories.checking import flaws
from ralph.documents.stories.prd import Prd


def damage(before: Prd, now: Prd | None, current: str) -> str:
    """What is wrong with the document, as the end of a sentence about it; empty: it can be used.

    Stories may be gone because a person took them out, and then nothing else is different. Where
    more is, somebody wrote the document anew and left them out.
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
    if gone and not _is_else_the_same(before, now):
        names = ", ".join(gone[:5]) + (f" and {len(gone) - 5} more" if len(gone) > 5 else "")
        return f"was written anew, without {names}"
    return ""


def _is_else_the_same(before: Prd, now: Prd) -> bool:
    """Boxes, and stories that came or went, aside."""
    if _opening(before) != _opening(now):
        return False
    found = before.by_id()
    pairs = [(found.get(story.id), story) for story in now.stories]
    return all(
        then is None or (then.title, then.body) == (story.title, story.body)
        for then, story in pairs
    )


def _opening(prd: Prd) -> str:
    return " ".join(prd.text[: prd.stories[0].start].split())
