"""Keys and passwords, which no task needs to read."""

import re
from functools import lru_cache
from typing import Final

from ralph.core.doors import RULES
from ralph.core.hidden import HIDDEN
from ralph.core.policy.decision import Deny, Ground
from ralph.core.policy.known import UNKNOWN
from ralph.core.policy.places import file_words, homes, resolved, without_glob
from ralph.core.policy.walking import Call

SECRETS: Final = (
    "keys",
    "logins to clouds and registries",
    "histories, in which passwords end up",
    "the system's passwords",
)
LOGINS: Final = ("~/.claude/.credentials.json", "~/.codex/auth.json", "~/.factory/auth.json")
PUBLIC: Final = re.compile(r".*/\.ssh/(?:[^/\0]*\.pub|known_hosts|config|authorized_keys)")
"""In a folder of keys, and yet nothing to hide."""
NAMED: Final = re.compile(r"[\w-]+=")
BEFORE: Final = re.compile(r"(?:--?[\w-]*=|[\w.-]+=|-[A-Za-z]){0,3}@?")
"""`curl -d @FILE`, `--file=FILE`, `-F key=@FILE`, `-TFILE`"""
NO_READERS: Final = frozenset(
    {"", "echo", "printf", "ls", "stat", "test", "[", "[[", "file", "du", "mkdir", "chmod", "touch"}
    | {
        "cd",
        "pushd",
        "export",
        "ssh",
        "sftp",
        "ssh-add",
        "ssh-keygen",
        "git",
        "which",
        "type",
        "rm",
    }
    | {"local", "declare", "alias", "basename", "dirname", "realpath", "readlink", "find", "fd"}
)
"""They say or look up names, or use a key without showing it. What `find` runs is looked at."""


@lru_cache(maxsize=8)
def places(home: str, open_doors: tuple[str, ...]) -> re.Pattern[str]:
    """Where keys and passwords are; not behind doors that a person has opened."""
    found = [place for group in SECRETS for place in HIDDEN[group]]
    found += LOGINS
    for name, rule in RULES.items():
        if name not in open_doors:
            found += (*rule.read, *rule.write)
    full = [
        homes(home) + re.escape(place[1:]) if place.startswith("~") else re.escape(place)
        for place in found
    ]
    return re.compile(f"(?:{'|'.join(full)})(?:/.*)?", re.DOTALL)


def judge_credentials(call: Call, ground: Ground, open_doors: tuple[str, ...]) -> Deny | None:
    """Whether the command would read what a session has no business with."""
    paths = [field.text for operator, field in call.redirects if operator in ("<", "<>")]
    words = [word.text for word in call.words[1:]]
    if call.name not in NO_READERS or (call.name == "git" and "--no-index" in words):
        paths += file_words(call.name, words)
    for text in paths:
        if secret := _secret(text, call.cwd, ground, open_doors):
            return secret
    return None


def _between(text: str) -> str:
    """What separates paths in a word: `-v HERE:THERE`, `type=bind,source=HERE`."""
    return "[:,]" if NAMED.match(text) else ":"


def judge_file(path: str, ground: Ground, open_doors: tuple[str, ...]) -> Deny | None:
    """The same for a tool that reads a file."""
    return _secret(path, ground.cwd or ground.checkout, ground, open_doors)


def _secret(text: str, cwd: str | None, ground: Ground, doors: tuple[str, ...]) -> Deny | None:
    parts = re.split(_between(text), text)
    for part in {text, *(BEFORE.sub("", part, count=1) for part in parts)}:
        path = resolved(part, cwd)
        if path is None or PUBLIC.fullmatch(path):
            continue
        # A star may stand for somebody's home, or for a file among keys.
        folder = resolved(without_glob(part)[0], cwd) or path
        if any(places(ground.home, doors).fullmatch(each) for each in (path, folder)):
            return Deny(
                reason=f"`{text.replace(UNKNOWN, '…')}` holds keys or passwords",
                suggestion="do without; a person opens a door for what a task needs",
            )
    return None
