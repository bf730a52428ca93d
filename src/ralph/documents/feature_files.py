"""Where documents are: of features in `.ralph/features/`, of goals in `.ralph/specs/`."""

import re
import unicodedata
from posixpath import basename, dirname
from typing import Final

import msgspec

from ralph.core.errors import UsageError

FEATURES: Final = ".ralph/features"
LONGEST_NAME: Final = 80


def folder_of(name: str) -> str:
    """The folder of a feature, from the project's root. UsageError if the name can name none."""
    return f"{FEATURES}/{feature_name(name)}"


def spec_of(name: str) -> str:
    return f"{folder_of(name)}/spec.md"


def plan_of(name: str) -> str:
    return f"{folder_of(name)}/plan.md"


def feature_name(name: str) -> str:
    """The name of a feature. UsageError if it cannot name a folder."""
    bare = name.strip()
    if not bare:
        raise UsageError("a feature needs a name, and this one is empty")
    if not can_name_a_folder(bare):
        raise UsageError(
            f"{bare!r} cannot name a feature: it is the name of a folder as well",
            hint=f"letters, digits, spaces, - and _ are fine, up to {LONGEST_NAME} bytes",
        )
    return bare


def can_name_a_folder(name: str) -> bool:
    """Whether a feature's name can name a folder. Those of `task add` can be anything."""
    return (
        bool(name.strip())
        and not name.startswith((".", "-"))
        and "/" not in name
        and name.isprintable()
        and len(name.encode()) <= LONGEST_NAME
    )


SPECS: Final = ".ralph/specs"
GUIDE: Final = ".ralph/agents.md"
"""About fifty lines that every worker should know about the project."""
LONGEST_SLUG: Final = 50
ACCENTS: Final = re.compile("[\u0300-\u036f]")


class GoalFiles(msgspec.Struct, frozen=True, kw_only=True):
    name: str

    @property
    def folder(self) -> str:
        return f"{SPECS}/{self.name}"

    @property
    def request(self) -> str:
        return f"{self.folder}/goal.md"

    @property
    def catalog(self) -> str:
        """The models of the work, and its constraints."""
        return f"{self.folder}/referents/catalog.md"

    @property
    def design(self) -> str:
        return f"{self.folder}/design/detailed-design.md"

    @property
    def implementation(self) -> str:
        return f"{self.folder}/implementation"

    @property
    def plan(self) -> str:
        return f"{self.implementation}/plan.md"

    @property
    def runbook(self) -> str:
        return f"{self.implementation}/execution-runbook.md"

    @property
    def read_only(self) -> tuple[str, ...]:
        """The documents that sessions only read: all but the code tasks."""
        return (self.request, self.catalog, self.design, self.plan, self.runbook)


def words_of(goal: str) -> list[str]:
    """A goal's words for its name: lower-case letters of any script without accents, digits."""
    plain = ACCENTS.sub("", unicodedata.normalize("NFKD", goal).lower())
    text = unicodedata.normalize("NFC", plain)
    return "".join(char if unicodedata.category(char)[0] in "LMN" else " " for char in text).split()


def slug(goal: str) -> str:
    """A goal as the name of a folder: its words with hyphens, cut between words after at most fifty
    characters. Empty if it has no words."""
    name = ""
    for word in words_of(goal):
        longer = f"{name}-{word}" if name else word[:LONGEST_SLUG]
        if len(longer) > LONGEST_SLUG:
            break
        name = longer
    return name


def goal_of(folder: str) -> str:
    """The goal of a folder of code tasks: by its place in `.ralph/specs`, otherwise by its name."""
    parts = folder.strip("/").split("/")
    for at, part in enumerate(parts[:-1]):
        if part == "specs" and at and parts[at - 1] == ".ralph":
            return parts[at + 1]
    at_goal = dirname(folder.rstrip("/")) if basename(folder) == "implementation" else folder
    return basename(at_goal.rstrip("/"))
