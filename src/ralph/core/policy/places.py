"""Paths in commands: where they lead, as far as letters tell."""

import re
from collections.abc import Sequence
from itertools import pairwise
from posixpath import join, normpath
from typing import Final

from ralph.core.policy.decision import Ground
from ralph.core.policy.known import UNKNOWN, Field

TEMPORARY: Final = ("/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm")
"""A session has these to itself, or nobody keeps anything there."""
DEVICE: Final = re.compile(
    r"/dev/(?:r?disk\d|[shv]d[a-z]|xvd[a-z]|nvme\d|mmcblk\d|md\d|dm-\d|loop\d|mapper/.|sr\d"
    r"|mem$|kmem$|port$|block/.)"
)
SCRIPT: Final = re.compile(r"-[a-zA-Z0-9]*e|--expression|--regexp")
"""What follows is a pattern or a program: `grep -e`, `sed -e`, `perl -pe`."""
PATTERN_FIRST: Final = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "awk", "jq"})
"""Their first word is no file."""


def resolved(path: str, cwd: str | None) -> str | None:
    """The path from the root; None when it depends on what only the running shell knows."""
    if not path.startswith("/"):
        if cwd is None or path.startswith(UNKNOWN):
            return None
        path = join(cwd, path)
    # `a/…/../b`: nobody knows how far up that goes, so it counts as a folder of its own.
    return normpath(path)


def is_within(path: str, folder: str) -> bool:
    """Whether the path is the folder or in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def is_temporary(path: str) -> bool:
    """Below a folder for what is not kept; not such a folder itself."""
    return any(is_within(path, folder) and path != folder for folder in TEMPORARY)


def in_checkout(path: str, ground: Ground) -> bool:
    """In the checkout, and not in a home that somebody keeps there."""
    top, home = ground.checkout, ground.home
    keeps_home = home != top and is_within(home, top)
    return is_within(path, top) and not (keeps_home and is_within(path, home))


def is_spare(path: str, ground: Ground) -> bool:
    """Below a temporary folder, and not in a home that is there as well."""
    home = ground.home
    around = is_within(path, home) or is_within(home, path)
    return is_temporary(path) and not (around and home not in TEMPORARY)


def is_own(path: str, ground: Ground) -> bool:
    """In the checkout, or below a temporary folder."""
    return in_checkout(path, ground) or is_spare(path, ground)


def without_glob(path: str) -> tuple[str, bool]:
    """The folder in which a pattern is looked up, and whether it takes all that is in there."""
    parts = path.split("/")
    for number, part in enumerate(parts):
        if re.search(r"[*?\[]", part):
            last = number == len(parts) - 1 or parts[number + 1 :] == [""]
            return "/".join(parts[:number]) or ("/" if path.startswith("/") else "."), (
                last and re.fullmatch(r"[.*]*\*[.*]*", part) is not None
            )
    return path, False


def some_of(field: Field) -> str:
    """One of the files that a pattern stands for, or the text itself."""
    if not field.glob:
        return field.text
    return f"{without_glob(field.text)[0].rstrip('/')}/{UNKNOWN}"


def file_words(name: str, words: Sequence[str]) -> list[str]:
    """The words that may be files: neither patterns nor small programs."""
    given = [word for before, word in pairwise(["", *words]) if not SCRIPT.fullmatch(before)]
    if name in PATTERN_FIRST and len(given) == len(words):
        plain = [word for word in given if word and not word.startswith("-")]
        given = [word for word in given if word not in plain[:1]]
    return given


def homes(home: str) -> str:
    """A pattern for anybody's home."""
    return rf"(?:{re.escape(home)}|/root|/(?:home|Users)/[^/]+)"


def parted(words: Sequence[Field]) -> tuple[list[str], list[Field]]:
    """Options and the rest; `--` ends options."""
    options: list[str] = []
    rest: list[Field] = []
    for number, word in enumerate(words):
        if word.text == "--":
            return options, [*rest, *words[number + 1 :]]
        if word.text.startswith("-") and len(word.text) > 1:
            options.append(word.text)
        else:
            rest.append(word)
    return options, rest
