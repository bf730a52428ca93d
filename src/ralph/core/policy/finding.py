"""Commands that others start with words of their own making: `xargs`, `find -exec`, git aliases."""

from collections.abc import Callable, Sequence
from typing import Final

from ralph.core.policy.git_words import aliased
from ralph.core.policy.known import UNKNOWN, Field
from ralph.core.policy.shells import PARALLEL
from ralph.core.policy.wrappers import Wrapper, inner

XARGS: Final = Wrapper(
    "aEILnPsd",
    (
        *("--arg-file", "--delimiter", "--max-args", "--max-procs", "--max-lines"),
        *("--max-chars", "--process-slot-var"),
    ),
)
EXECS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
FD_EXECS: Final = frozenset({"-x", "-X", "--exec", "--exec-batch"})
MOST: Final = 50

Words = Sequence[Field]


def found_commands(name: str, words: Words, stdin: str | None) -> list[tuple[Field, ...]]:
    """The commands that this one starts, with what is known of their words."""
    finder = FINDERS.get(name)
    return finder(words, stdin) if finder is not None else []


def _xargs(words: Words, stdin: str | None) -> list[tuple[Field, ...]]:
    given = UNKNOWN if stdin is None else stdin
    commands = inner(words, XARGS, 1)
    if not commands:
        return []
    command = tuple(commands[0])
    own = words[1 : len(words) - len(command)]
    if replaced := _replaced(own):
        lines = given.splitlines()[:MOST] if UNKNOWN not in given else [UNKNOWN]
        return [_filled(command, replaced, line) for line in lines]
    if UNKNOWN in given or len(given.split()) > MOST:
        return [(*command, Field(UNKNOWN))]
    return [(*command, *(Field(word) for word in given.split()))]


def _replaced(own: Words) -> str:
    """What stands for a line of input in the command; empty when lines are appended."""
    for number, word in enumerate(own):
        if word.text == "-I":
            return own[number + 1].text if number + 1 < len(own) else ""
        if word.text.startswith("-I"):
            return word.text[2:]
        if word.text.startswith("--replace="):
            return word.text.partition("=")[2]
        if word.text in ("-i", "--replace"):
            return "{}"
    return ""


def _filled(command: Words, sign: str, value: str) -> tuple[Field, ...]:
    return tuple(
        Field(field.text.replace(sign, value)) if sign in field.text else field for field in command
    )


def _find(words: Words, _stdin: str | None) -> list[tuple[Field, ...]]:
    found = []
    at = 1
    roots = roots_of_find(words)
    while at < len(words):
        if words[at].text not in EXECS:
            at += 1
            continue
        start = at + 1
        while at < len(words) and words[at].text not in (";", "+"):
            at += 1
        command = words[start:at]
        if command:
            found += [_filled(command, "{}", f"{root}/{UNKNOWN}") for root in roots[:MOST]]
    return found


def roots_of_find(words: Words) -> list[str]:
    """Where it looks."""
    roots = []
    for word in words[1:]:
        if word.text[:1] in ("-", "(", "!", ")"):
            if word.text in ("-L", "-H", "-P", "-E") or word.text.startswith("-O"):
                continue
            break
        roots.append(word.text)
    return roots or ["."]


def _fd(words: Words, _stdin: str | None) -> list[tuple[Field, ...]]:
    for at, word in enumerate(words):
        if word.text in FD_EXECS and at + 1 < len(words):
            command = _filled(words[at + 1 :], "{}", f"./{UNKNOWN}")
            return [tuple(field for field in command if field.text != ";")]
    return []


def _parallel(words: Words, stdin: str | None) -> list[tuple[Field, ...]]:
    given = any(word.text.startswith(":::") for word in words)
    if given or (stdin is not None and UNKNOWN not in stdin):
        return []
    return [(*command, Field(UNKNOWN)) for command in inner(words, PARALLEL, 1)[:1]]


def _git(words: Words, _stdin: str | None) -> list[tuple[Field, ...]]:
    return [aliased(words)] if aliased(words) else []


FINDERS: Final[dict[str, Callable[[Words, str | None], list[tuple[Field, ...]]]]] = {
    "xargs": _xargs,
    "gxargs": _xargs,
    "find": _find,
    "gfind": _find,
    "fd": _fd,
    "fdfind": _fd,
    "parallel": _parallel,
    "git": _git,
}
