"""Where the documents of a team's goal are, below `.ralph/specs/{goal}/`."""

import re
import unicodedata
from posixpath import basename, dirname
from typing import Final

import msgspec

SPECS: Final = ".ralph/specs"
GUIDE: Final = ".ralph/agents.md"
"""What every worker should know about the project, on about fifty lines."""
LONGEST: Final = 50
ACCENTS: Final = re.compile("[\u0300-\u036f]")


class GoalFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The paths of one goal, from the project's root."""

    name: str

    @property
    def folder(self) -> str:
        return f"{SPECS}/{self.name}"

    @property
    def request(self) -> str:
        """What was asked for, word for word."""
        return f"{self.folder}/goal.md"

    @property
    def catalog(self) -> str:
        """What the work is modelled on, and what it must keep to."""
        return f"{self.folder}/referents/catalog.md"

    @property
    def design(self) -> str:
        return f"{self.folder}/design/detailed-design.md"

    @property
    def implementation(self) -> str:
        """Where the code tasks are."""
        return f"{self.folder}/implementation"

    @property
    def plan(self) -> str:
        return f"{self.implementation}/plan.md"

    @property
    def runbook(self) -> str:
        return f"{self.implementation}/execution-runbook.md"

    @property
    def papers(self) -> tuple[str, ...]:
        """All but its code tasks: sessions read them, and may not take them away."""
        return (self.request, self.catalog, self.design, self.plan, self.runbook)


def words_of(goal: str) -> list[str]:
    """The words of a goal as they are in its name: small letters of whatever script, without
    accents, and digits."""
    plain = ACCENTS.sub("", unicodedata.normalize("NFKD", goal).lower())
    text = unicodedata.normalize("NFC", plain)
    return "".join(char if unicodedata.category(char)[0] in "LMN" else " " for char in text).split()


def slug(goal: str) -> str:
    """A goal as the name of a folder: its words and hyphens, fifty characters at most, cut between
    words. Empty where nothing is left."""
    name = ""
    for word in words_of(goal):
        longer = f"{name}-{word}" if name else word[:LONGEST]
        if len(longer) > LONGEST:
            break
        name = longer
    return name


def goal_of(folder: str) -> str:
    """The goal whose code tasks lie in a folder: the one of the specs, else the folder itself."""
    parts = folder.strip("/").split("/")
    for at, part in enumerate(parts[:-1]):
        if part == "specs" and at and parts[at - 1] == ".ralph":
            return parts[at + 1]
    at_goal = dirname(folder.rstrip("/")) if basename(folder) == "implementation" else folder
    return basename(at_goal.rstrip("/"))
