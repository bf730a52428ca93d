"""`.ralph/IMPLEMENTATION_PLAN.md`: a section for each story, with boxes that are an agent's notes.

    ### US-001: Title
    - [ ] a step
      - Scope: …
      - Acceptance: …
      - Verification: …

Ralph reads a story's section into its brief. It neither writes nor believes the boxes.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec

from ralph.core.safe_text import one_line
from ralph.documents.encoded import readable
from ralph.documents.markdown import blocks, first_line, line_starts, rank_of, unified

if TYPE_CHECKING:
    from markdown_it.token import Token

HEADING: Final = re.compile(r"(?:\[[\sxX]\]\s+)?[*_`]*(US-[0-9]+)\b[*_`]*[\s:.–—-]*(.*)")  # noqa: RUF001
STEP: Final = re.compile(r"\[([\sxX])\]\s+\S.*", re.S)


class PlanSection(msgspec.Struct, frozen=True, kw_only=True):
    """What is planned for one story."""

    id: str
    title: str
    line: int
    text: str
    """As it stands there, its heading included, line ends aside."""
    steps: int = 0
    ticked: int = 0


@lru_cache(maxsize=2)
def read_plan(text: str) -> tuple[PlanSection, ...]:
    """The sections of a plan, in its order. A section ends at the next heading of its rank or
    above, or where another story's begins; one story may have several."""
    tokens = blocks(text)
    headings = [
        (first_line(token), rank_of(token), HEADING.fullmatch(tokens[at + 1].content))
        for at, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0
    ]
    boxes = list(_boxes(tokens))
    starts = [*line_starts(text), len(text)]
    found = []
    for at, (line, rank, story) in enumerate(headings):
        if story is None:
            continue
        later = (first for first, other, new in headings[at + 1 :] if new or other <= rank)
        end = next(later, len(starts) - 1)
        steps = [ticked for first, ticked in boxes if line <= first < end]
        found.append(
            PlanSection(
                id=story[1],
                title=one_line(readable(story[2])),
                line=line + 1,
                text=readable(unified(text[starts[line] : starts[end]])).rstrip() + "\n",
                steps=len(steps),
                ticked=sum(steps),
            )
        )
    return tuple(found)


def _boxes(tokens: "Sequence[Token]") -> Iterator[tuple[int, bool]]:
    """The line of each list item with a box, and whether it is ticked."""
    for item, token in zip(tokens, tokens[2:], strict=False):
        in_item = item.type == "list_item_open" and token.type == "inline"
        if in_item and (step := STEP.fullmatch(token.content)):
            yield first_line(token), not step[1].isspace()


def section_of(text: str, story: str) -> str:
    """All that a plan says about a story; empty where it has no section."""
    return "\n".join(one.text for one in read_plan(text) if one.id == story)
