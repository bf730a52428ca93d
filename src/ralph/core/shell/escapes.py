"""Characters behind backslashes, and text made safe for a shell."""

import re
from typing import Final

SIMPLE: Final = dict(zip("abeEfnrtv\\'\"?", "\a\b\033\033\f\n\r\t\v\\'\"?", strict=True))
ESCAPE: Final = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,2})|u(?P<short>[0-9a-fA-F]{1,4})"
    r"|U(?P<long>[0-9a-fA-F]{1,8})|c(?P<control>.)|(?P<simple>.))",
    re.DOTALL,
)
LAST: Final = 0x10FFFF


def ansi(text: str) -> str:
    """What stands between `$'` and `'`, as the shell takes it."""
    return ESCAPE.sub(_character, text) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    kind = found.lastgroup
    given = found.group(kind or 0)
    if kind == "simple":
        return SIMPLE.get(given, "\\" + given)
    if kind == "control":
        code = ord(given) & 0x1F
    else:
        code = int(given, 8) & 0xFF if kind == "octal" else int(given, 16)
    # A zero ends the string in a shell, and means "unknown" here.
    return chr(code) if 0 < code <= LAST else ""


def quote(word: str) -> str:
    """A word that a shell reads as just this."""
    if word and re.fullmatch(r"[\w@%+=:,./-]+", word, re.ASCII):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"
