"""Commands that others start with words of their own making: `xargs`, `find -exec`, git aliases."""

import re
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Final

from ralph.core.policy.git_words import aliased
from ralph.core.policy.known import ALL, SOME, UNKNOWN, Field
from ralph.core.policy.places import file_words, some_of
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
NARROWS: Final = re.compile(
    r"-i?(?:name|path|wholename|regex|lname)|-empty|-x?type|-[acm](?:time|min)|-[ac]?newer.*"
    r"|-size|-perm|-user|-group|-uid|-gid|-no(?:user|group)|-links|-inum|-samefile|-used"
)
"""Conditions that leave a part of a folder."""
LISTERS: Final = frozenset(
    {"ls", "dir", "tree", "du", "stat", "file", "fd", "fdfind", "eza"}
    | {"rg", "grep", "egrep", "fgrep", "ag", "ack"}
)
"""They print names of files in the folders that they are given."""
EVERYWHERE: Final = frozenset({"locate", "plocate", "mlocate", "mdfind"})
OWN_STATE: Final = re.compile(r"(?:^|/)(\.git|\.ralph)(?:/|$)")
ITEM: Final = re.compile(r"(?:'[^']*'|\"[^\"]*\"|[^\s'\"])+")
QUOTES: Final = re.compile(r"['\"\\]")
MOST: Final = 50

Words = Sequence[Field]
Finder = Callable[[Words, str | None], list[tuple[Field, ...]]]


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
    given = next((word.printed for word in own if word.printed is not None), given)
    lines = given.splitlines()
    if replaced := _replaced(own):
        return [_filled(command, replaced, line) for line in lines[:MOST]]
    is_by_line = any(re.match("-[a-zA-Z]*[0d]|--null|--delim", word.text) for word in own)
    items = lines if is_by_line else [QUOTES.sub("", each) for each in ITEM.findall(given)]
    if len(items) <= MOST and any(re.match("-[a-zA-Z]*[nL]|--max-[al]", word.text) for word in own):
        # A few at a time, of which each may be the first.
        return [(*command, item(each)) for each in items]
    return [(*command, *map(item, items))]


def _replaced(own: Words) -> str:
    """What stands for a line of input in the command; empty when lines are appended."""
    for word, after in zip_longest(own, own[1:], fillvalue=Field("")):
        if found := re.fullmatch(r"(-I)(.*)|(?:-i|--replace)(?:=(.*))?", word.text):
            return (found[2] or after.text) if found[1] else found[3] or "{}"
    return ""


def item(text: str) -> Field:
    """A word that was read from somewhere; files may decide what becomes of it."""
    return Field(SOME if text == UNKNOWN else text, glob="*" in text and UNKNOWN not in text)


def _filled(command: Words, sign: str, value: str) -> tuple[Field, ...]:
    return tuple(
        item(field.text.replace(sign, value)) if sign in field.text else field for field in command
    )


def _find(words: Words, _stdin: str | None) -> list[tuple[Field, ...]]:
    found = []
    at = 1
    files = found_files(words)
    while at < len(words):
        if words[at].text not in EXECS:
            at += 1
            continue
        start = at + 1
        while at < len(words) and words[at].text not in (";", "+"):
            at += 1
        command = words[start:at]
        if command:
            found += [_filled(command, "{}", file) for file in files]
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


def found_files(words: Words) -> list[str]:
    """What it finds: all below its roots, or what its conditions leave of that."""
    texts = [word.text for word in words]
    values = _conditions(texts)
    roots = roots_of_find(words)[:MOST]
    roots = [SOME if root == UNKNOWN else root.rstrip("/") for root in roots]
    if not values:
        return [root + ALL for root in roots]
    named = {found[1] for value in values if (found := OWN_STATE.search(value))}
    if "-prune" in texts:
        named.clear()
    own = [f"{root}/{name}" for name in named for root in roots]
    return own + [f"{root}/{UNKNOWN}" for root in roots]


def listed(name: str, words: Words) -> list[str]:
    """The files that a command lists, where their folders are named or known."""
    if name == "find":
        return found_files(words)
    if name in EVERYWHERE:
        return [f"/{UNKNOWN}"]
    if name not in LISTERS:
        return []
    texts = [some_of(word) for word in words[1:]]
    files = texts if "--files" in texts else file_words(name, texts)
    return [
        file if UNKNOWN in file else f"{file.rstrip('/')}/{UNKNOWN}"
        for file in files
        if file.startswith(("/", "../")) or file == ".."
    ]


def _conditions(texts: Sequence[str]) -> list[str]:
    """The values of those that leave a part of a folder; most of it, if they are turned round."""
    return [
        after
        for before, text, after in zip(["", *texts], texts, [*texts[1:], ""], strict=False)
        if NARROWS.fullmatch(text)
        and before not in ("!", "-not")
        and not (text == "-type" and set(after) <= set("fd,"))
    ]


def _fd(words: Words, _stdin: str | None) -> list[tuple[Field, ...]]:
    for at, word in enumerate(words):
        if word.text in FD_EXECS and at + 1 < len(words):
            files = listed("fd", words[:at]) or [SOME]
            command = [field for field in words[at + 1 :] if field.text != ";"]
            if not any("{" in field.text for field in command):
                command.append(Field("{}"))
            return [_filled(command, "{}", file) for file in files]
    return []


def _parallel(words: Words, stdin: str | None) -> list[tuple[Field, ...]]:
    given = any(word.text.startswith(":::") for word in words)
    if given or (stdin is not None and UNKNOWN not in stdin):
        return []
    items = (stdin or UNKNOWN).split()
    return [(*command, *map(item, items)) for command in inner(words, PARALLEL, 1)[:1]]


def _behind(*signs: str) -> Finder:
    """All words behind the last of these."""

    def find(words: Words, _stdin: str | None) -> list[tuple[Field, ...]]:
        places = [at for at, word in enumerate(words) if word.text in signs]
        command = tuple(words[places[-1] + 1 :]) if places else ()
        return [command] if command else []

    return find


def _git(words: Words, _stdin: str | None) -> list[tuple[Field, ...]]:
    return [aliased(words)] if aliased(words) else []


FINDERS: Final[dict[str, Finder]] = {
    "xargs": _xargs,
    "find": _find,
    "fd": _fd,
    "fdfind": _fd,
    "parallel": _parallel,
    "git": _git,
    **dict.fromkeys(("gdb", "lldb"), _behind("--args", "--")),
    "nix": _behind("-c", "--command"),
    **dict.fromkeys(("dotenv", "dotenvx", "aws-vault", "chamber", "cpulimit"), _behind("--")),
}
