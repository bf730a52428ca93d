"""Commands that change the shell itself: where it stands, its variables, its arguments."""

import re
from collections.abc import Callable, Sequence
from typing import Final

from ralph.core.policy.known import SOME, UNKNOWN, Field, Frame, Known
from ralph.core.policy.places import resolved
from ralph.core.policy.processes import FIRST_PROCESS

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
ASSIGNED: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=(.*)", re.DOTALL)

Words = Sequence[Field]


def change(name: str, words: Words, frame: Frame, known: Known) -> None:
    """Keep in mind what the command changes."""
    changes = CHANGES.get(name)
    if changes is not None:
        changes(words, frame, known)


def _cd(words: Words, frame: Frame, known: Known) -> None:
    places = [word.text for word in words[1:] if word.text == "-" or word.text[:1] != "-"]
    if not places:
        frame.cwd = next(iter(known.variables["HOME"]))[0]
    elif places[0] == "-" or places[0].startswith(UNKNOWN):
        frame.cwd = None
    else:
        frame.cwd = resolved(places[0], frame.cwd)
    known.assign("PWD", (frame.cwd or UNKNOWN,))


def _somewhere(_words: Words, frame: Frame, _known: Known) -> None:
    frame.cwd = None


def _declare(words: Words, frame: Frame, known: Known) -> None:
    refers = any(re.fullmatch(r"-\w*n\w*", word.text) for word in words[1:])
    for word in words[1:]:
        if found := ASSIGNED.fullmatch(word.text):
            name, adds, value = found.groups()
            if refers and words[0].text in ("declare", "typeset", "local"):
                value = UNKNOWN
            frame.assigned.add(name)
            if adds:
                known.extend(name, (value,), array=False)
            else:
                known.assign(name, (value,))


def _read(words: Words, frame: Frame, known: Known) -> None:
    lines = (frame.stdin or "").split()
    # Names of files are followed; of all else only the running shell knows what goes where.
    values = [line for line in lines if UNKNOWN in line or line == FIRST_PROCESS] or [UNKNOWN]
    for name in ("REPLY", *(word.text for word in words[1:] if NAME.fullmatch(word.text))):
        frame.assigned.add(name)
        for value in values:
            known.assign(name, (SOME if value == UNKNOWN and lines else value,))


def _printf(words: Words, _frame: Frame, known: Known) -> None:
    if len(words) > 2 and words[1].text == "-v":
        known.assign(words[2].text, (UNKNOWN,))


def _set(words: Words, frame: Frame, _known: Known) -> None:
    at = 1
    while at < len(words) and re.fullmatch(r"[-+]\w+", words[at].text):
        at += 2 if words[at].text.endswith("o") else 1
    if at < len(words):
        rest = words[at + 1 :] if words[at].text in ("--", "-") else words[at:]
        given = tuple(word.text for word in rest)
        # Kept beside those before: this one may stand where the shell never comes.
        frame.arguments = (*frame.arguments[-3:], given)


def _shift(_words: Words, frame: Frame, _known: Known) -> None:
    frame.shifted = True


def _alias(words: Words, _frame: Frame, known: Known) -> None:
    for word in words[1:]:
        name, is_given, text = word.text.partition("=")
        if is_given and name:
            known.rename(name, text)


def _hash(words: Words, _frame: Frame, known: Known) -> None:
    if len(words) > 3 and words[1].text == "-p":
        known.rename(words[3].text, words[2].text)


CHANGES: Final[dict[str, Callable[[Words, Frame, Known], None]]] = {
    "cd": _cd,
    "chdir": _cd,
    "pushd": _cd,
    "popd": _somewhere,
    "z": _somewhere,
    **dict.fromkeys(("declare", "typeset", "local", "export", "readonly"), _declare),
    **dict.fromkeys(("read", "mapfile", "readarray", "getopts"), _read),
    "printf": _printf,
    "set": _set,
    "shift": _shift,
    "alias": _alias,
    "hash": _hash,
}
