"""Which processes a command ends: those of the session, or everything there is."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from ralph.core.policy.decision import Deny, Doubt
from ralph.core.policy.known import UNKNOWN, Field

FIRST_PROCESS: Final = "1"
"""Whatever lists all processes lists this one."""
VALUES: Final = re.compile(
    r"-[uUgGPstF]|--(?:signal|e?uid|user|parent|p?group|session|terminal|pidfile|ns)"
)
"""Options of `pkill` and `killall` that take a value."""
RELATED: Final = re.compile(r"-[PgF]\w*|--(?:parent|pgroup|pidfile)(?:=.*)?")
"""Options that select processes by how they were started."""
ASKS: Final = frozenset({"-l", "-L", "-V", "--list", "--version", "--help"})
SYSTEM: Final = frozenset({"init", "systemd", "launchd", "sshd", "login", "sh", "bash", "zsh"})
SPECIFIC: Final = re.compile(r"[\w-]{2}|[^\x00-\x7f]")
"""What a pattern needs in letters to mean something in particular."""
WHOLE_LIST: Final = re.compile(r"-[eAuU]|-?a")
"""How `ps` is asked for everybody's processes, or for all of one's own."""


def judge_ending(name: str, words: Sequence[Field]) -> Deny | Doubt | None:
    """What is wrong with a command that ends processes, if anything."""
    texts = [word.text for word in words[1:]]
    if ASKS & set(texts):
        return None
    if name == "kill":
        ends_all = FIRST_PROCESS in _operands(texts) or (len(texts) > 1 and texts[-1] == "-1")
    elif name in ("pkill", "killall"):
        if UNKNOWN in _operands(texts):
            return Doubt(reason=f"which processes `{name}` ends is known only as the shell runs")
        ends_all = is_wide(name, texts)
    elif name == "fuser":
        letters = "".join(text for text in texts if re.fullmatch("-[a-zA-Z]+", text))
        ends_all = {"k", "m"} <= set(letters)
    else:
        ends_all = name in ("killall5", "slay")
    if not ends_all:
        return None
    return Deny(
        reason="this would end every process there is, or those of the system",
        suggestion="end the process that you started, by its number",
    )


def is_wide(name: str, texts: Sequence[str]) -> bool:
    """Whether the words of `pgrep`, `pkill` or `killall` mean nothing in particular."""
    patterns = _operands(texts)
    letters = {letter for text in texts if re.fullmatch("-[a-z]+", text) for letter in text}
    if not patterns:
        return bool(texts) and not any(RELATED.fullmatch(text) for text in texts)
    if any(each in SYSTEM for each in patterns):
        return True
    if name == "killall":
        is_regular = bool(letters & set("rm")) or "--regexp" in texts
    else:
        if "v" in letters or "--inverse" in texts:
            return True
        is_regular = True
        if "x" in letters or "--exact" in texts:
            patterns = [each * 2 for each in patterns]
    return is_regular and any(
        SPECIFIC.search(re.sub(r"\[[^]]*\]+|\\.|\{[^}]*\}", "", choice)) is None
        for each in patterns
        for choice in each.split("|")
    )


def lists_all(name: str, texts: Sequence[str]) -> bool:
    """Whether the numbers of all processes are among what the command prints."""
    if name == "ps":
        return bool(texts) and WHOLE_LIST.match(texts[0]) is not None
    return name == "pgrep" and is_wide(name, texts)


def _operands(texts: Sequence[str]) -> list[str]:
    return [
        text
        for before, text in pairwise(["", *texts])
        if not text.startswith("-") and not VALUES.fullmatch(before)
    ]
