"""Which settings of git may run something, in a file that somebody else wrote."""

import re
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


BOOLEAN: Final = r"(\n(true|false|yes|no|on|off|[0-9]{1,4}|))?"
READ: Final = {
    "path": r"\n.*", "url": r"\n.*", "ignore": r"\n.*", "branch": r"\n.*",
    "update": r"\n(none|checkout|rebase|merge)", "shallow": BOOLEAN,
    "fetchrecursesubmodules": rf"{BOOLEAN}|\non-demand",
}  # fmt: skip
"""In a `.gitmodules`: with what git goes on. Over anything else it gives up, or dies."""


def odd_settings(text: bytes) -> tuple[str, ...]:
    """Those that may run something."""
    if len(text) > LARGEST:
        return ("too much to read",)
    return tuple(odd for _, odd in _lines(text) if odd)


def is_deadly(setting: str) -> bool:
    """Does git give up over this part of a `.gitmodules`, as `git config --list -z` prints it?"""
    name = setting.partition("\n")[0]
    value = setting.removeprefix(name)
    section, _, key = name.lower().rpartition(".")
    if section == "submodule" and key == "fetchjobs":
        return not re.fullmatch(r"\n[0-9]{1,4}", value)
    wanted = READ.get(key) if section.startswith("submodule.") else None
    return wanted is not None and not re.fullmatch(wanted, value, re.DOTALL | re.IGNORECASE)


def without(text: bytes, odd: Collection[str]) -> bytes | None:
    """The same less some odd settings; None if they cannot be taken out."""
    kept = b"\n".join(line for line, what in _lines(text) if what not in odd)
    return None if {*odd} & {*odd_settings(kept)} else kept


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
