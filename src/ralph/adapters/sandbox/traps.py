"""Traps anywhere in a checkout, for whoever works there later: settings of agents, and repositories
in which git would run something.

No mount can keep them out, since they may be put wherever something can be written. So we look, and
what was not there before is disarmed.
"""

import contextlib
import os
import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Final

from ralph.core.hidden import STEERING_FILES, STEERING_FOLDERS

BULKY: Final = frozenset({"node_modules", ".venv", "venv", "target", "__pycache__", ".tox", ".nox"})
"""Thousands of folders that tools fill, and in which nobody starts an agent or asks for git."""
SECTION: Final = re.compile(r'\[([A-Za-z0-9.-]+)(?:\s+"[^"\\]*")?\]')
SETTING: Final = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=.*)?(?<!\\)")
EVERY: Final[frozenset[str]] = frozenset()
HARMLESS: Final = {
    "core": frozenset(
        {"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase",
         "precomposeunicode", "symlinks", "autocrlf", "eol", "quotepath", "longpaths",
         "sharedrepository", "safecrlf", "compression"}
    ),
    "remote": frozenset(
        {"url", "pushurl", "fetch", "push", "mirror", "tagopt", "prune", "promisor",
         "partialclonefilter"}
    ),
    "submodule": frozenset({"url", "active", "path", "branch"}),
    "extensions": frozenset({"objectformat", "refstorage", "partialclone", "compatobjectformat"}),
    "init": frozenset({"defaultbranch"}),
    "commit": frozenset({"gpgsign"}),
    "tag": frozenset({"gpgsign"}),
    "branch": EVERY, "user": EVERY, "pull": EVERY, "push": EVERY, "fetch": EVERY, "gc": EVERY,
    "advice": EVERY, "color": EVERY, "http": EVERY, "receive": EVERY, "rebase": EVERY,
}  # fmt: skip
"""Settings that run nothing, by section. Whatever else there is, and whatever is written in another
way than git itself writes, may."""

Traps = dict[str, tuple[str, ...]]
"""By path; for a repository with what git would run there."""


def look(top: str, known: Collection[str]) -> Traps:
    """All that there are in a checkout, but for known places: there a fence has its say."""
    found: Traps = {}
    folders = [top]
    while folders:
        folder = folders.pop()
        names = _entries(folder, folders, known, found)
        if "HEAD" in names and ("commondir" in names or {"objects", "refs"} <= names):
            found[folder] = tuple(sorted(_runs(folder, names)))
    return found


def _entries(folder: str, folders: list[str], known: Collection[str], found: Traps) -> set[str]:
    names: set[str] = set()
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            names.add(entry.name)
            if entry.path in known or entry.name in BULKY:
                continue
            if entry.name in STEERING_FOLDERS or entry.name in STEERING_FILES:
                found[entry.path] = ()
            elif entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
    return names


@lru_cache
def steering(top: str) -> tuple[str, ...]:
    """Settings of agents that are there already, below the top. Looked for once."""
    found = look(top, {os.path.join(top, ".git")})
    return tuple(sorted(path for path in found if not is_repository(path)))


def is_repository(trap: str) -> bool:
    """Or else settings of an agent."""
    return os.path.basename(trap) not in (*STEERING_FOLDERS, *STEERING_FILES)


def _runs(folder: str, names: set[str]) -> Iterator[str]:
    """What git would run, or be led to, in a repository."""
    yield from names & {"commondir", "config.worktree"}
    with contextlib.suppress(OSError):
        for name in os.listdir(os.path.join(folder, "hooks")):
            if not name.endswith(".sample"):
                changed = os.stat(os.path.join(folder, "hooks", name)).st_mtime_ns
                yield f"hooks/{name} {changed}"
    yield from odd_settings(os.path.join(folder, "config"))


def odd_settings(path: str) -> tuple[str, ...]:
    """The settings of git in a file that may run something."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return tuple(_odd_lines(file.read(1 << 20)))
    except FileNotFoundError:
        return ()
    except OSError:
        return ("unreadable",)


def _odd_lines(text: str) -> Iterator[str]:
    section = ""
    for line in map(str.strip, text.split("\n")):
        if not line or line[0] in "#;":
            continue
        if heading := SECTION.fullmatch(line):
            section = heading[1].lower()
            continue
        setting = SETTING.fullmatch(line)
        known = HARMLESS.get(section)
        if setting is None or known is None or (known and setting[1].lower() not in known):
            yield f"{section}: {line}"
