"""Find git settings that could run a program, in a config file that a session may have written."""

import re
from collections.abc import Collection, Iterator
from typing import Final

LARGEST: Final = 1 << 20
SECTION: Final = re.compile(r'\[([A-Za-z0-9.-]+)(?:\s+"[^"\\]*")?\]')
SETTING: Final = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?(?<!\\)")
EVERY: Final[frozenset[str]] = frozenset()
HARMLESS: Final = {
    "core": frozenset(
        {"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase",
         "precomposeunicode", "symlinks", "autocrlf", "eol", "quotepath", "longpaths",
         "sharedrepository", "safecrlf", "compression"}
    ),
    "remote": frozenset({"url", "pushurl", "fetch", "push", "mirror", "tagopt", "prune"}),
    "submodule": frozenset({"url", "active", "path", "branch"}),
    "branch": frozenset({"remote", "merge", "rebase", "pushremote", "description"}),
    "extensions": frozenset({"objectformat", "refstorage", "compatobjectformat"}),
    "user": frozenset({"name", "email", "useconfigonly"}),
    "init": frozenset({"defaultbranch"}),
    "commit": frozenset({"gpgsign"}),
    "tag": frozenset({"gpgsign"}),
    "pull": frozenset({"rebase", "ff"}),
    "push": frozenset({"default", "autosetupremote"}),
    "fetch": frozenset({"prune"}),
    "gc": frozenset({"auto", "autodetach", "autopacklimit", "pruneexpire", "reflogexpire",
                     "reflogexpireunreachable", "packrefs", "writecommitgraph"}),
    "advice": EVERY, "color": EVERY,
}  # fmt: skip
"""What git itself writes into a new repository, and settings that run nothing, by section. Anything
else may run something: a promised object is fetched by `git status`, and `http.saveCookies` writes
a file anywhere."""
VALUES: Final = {
    "url": r'(?!.*(::|["\\])).*',
    "pushurl": r'(?!.*(::|["\\])).*',
    "gpgsign": r"false|no|off|0",
}
"""What some of these settings may say: `name::address` starts `git-remote-name`, and a signature is
made by another program."""


BOOLEAN: Final = r"(\n(true|false|yes|no|on|off|[0-9]{1,4}|))?"
READ: Final = {
    "path": r"\n.*", "url": r"\n.*", "ignore": r"\n.*", "branch": r"\n.*",
    "update": r"\n(none|checkout|rebase|merge)", "shallow": BOOLEAN,
    "fetchrecursesubmodules": rf"{BOOLEAN}|\non-demand",
}  # fmt: skip
"""In a `.gitmodules`: with what git goes on. Over anything else it gives up, or dies."""


def unsafe_settings(text: bytes) -> tuple[str, ...]:
    """Those that may run something."""
    if len(text) > LARGEST:
        return ("too much to read",)
    return tuple(odd for _, odd in _lines(text) if odd)


def breaks_git(setting: str) -> bool:
    """Does git give up over this part of a `.gitmodules`, as `git config --list -z` prints it?"""
    name = setting.partition("\n")[0]
    value = setting.removeprefix(name)
    section, _, key = name.lower().rpartition(".")
    if section == "submodule" and key == "fetchjobs":
        return not re.fullmatch(r"\n[0-9]{1,4}", value)
    wanted = READ.get(key) if section.startswith("submodule.") else None
    return wanted is not None and not re.fullmatch(wanted, value, re.DOTALL | re.IGNORECASE)


def without_settings(text: bytes, odd: Collection[str]) -> bytes | None:
    """The same less some odd settings; None if they cannot be taken out."""
    kept = b"\n".join(line for line, what in _lines(text) if what not in odd)
    return None if {*odd} & {*unsafe_settings(kept)} else kept


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
            if setting is None or not _is_harmless(section, setting[1].lower(), setting[2] or ""):
                odd = f"{section}: {line}"
        yield whole, odd


def _is_harmless(section: str, name: str, value: str) -> bool:
    known = HARMLESS.get(section)
    if known is None or (known and name not in known):
        return False
    return name not in VALUES or re.fullmatch(VALUES[name], value, re.IGNORECASE) is not None
