"""Which settings in a file of git's may run something."""

import os
import re
import stat
from collections.abc import Collection, Iterator
from typing import Final

LARGEST: Final = 1 << 20
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
    "gc": frozenset({"auto", "autodetach", "autopacklimit", "pruneexpire", "reflogexpire",
                     "reflogexpireunreachable", "packrefs", "writecommitgraph"}),
    "branch": EVERY, "user": EVERY, "pull": EVERY, "push": EVERY, "fetch": EVERY,
    "advice": EVERY, "color": EVERY, "http": EVERY, "receive": EVERY, "rebase": EVERY,
}  # fmt: skip
"""Settings that run nothing, by section. Whatever else there is, and whatever is written in another
way than git itself writes, may."""


def read_plain(path: str, limit: int) -> bytes:
    """The beginning of a file; nothing of what is no file. Neither led elsewhere by a link, nor
    waiting at a pipe."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        handle = os.open(path, flags)
    except OSError:
        return b""
    with os.fdopen(handle, "rb") as file:
        return file.read(limit) if stat.S_ISREG(os.fstat(handle).st_mode) else b""


def odd_settings(path: str) -> tuple[str, ...]:
    """The settings of git in a file that may run something."""
    text = read_plain(path, LARGEST + 1)
    if len(text) > LARGEST:
        return ("too much to read",)
    if not text and os.path.lexists(path) and os.path.getsize(path):
        return ("unreadable",)
    return tuple(odd for _, odd in _lines(text) if odd)


def without(path: str, odd: Collection[str]) -> bytes | None:
    """The content of a file less some odd settings; None if they cannot be taken out."""
    text = read_plain(path, LARGEST)
    kept = b"\n".join(line for line, what in _lines(text) if what not in odd)
    return None if any(what in odd for _, what in _lines(kept)) else kept


def _lines(text: bytes) -> Iterator[tuple[bytes, str]]:
    """Each with what is odd about it."""
    section = ""
    for whole in text.split(b"\n"):
        line = whole.decode("utf-8", "replace").strip()
        odd = ""
        if heading := SECTION.fullmatch(line):
            section = heading[1].lower()
        elif line and line[0] not in "#;":
            setting = SETTING.fullmatch(line)
            known = HARMLESS.get(section)
            if setting is None or known is None or (known and setting[1].lower() not in known):
                odd = f"{section}: {line}"
        yield whole, odd
