"""Which files a command writes, and whether they have an effect outside the session."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from posixpath import basename
from typing import Final

from ralph.core.policy.decision import Deny, Ground
from ralph.core.policy.git_reads import only_looks
from ralph.core.policy.git_words import git_call
from ralph.core.policy.known import Field
from ralph.core.policy.places import (
    DEVICE,
    TEMPORARY,
    file_words,
    homes,
    in_checkout,
    is_spare,
    is_within,
    parted,
    resolved,
)
from ralph.core.policy.walking import Call

REDIRECTS: Final = frozenset({">", ">>", ">|", "&>", "&>>", ">&", "<>"})
EDITORS: Final = frozenset(
    {"tee", "sponge", "truncate", "shred", "patch"}
    | {"ed", "ex", "vi", "vim", "nvim", "nano", "emacs"}
)
"""They change all files that they are given."""
COPIERS: Final = frozenset({"cp", "mv", "ln", "install", "rsync", "scp"})
"""They write to the last place that they are given."""
DOWNLOADERS: Final = {"curl": ("o", "output"), "wget": ("O|P", "output-document|directory-prefix")}
EXTRACTORS: Final = {
    **dict.fromkeys(("tar", "bsdtar"), (r".* (?:-[a-zA-Z]*x|--extract|--get)", "C", "directory")),
    "unzip": (r"(?!.* -[a-zA-Z]*[lptvZ])", "d", "none"),
    **dict.fromkeys(("7z", "7za", "7zz"), (" [xe] ", "o", "none")),
    "cpio": (".* -(?:[a-z]*i|-extract)", "D", "directory"),
}
"""With which words they extract, and the option for where."""
SYSTEM: Final = re.compile(
    r"/(?:(?:bin|boot|etc|lib\w*|opt|proc|run|sbin|srv|sys|usr|var|private|Applications|Library"
    r"|System)(?:/.*)?)?",
    re.DOTALL,
)
NOT_SYSTEM: Final = re.compile(r"/(?:proc/(?:self|\d+)|(?:private/)?var/folders)/.*", re.DOTALL)
SETTINGS: Final = re.compile(r"/(?:\.[^/]+|bin|Library)(?:/.*)?", re.DOTALL)
"""In a home: what shells, desktops and other programs run or obey when they start."""
CACHES: Final = re.compile(
    r"/(?:(?:\.cache|\.npm|\.m2|\.gradle|\.[^/]+/plans|Library/Caches)(?:/.*)?|\.ssh/known_hosts)",
    re.DOTALL,
)
REPOSITORY: Final = re.compile(r"(?:.*/)?\.git(?:/(?!info/).*)?", re.DOTALL)


def judge_writing(call: Call, ground: Ground) -> Deny | None:
    """Whether the command writes where a session has no business."""
    for text in _files(call, ground):
        if found := judge_written(text, call.cwd, ground):
            return found
    for text in _folders(call):
        path = resolved(text, call.cwd)
        if path is not None and path not in TEMPORARY and path != ground.checkout:
            if is_within(ground.checkout, path) or is_within(ground.home, path):
                return _deny(text)
            if found := judge_written(text, call.cwd, ground):
                return found
    return None


def judge_written(text: str, cwd: str | None, ground: Ground) -> Deny | None:
    """The same for one file."""
    if DEVICE.match(text):
        return disk(text)
    path = resolved(text, cwd)
    if path is None or path in TEMPORARY or is_spare(path, ground):
        return None
    if in_checkout(path, ground):
        found = REPOSITORY.fullmatch(path[len(ground.checkout) + 1 :])
    elif inside := re.fullmatch(f"{homes(ground.home)}(/.*)", path, re.DOTALL):
        found = SETTINGS.fullmatch(inside[1]) if not CACHES.fullmatch(inside[1]) else None
    else:
        found = SYSTEM.fullmatch(path) if not NOT_SYSTEM.fullmatch(path) else None
    return _deny(text) if found else None


def disk(what: str) -> Deny:
    """For whatever writes to one."""
    return Deny(reason=f"this writes to a disk itself ({what})", suggestion="write to a file")


def _deny(text: str) -> Deny:
    return Deny(
        reason=f"`{Field(text).shown}` has an effect outside this session",
        suggestion="write to the checkout, or to a folder below /tmp",
    )


def _files(call: Call, ground: Ground) -> Iterator[str]:
    """The files that the command writes, by name."""
    yield from (field.text for operator, field in call.redirects if operator in REDIRECTS)
    words = [word.text for word in call.words[1:]]
    options, operands = parted(call.words[1:])
    if call.name in EDITORS:
        yield from (word.text for word in operands)
    elif call.name in ("sed", "perl", "awk", "gawk", "ruby", "yq") and any(
        re.match(r"-[a-zA-Z]*i|--in-place", option) for option in options
    ):
        yield from file_words(call.name, [word for word in words if word != "inplace"])
    elif call.name == "dd":
        yield from (word[3:] for word in words if word.startswith("of="))
    elif call.name in DOWNLOADERS:
        yield from _values(words, *DOWNLOADERS[call.name])
    elif call.name in COPIERS:
        sources, target = _copied(call)
        if target and (":" not in target or call.name not in ("rsync", "scp")):
            yield target
            yield from (
                f"{target}/{basename(source.rpartition(':')[2].rstrip('/'))}" for source in sources
            )
        yield from sources if call.name == "mv" else ()
    elif call.name == "git":
        git = git_call(call.words)
        given = [word.text for word in git.arguments]
        if git.subcommand == "config" and {"--global", "--system"} & set(given):
            yield from () if only_looks("config", given) else [f"{ground.home}/.gitconfig"]


def _folders(call: Call) -> Iterator[str]:
    """The folders in which the command writes files that it does not name."""
    words = [word.text for word in call.words[1:]]
    if call.name in EXTRACTORS:
        extracts, letter, long = EXTRACTORS[call.name]
        if call.name.endswith("tar") and words and not words[0].startswith("-"):
            words = _spelled_out(words)
        if re.match(extracts, f" {' '.join(words)} ", re.DOTALL):
            yield from list(_values(words, letter, long)) or ["."]
            if call.name.endswith("tar") and any(re.match("-[a-zA-Z]*P", word) for word in words):
                yield "/"
    elif call.name in COPIERS and call.name != "ln":
        sources, target = _copied(call)
        options = [word for word in words if re.match(r"-[a-zA-Z]*[rRa]|--rec|--arch", word)]
        if target and (options or call.name == "rsync" or any("*" in each for each in sources)):
            yield from () if ":" in target else [target]


def _copied(call: Call) -> tuple[list[str], str]:
    """What is copied, and where to."""
    words = [word.text for word in call.words[1:]]
    operands = [word.text for word in parted(call.words[1:])[1]]
    target = next(_values(words, "t", "target-directory"), "") if call.name != "rsync" else ""
    if target:
        return [word for word in operands if word != target], target
    return operands[:-1], operands[-1] if len(operands) > 1 else ""


def _values(words: Sequence[str], letter: str, long: str) -> Iterator[str]:
    """What stands behind an option, in the same word or in the next."""
    option = re.compile(rf"-[a-zA-Z]*?(?:{letter})(.*)|--(?:{long})(?:=(.*))?", re.DOTALL)
    for word, after in pairwise([*words, ""]):
        if found := option.fullmatch(word):
            yield found[1] or found[2] or after


def _spelled_out(words: Sequence[str]) -> list[str]:
    """`tar xfC FILE FOLDER` with a dash before each letter, and its value behind it."""
    rest = iter(words[1:])
    found: list[str] = []
    for letter in words[0]:
        found += [f"-{letter}", next(rest, "")] if letter in "fCbTX" else [f"-{letter}"]
    return [*found, *rest]
