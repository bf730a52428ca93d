"""Which headings are stories, which were probably meant to be, and which are neither."""

import re
from typing import Final

STORY: Final = re.compile(r"\[([\sxX])\][ \t]+(US-[0-9]+):[ \t]*(\S.*)")
NEARLY: Final = re.compile(r"(\[[^\]\s]{0,3}\s*\])?[ \t]*[*_`]*(US[-_ ]?[0-9]+)\b[*_`]*(.*)", re.I)
GLUED: Final = re.compile(r"[ \t]*#+(\[[^\]]{0,3}\].*)")
BOXED: Final = re.compile(r"\[[ xX]?\][ \t]+\S")
RANK: Final = 3
"""Stories have three #."""
PATTERN: Final = "### [ ] US-001: Title"


def story_of(rank: int, content: str) -> tuple[str, str, bool] | None:
    """Id, title and whether it is ticked; None where a heading is no story."""
    found = STORY.fullmatch(content)
    if rank != RANK or found is None:
        return None
    return found[2], found[3].strip(), not found[1].isspace()


def glued(line: str) -> str:
    """The same for a line that is no heading at all, since no space follows its #; else empty."""
    found = GLUED.match(line)
    return mistake(RANK, found[1]) if found is not None else ""


def mistake(rank: int, content: str) -> str:
    """How a heading should look that is no story and was probably meant to be one; else empty."""
    found = NEARLY.match(content)
    if found is None:
        boxed = rank == RANK and BOXED.match(content)
        return f"a story needs an id: {PATTERN}" if boxed else ""
    box, name, rest = found.groups()
    if not box and (rank != RANK or not rest.lstrip("*_` ").startswith(":")):
        return ""
    title = rest.strip("*_`:.- \t") or "Title"
    name = f"US-{name[2:].lstrip('-_ ')}"
    return f"it is not read as a story; write: ### [ ] {name}: {title}"
