"""The files that `ralph init` writes: commented settings, and what git is to ignore."""

from collections.abc import Iterable, Mapping
from typing import Final, Protocol

IGNORED: Final = (
    ".ralph/progress.db*",
    ".ralph/runs/",
    ".ralph/checkouts/",
    ".ralph/.tmp/",
    ".ralph/memory/",
    ".ralph/reviews/",
    ".ralph/*.json",
    ".ralph/*.jsonl",
    ".ralph/progress.txt",
    ".ralph/blockers.md",
    ".ralph/ABORT",
    ".ralph/*.log",
    ".ralph/*.lock",
    ".ralph/*.sock",
    ".ralph/**/*.tmp",
    ".agents/**/*.tmp",
    "/MEMORY.md",
)
"""The database, the views drawn from it, logs, locks and checkouts: all can be made again."""

HEADING: Final = "# Ralph: what it makes again whenever it needs it"

OPENING: Final = """\
# Ralph's settings. All are optional: what stands behind a # is the default.
# To change one, remove the # before it and before the [section] above it.
# `ralph config show` tells each value and where it came from.
"""

GATES: Final = """\
# Commands that must pass before a task is done, in this order. A gate that cannot fail is refused.
#[gates]
#test = "make test"
#lint = "make lint"
"""


class Setting(Protocol):
    """What the file says about one setting."""

    @property
    def section(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def default(self) -> str:
        """As it stands in the file; empty where there is none to show."""
        ...

    @property
    def doc(self) -> str: ...


def settings_file(settings: Iterable[Setting], about: Mapping[str, str]) -> str:
    """A `.ralph.toml` in which nothing is set yet and everything can be found.

    `about` has a sentence for each section. No gate is active: one that nobody chose would judge.
    """
    by_section: dict[str, list[Setting]] = {section: [] for section in about}
    for setting in settings:
        by_section.setdefault(setting.section, []).append(setting)
    parts = [OPENING]
    for section, members in by_section.items():
        if section == "gates":
            parts.append(GATES + "".join(_lines(each) for each in members))
        else:
            heading = f"# {about.get(section, '')}\n" if about.get(section) else ""
            parts.append(f"{heading}#[{section}]\n" + "".join(_lines(each) for each in members))
    return "\n".join(parts)


def _lines(setting: Setting) -> str:
    """The sentence, and below it the line that only needs its # removed."""
    sentence = f"# {setting.doc}\n"
    return sentence + (f"#{setting.key} = {setting.default}\n" if setting.default else "")


def ignore_file(text: str) -> str:
    """The `.gitignore` with what is missing of Ralph's entries; the rest stays byte for byte.

    Read and write the file without translating line ends: they stay as they are.
    """
    lines = text.removeprefix("\ufeff").split("\n")
    present = {_entry(line) for line in lines}
    missing = [entry for entry in IGNORED if not _is_covered(entry, present)]
    if not missing:
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else end if text.endswith("\n") else end * 2
    return text + gap + "".join(line + end for line in (HEADING, *missing))


def _entry(line: str) -> str:
    """An entry as git takes it, however it is anchored."""
    # A person who wrote `!MEMORY.md` has decided, too: an entry below it would overrule that.
    bare = line.rstrip("\r").rstrip(" \t").removeprefix("!")
    return bare.removeprefix("/").removesuffix("/")


def _is_covered(entry: str, present: set[str]) -> bool:
    folder, _, _ = entry.partition("/")
    everything = {folder, f"{folder}/*", f"{folder}/**"} if folder else set()
    return _entry(entry) in present or not everything.isdisjoint(present)
