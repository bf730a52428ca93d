"""Skills: `.ralph/skills/NAME/SKILL.md`, front matter that says when to use it, then the steps."""

from typing import Final

from ralph.core.errors import UnusableData
from ralph.core.safe_text import one_line
from ralph.core.shelf import Skill
from ralph.documents import front_matter

FOLDER: Final = ".ralph/skills"
FILE: Final = "SKILL.md"
LONGEST_NAME: Final = 64
LONGEST: Final = 500
"""Letters of a description. Every session reads it: a longer one is cut."""


def path_of(folder: str) -> str:
    """Where the skill of that folder stands."""
    return f"{FOLDER}/{folder}/{FILE}"


def read(folder: str, text: str) -> Skill:
    """The skill; UnusableData says what is wrong with it."""
    found = front_matter.read(text)
    if found is None:
        raise UnusableData(
            "it does not begin with --- and lines such as `description: …`, then ---"
        )
    pairs, _ = found
    description = one_line(pairs.get("description", ""), LONGEST)
    if not description:
        raise UnusableData("it has no description")
    name = one_line(pairs.get("name", ""), LONGEST_NAME) or one_line(folder, LONGEST_NAME)
    return Skill(name=name, description=description, path=path_of(folder))
