"""Which variables a text leaves in plain sight."""

import re
from typing import Final

OTHER_WAYS: Final = re.compile(r"\b(?:let|read|mapfile|readarray|getopts|unset)\b|\(\(|\$\[")
"""Ways to change a variable that cannot be followed by its name."""
ARGUMENTS: Final = re.compile(
    r"\b(?:shift|getopts)\b|\bset\b"
    r"(?>(?:[ \t]+[-+]\w*o[ \t]+\w+|[ \t]+[-+]\w+)*)[ \t]+(?:--?(?!\S)|[^-+\s;&|])"
)
"""What gives a function other arguments than it was called with."""
DECLARED: Final = re.compile(
    r"\b(?:export|readonly|local|declare|typeset|printf|env)\b(?P<what>[^;&|\n]*)"
)
NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
BEFORE: Final = " \t\n;&|(`'\""
"""What may stand just before an assignment."""
ALWAYS_SET: Final = frozenset(
    {"HOME", "PATH", "PWD", "OLDPWD", "USER", "LOGNAME", "SHELL", "IFS", "PPID", "LANG", "TERM"}
    | {"BASH", "BASHPID", "BASH_VERSION", "EUID", "HOSTNAME", "LINENO", "PIPESTATUS", "RANDOM"}
    | {"SECONDS", "SHLVL", "TMPDIR", "UID", "BASH_SOURCE", "FUNCNAME", "OPTIND", "OSTYPE"}
)


class Names:
    """What a text does with names of variables."""

    def __init__(self, text: str) -> None:
        self.arguments_move = ARGUMENTS.search(text) is not None
        self.given: set[str] = set()
        """All that stand anywhere but behind a `$`: something may set them."""
        other = set(NAME.findall(" ".join(found["what"] for found in DECLARED.finditer(text))))
        plain: set[str] = set()
        for found in NAME.finditer(text):
            start, end = found.span()
            before, after = text[max(start - 2, 0) : start], text[end : end + 1]
            if before.endswith("$") or (before == "${" and after == "}"):
                continue
            self.given.add(found.group())
            is_plain = after == "=" and (not before or before[-1] in BEFORE)
            (plain if is_plain else other).add(found.group())
        self.followed = frozenset() if OTHER_WAYS.search(text) else frozenset(plain - other)
        """Those that nothing sets but plain assignments."""
