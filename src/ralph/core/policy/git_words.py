"""A git command taken apart: its own options, the subcommand, and what it would run."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from ralph.core.policy.known import Field

WITH_VALUE: Final = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env"}
    | {"--exec-path", "--attr-source", "--list-cmds"}
)
RUNS: Final = re.compile(
    r"(?:core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy)|sequence\.editor"
    r"|pager\..*|diff\.external|diff\..*\.(?:command|textconv)|filter\..*|merge\..*\.driver"
    r"|credential\..*helper|credential\.helper|gpg\.(?:.*\.)?program|difftool\..*|mergetool\..*"
    r"|browser\..*|man\..*|remote\..*\.(?:uploadpack|receivepack)|uploadpack\..*)",
    re.IGNORECASE,
)
"""Settings whose value is a command."""
VARIABLES: Final = (
    *("GIT_PAGER", "PAGER", "GIT_EDITOR", "EDITOR", "VISUAL", "GIT_SEQUENCE_EDITOR"),
    *("GIT_SSH_COMMAND", "GIT_SSH", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "GIT_PROXY_COMMAND"),
)
"""Variables whose value is a command."""
OPTIONS: Final = re.compile(
    r"--(?:upload-pack|receive-pack|exec|extcmd|open-files-in-pager)=(?P<long>.+)|-O(?P<pager>.+)",
    re.DOTALL,
)


class GitCall(NamedTuple):
    """A git command."""

    subcommand: str
    """Empty when there is none, as in `git --version`."""
    arguments: tuple[Field, ...]
    settings: tuple[tuple[str, str], ...]
    """Given with `-c`."""
    is_clear: bool
    """False when the subcommand is known only as the shell runs."""


def git_call(words: Sequence[Field]) -> GitCall:
    """The parts of a git command."""
    settings: list[tuple[str, str]] = []
    at, is_clear = 1, True
    name = words[0].text.rpartition("/")[2].lower()
    while at < len(words):
        word = words[at]
        if word.bare:
            is_clear = False
            at += 1
        elif not word.text.startswith("-"):
            break
        elif word.text in WITH_VALUE:
            if word.text == "-c" and at + 1 < len(words):
                key, _, value = words[at + 1].text.partition("=")
                settings.append((key, value))
            at += 2
        else:
            at += 1
    if name.startswith("git-"):
        return GitCall(name[4:], tuple(words[1:]), tuple(settings), is_clear=True)
    if at >= len(words):
        return GitCall("", (), tuple(settings), is_clear)
    known = words[at].known and not words[at].glob
    return GitCall(
        words[at].text, tuple(words[at + 1 :]), tuple(settings), is_clear=is_clear and known
    )


def aliased(words: Sequence[Field]) -> tuple[Field, ...]:
    """The git command behind an alias that the command itself brings along."""
    call = git_call(words)
    for key, value in call.settings:
        section, _, name = key.partition(".")
        if section.lower() == "alias" and not value.startswith("!"):
            rest = call.arguments if name == call.subcommand else ()
            return (words[0], *(Field(word) for word in value.split()), *rest)
    return ()


def git_texts(words: Sequence[Field]) -> list[Field]:
    """What git would hand to a shell."""
    call = git_call(words)
    arguments = call.arguments
    texts = []
    for key, value in call.settings:
        if key.lower().startswith("alias.") and value.startswith("!"):
            texts.append(Field(value[1:]))
        elif RUNS.fullmatch(key):
            texts.append(Field(value.removeprefix("!")))
    for word in arguments:
        if found := OPTIONS.fullmatch(word.text):
            texts.append(Field(found["long"] or found["pager"]))
        elif word.text.startswith("ext::"):
            texts.append(Field(word.text[5:]))
    for option, value_ in pairwise(arguments):
        if option.text in ("-x", "--exec", "--extcmd", "--upload-pack"):
            texts.append(value_)
    first = arguments[0].text if arguments else ""
    if (call.subcommand, first) in (("bisect", "run"), ("submodule", "foreach")):
        rest = [word for word in arguments[1:] if word.text != "--recursive"]
        texts.append(rest[0] if len(rest) == 1 else Field(" ".join(each.text for each in rest)))
    return [text for text in texts if text.text.strip()]
