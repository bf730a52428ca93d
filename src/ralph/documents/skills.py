"""Skills: `.ralph/skills/NAME/SKILL.md`, front matter that says when to use it, then the steps."""

from typing import Final

from ralph.core.brief import Skill
from ralph.core.errors import UnusableData
from ralph.core.safe_text import one_line
from ralph.documents import markdown

FOLDER: Final = ".ralph/skills"
FILE: Final = "SKILL.md"
LONGEST_NAME: Final = 64
LONGEST: Final = 500
"""Characters of a description, which every session reads; a longer one is cut."""


def path_of(folder: str) -> str:
    return f"{FOLDER}/{folder}/{FILE}"


def read(folder: str, text: str) -> Skill:
    found = markdown.read_front_matter(text)
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


PRD_SKILL_FILE: Final = f"prd/{FILE}"
"""The place of `prompts/prd_skill.md`, which says how to write a PRD that Ralph can build."""
