"""What `ralph init` writes: settings, and entries of `.gitignore`."""

from collections.abc import Sequence
from typing import Final

import msgspec

from ralph.core.safe_text import one_line
from ralph.core.toml_text import toml_value
from ralph.documents.project_stack import Preparation

IGNORED: Final = tuple(
    str.split("""
    .ralph/progress.db* .ralph/runs/ .ralph/checkouts/ .ralph/.tmp/ .ralph/memory/ .ralph/reviews/
    .ralph/*.json .ralph/*.jsonl .ralph/progress.txt .ralph/blockers.md .ralph/ABORT .ralph/*.log
    .ralph/*.lock .ralph/*.sock .ralph/**/*.tmp .agents/**/*.tmp /MEMORY.md
    """)
)
"""The database, its views, logs, locks and checkouts: Ralph can make all of them again."""

HEADING: Final = "# Ralph: what it makes again whenever it needs it"


SETTINGS_HEADER: Final = """\
# Ralph's settings for this project. `ralph config show` lists every setting with its value, and
# `ralph config show gates.min_coverage`, for example, says what one means.
"""
GATES: Final = """\

# Commands that must pass before a task is done, in this order.
[gates]
"""
NO_GATES: Final = """\

# Commands that must pass before a task is done. Without one, Ralph relies on verification alone.
#[gates]
"""
NOTHING: Final = Preparation()


class GateLine(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    command: str
    remark: str = ""
    is_active: bool = True
    """Otherwise the line is a comment."""


def settings_file(
    gates: Sequence[GateLine] = (),
    preparation: Preparation = NOTHING,
    *,
    agent: str = "",
    is_sandboxed: bool = True,
) -> str:
    """A `.ralph.toml` with what was found."""
    text = SETTINGS_HEADER
    if agent:
        text += f"\n[agent]\nname = {toml_value(agent)}\n"
    text += GATES if any(gate.is_active for gate in gates) else NO_GATES
    for gate in gates:
        line = f"{gate.name} = {toml_value(gate.command)}"
        remark = f"  # {one_line(gate.remark, 100)}" if gate.remark else ""
        text += f"{'' if gate.is_active else '#'}{line}{remark}\n"
    if not gates:
        text += '#test = "make test"\n'
    if preparation.setup:
        text += "\n# Prepares the private checkouts of several workers.\n[workspace]\n"
        text += f"setup = {toml_value(preparation.setup)}\n"
        text += f"reuse = {toml_value(preparation.reuse)}\n" if preparation.reuse else ""
    if not is_sandboxed:
        text += '\n[sandbox]\nmode = "off"\n'
    return text


def ignore_file(text: str) -> str:
    """The `.gitignore` with Ralph's missing entries added. Line ends stay as they are, so read and
    write the file without translating them."""
    lines = text.removeprefix("\ufeff").split("\n")
    present = {_entry(line) for line in lines}
    missing = [entry for entry in IGNORED if not _is_covered(entry, present)]
    if not missing:
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else end if text.endswith("\n") else end * 2
    return text + gap + "".join(line + end for line in (HEADING, *missing))


def _entry(line: str) -> str:
    """An entry without its anchors."""
    # A person who wrote `!MEMORY.md` has decided as well: an entry below would overrule that.
    bare = line.rstrip("\r").rstrip(" \t").removeprefix("!")
    return bare.removeprefix("/").removesuffix("/")


def _is_covered(entry: str, present: set[str]) -> bool:
    folder, _, _ = entry.partition("/")
    everything = {folder, f"{folder}/*", f"{folder}/**"} if folder else set()
    return _entry(entry) in present or not everything.isdisjoint(present)
