"""`.ralph/IMPLEMENTATION_PLAN.md`: a section for each story, with boxes that are an agent's notes.

    ### US-001: Title
    - [ ] a step
      - Scope: …
      - Acceptance: …
      - Verification: …

Ralph reads a story's section into its brief. It neither writes nor believes the boxes.
"""

import re
from functools import lru_cache
from typing import Final

import msgspec

from ralph.documents.encoded import readable
from ralph.documents.markdown import blocks, first_line, line_starts, rank_of, unified

HEADING: Final = re.compile(r"(?:\[[\sxX]\]\s+)?[*_`]*(US-[0-9]+)\b[*_`]*[\s:.–—-]*(.*)")  # noqa: RUF001


class PlanSection(msgspec.Struct, frozen=True, kw_only=True):
    """What is planned for one story."""

    id: str
    text: str
    """As it stands there, its heading included, line ends aside."""


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
    starts = [*line_starts(text), len(text)]
    found = []
    for at, (line, rank, story) in enumerate(headings):
        if story is None:
            continue
        later = (first for first, other, new in headings[at + 1 :] if new or other <= rank)
        end = next(later, len(starts) - 1)
        said = readable(unified(text[starts[line] : starts[end]])).rstrip() + "\n"
        found.append(PlanSection(id=story[1], text=said))
    return tuple(found)


def section_of(text: str, story: str) -> str:
    """All that a plan says about a story; empty where it has no section."""
    return "\n".join(one.text for one in read_plan(text) if one.id == story)
