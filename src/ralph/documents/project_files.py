"""The files that `ralph init` writes, as text."""

from collections.abc import Iterable
from typing import Final, NamedTuple

IGNORED: Final = (
    ".ralph/progress.db*",
    ".ralph/runs/",
    ".ralph/checkouts/",
    ".ralph/.tmp/",
    ".ralph/*.lock",
    ".ralph/*.log",
    ".ralph/*.json",
    ".ralph/*.jsonl",
    ".ralph/memory/",
    ".ralph/reviews/",
    ".ralph/ABORT",
    "MEMORY.md",
)
"""What Ralph writes for itself. Features, specs, skills, plan and guardrails are yours."""

HEADING: Final = "# Ralph's own state"


def with_ignored(text: str) -> str:
    """The ignore file with what is missing at its end, and everything else byte for byte."""
    there = {line.strip() for line in text.splitlines()}
    missing = [entry for entry in IGNORED if entry not in there]
    if not missing:
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text or text.endswith("\n") else end
    heading = [] if HEADING in there else ([""] * bool(text) + [HEADING])
    return text + gap + "".join(line + end for line in (*heading, *missing))


class Row(NamedTuple):
    """A setting: its key, its default as TOML, and what it means."""

    section: str
    key: str
    default: str
    meaning: str


INTRODUCTION: Final = """\
# Settings of Ralph for this project. Every line that is commented out shows a default.
# `ralph config show` prints what is in force and where it comes from.

# Gates are commands that must pass before work counts. Set at least one:
#
# [gates]
# test = "make test"
# lint = "make lint"
"""


def starter_toml(rows: Iterable[Row], meanings: dict[str, str]) -> str:
    """A `.ralph.toml` in which everything is explained and nothing is active."""
    parts = [INTRODUCTION]
    here = "gates"
    for row in rows:
        if row.section == "gates" or row.default == "{}":
            continue
        if row.section != here:
            here = row.section
            parts.append(f"\n# {meanings.get(here, here)}\n# [{here}]\n")
        parts.append(f"# {f'{row.key} = {row.default}':<40} # {row.meaning}\n")
    return "".join(parts)
