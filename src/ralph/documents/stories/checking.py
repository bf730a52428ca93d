"""What makes a PRD unusable, each with the line it stands on."""

from collections.abc import Sequence

from ralph.core.circles import a_circle
from ralph.core.errors import Missing, UnusableData
from ralph.documents.stories.headings import PATTERN
from ralph.documents.stories.prd import Prd, Remark, Story


def flaws(prd: Prd) -> tuple[Remark, ...]:
    """Why the stories cannot be built as they are, from the top; empty where they can."""
    if not prd.stories:
        # A heading that is nearly a story is the likely reason.
        first = prd.remarks[0] if prd.remarks else None
        why = f": {first.message}" if first else f"; one begins with {PATTERN}"
        return (Remark(line=first.line if first else 1, message=f"there are no stories{why}"),)
    found = [*_twins(prd.stories), *_unknown(prd.stories)]
    found += [] if found else _circles(prd.stories)
    return tuple(sorted(found, key=lambda one: one.line))


def require_usable(prd: Prd, path: str) -> None:
    """UnusableData that names the first flaw; Missing where there are no stories at all."""
    found = flaws(prd)
    if found and "\0" in prd.text:
        raise UnusableData(f"{path} is not text", hint="save it as UTF-8")
    if found and not prd.stories:
        raise Missing(f"{path}, {found[0]}", hint=f"`ralph prd` writes stories; or mend {path}")
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise UnusableData(f"{path}, {found[0]}{more}", hint=f"mend {path}")


def _twins(stories: Sequence[Story]) -> list[Remark]:
    first: dict[str, int] = {}
    found = []
    for story in stories:
        if story.id in first:
            message = f"there is a story {story.id} on line {first[story.id]} already"
            found.append(Remark(line=story.line, message=message))
        first.setdefault(story.id, story.line)
    return found


def _unknown(stories: Sequence[Story]) -> list[Remark]:
    known = {story.id for story in stories}
    return [
        Remark(line=one.line, message=f"{story.id} depends on {one.id}, and there is no such story")
        for story in stories
        for one in story.depends_on
        if one.id not in known
    ]


def _circles(stories: Sequence[Story]) -> list[Remark]:
    index = {story.id: at for at, story in enumerate(stories)}
    after: list[list[int]] = [[] for _ in stories]
    for at, story in enumerate(stories):
        for name in story.needs:
            after[index[name]].append(at)
    circle = a_circle(after)
    if not circle:
        return []
    # Told from the story that stands first.
    turn = circle.index(min(circle))
    members = [stories[at] for at in (*circle[turn:], *circle[:turn])]
    first = members[0]
    if len(members) == 1:
        line = next(one.line for one in first.depends_on if one.id == first.id)
        return [Remark(line=line, message=f"{first.id} depends on itself")]
    names = ", ".join(story.id for story in members[:10])
    more = f" and {len(members) - 10} more" if len(members) > 10 else ""
    return [Remark(line=first.line, message=f"these stories wait for each other: {names}{more}")]
