"""Which words of a command are shell text themselves: `bash -c`, `eval`, `ssh`, `watch`, …"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from ralph.core.policy.known import UNKNOWN, Field
from ralph.core.policy.wrappers import Wrapper, inner

SHELLS: Final = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "yash", "posh", "csh"}
    | {"tcsh", "hush"}
)
STDIN: Final = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})


class Shelled(NamedTuple):
    """A text that a shell will read."""

    text: Field
    arguments: tuple[str, ...] | None = None
    """What `$1` and those after it are in there."""
    zero: str = UNKNOWN
    """What `$0` is."""
    is_stdin: bool = False
    """It was read from there, so that nothing is left for what it runs."""


Words = Sequence[Field]
Reader = Callable[[Words, str | None], list[Shelled]]


def shelled(name: str, words: Words, stdin: str | None) -> list[Shelled]:
    """The texts that the command hands to a shell."""
    if name in SHELLS:
        return _shell(words, stdin)
    if name in ("source", "."):
        return _file(words[1:2], stdin)
    reader = READERS.get(name)
    if reader is not None:
        return [each for each in reader(words, stdin) if each.text.text.strip()]
    return []


def joined(words: Words) -> Field:
    """Words with blanks between them, as `eval` sees them."""
    if len(words) == 1:
        return words[0]
    start = words[0].inner if words else -1
    for before, after in pairwise(words):
        if before.inner < 0 or after.inner != before.inner + len(before.text) + 1:
            start = -1
    return Field(" ".join(field.text for field in words), inner=start)


def _shell(words: Words, stdin: str | None) -> list[Shelled]:
    at, wants_text, reads_stdin = 1, False, False
    while at < len(words) and words[at].text[:1] in ("-", "+") and len(words[at].text) > 1:
        option = words[at].text
        at += 1
        if option == "--":
            break
        if option in ("--rcfile", "--init-file", "-o", "+o", "-O", "+O"):
            at += 1
        elif not option.startswith("--"):
            wants_text = wants_text or ("c" in option and option[0] == "-")
            reads_stdin = reads_stdin or "s" in option[1:]
            # `-euo pipefail`, `-ceo pipefail '…'`
            at += 1 if option.endswith("o") else 0
        elif option == "--command":
            wants_text = True
    rest = words[at:]
    if wants_text:
        if rest and rest[0].text == "--":
            rest = rest[1:]
        zero = rest[1].text if len(rest) > 1 else words[0].text
        return [Shelled(rest[0], _texts(rest[2:]), zero)] if rest else []
    if reads_stdin or not rest:
        return [] if stdin is None else [Shelled(Field(stdin), _texts(rest), is_stdin=True)]
    return _file(rest, stdin)


def _file(words: Words, stdin: str | None) -> list[Shelled]:
    if not words:
        return []
    if words[0].printed is not None:
        return [Shelled(Field(words[0].printed), _texts(words[1:]))]
    if words[0].text in STDIN and stdin is not None:
        return [Shelled(Field(stdin), _texts(words[1:]), is_stdin=True)]
    return []


def _texts(words: Words) -> tuple[str, ...]:
    return tuple(field.text for field in words)


def _eval(words: Words, _stdin: str | None) -> list[Shelled]:
    rest = words[2:] if len(words) > 1 and words[1].text == "--" else words[1:]
    return [Shelled(joined(rest))] if rest else []


def _trap(words: Words, _stdin: str | None) -> list[Shelled]:
    rest = words[2:] if len(words) > 1 and words[1].text == "--" else words[1:]
    if len(rest) < 2 or rest[0].text.startswith("-"):
        return []
    return [Shelled(rest[0])]


def _after(*options: str) -> Reader:
    """The word after one of these options, also where it is the last of several letters."""

    def read(words: Words, _stdin: str | None) -> list[Shelled]:
        found = []
        for before, word in pairwise(words[1:]):
            text = before.text
            cluster = re.fullmatch("-[A-Za-z]+", text) and f"-{text[-1]}" in options
            if text in options or cluster:
                found.append(Shelled(word))
        for word in words[1:]:
            name, _, value = word.text.partition("=")
            if value and name in options:
                found.append(Shelled(Field(value)))
        return found

    return read


def _rest(wrapper: Wrapper) -> Reader:
    """All words after its own, joined."""

    def read(words: Words, _stdin: str | None) -> list[Shelled]:
        return [Shelled(joined(rest)) for rest in inner(words, wrapper, 1)[:1]]

    return read


def _stdin(_words: Words, stdin: str | None) -> list[Shelled]:
    return [] if stdin is None else [Shelled(Field(stdin), is_stdin=True)]


def _or_stdin(reader: Reader) -> Reader:
    """Without a command of its own it starts a shell, and that reads from there."""

    def read(words: Words, stdin: str | None) -> list[Shelled]:
        return reader(words, stdin) or _stdin(words, stdin)

    return read


def _group(words: Words, _stdin: str | None) -> list[Shelled]:
    """`sg staff 'make'`, `sg staff -c 'make'`"""
    return [Shelled(word) for word in words[2:] if word.text != "-c"][:1]


def _last(*options: str) -> Reader:
    """All words behind one of these options, joined; capitals and second slashes do not count."""

    def read(words: Words, _stdin: str | None) -> list[Shelled]:
        for at, word in enumerate(words[:-1]):
            if word.text.lower().replace("//", "/") in options:
                return [Shelled(joined(words[at + 1 :]))]
        return []

    return read


def _split(words: Words, _stdin: str | None) -> list[Shelled]:
    """`env -S 'a b' c`: words in one word, and those after it."""
    for at, word in enumerate(words[1:], 1):
        found = re.fullmatch(r"(?:-[a-zA-Z]*S|--split-string=?)(.*)", word.text, re.DOTALL)
        if found is not None:
            first = [Field(found.group(1))] if found.group(1) else []
            return [Shelled(joined([*first, *words[at + 1 :]]))]
    return []


def _parallel(words: Words, stdin: str | None) -> list[Shelled]:
    rest = inner(words, PARALLEL, 1)[:1]
    texts = [field.text for field in rest[0]] if rest else []
    cut = next((at for at, text in enumerate(texts) if re.fullmatch(":::+[+]?", text)), len(texts))
    template = " ".join(texts[:cut])
    values = texts[cut + 1 :] or [UNKNOWN if stdin is None else stdin.strip()]
    if values == [UNKNOWN] and template and "{" not in template:
        # Each value is one word behind it, in quotes: see `finding`.
        return [Shelled(Field(template))]
    if not template:
        return [Shelled(Field(value)) for value in values]
    filled = [re.sub(r"\{[^{} ]*\}", lambda _: value, template) for value in values[:20]]  # noqa: B023
    ends = ["" if "{" in template else f" {value}" for value in values[:20]]
    return [Shelled(Field(text + end)) for text, end in zip(filled, ends, strict=True)]


def evaluated(text: str) -> Shelled | None:
    """What a shell runs when it looks a name up: there may be a script in its brackets."""
    return Shelled(Field(f": {text}")) if EVALUATED.match(text) else None


def _names(*options: str) -> Reader:
    """Words that are taken for names: all, or those behind one of these options."""

    def read(words: Words, _stdin: str | None) -> list[Shelled]:
        found = [
            evaluated(word.text)
            for before, word in pairwise(words)
            if not options or before.text in options
        ]
        return [each for each in found if each is not None]

    return read


def _any(words: Words, _stdin: str | None) -> list[Shelled]:
    """`tmux new 'make'`, `tmux send-keys 'make' Enter`: any word may be one."""
    return [Shelled(word) for word in words[1:] if " " in word.text and word.known]


EVALUATED: Final = re.compile(r"\w+\[.*(?:\$\(|`)", re.DOTALL)
PARALLEL: Final = Wrapper("jNnPLSaI", ("--jobs", "--joblog", "--colsep"))
SSH: Final = Wrapper("bcDEeFIiJLlmOopQRSWw", (), 1)
READERS: Final[dict[str, Reader]] = {
    "eval": _eval,
    "trap": _trap,
    "ssh": _or_stdin(_rest(SSH)),
    "watch": _rest(Wrapper("nq", ("--interval", "--equexit"))),
    "su": _or_stdin(_after("-c", "--command", "--session-command")),
    "runuser": _after("-c", "--command", "--session-command"),
    "sg": _group,
    "capsh": _after("-c"),
    "cmd": _last("/c", "/k"),
    **dict.fromkeys(("powershell", "pwsh"), _last("-c", "-command")),
    "script": _after("-c", "--command"),
    "flock": _after("-c", "--command"),
    **dict.fromkeys(("npx", "npm"), _after("-c", "--call")),
    "nix-shell": _after("--run", "--command"),
    "env": _split,
    "xterm": _last("-e"),
    "entr": _after("-s"),
    "nodemon": _after("-x", "--exec"),
    **dict.fromkeys(("hyperfine", "concurrently", "pee"), _any),
    **dict.fromkeys(("let", "unset", "read", "declare", "typeset", "local", "readonly"), _names()),
    **dict.fromkeys(("printf", "test", "["), _names("-v")),
    **dict.fromkeys(("mapfile", "readarray", "complete", "compgen"), _after("-C")),
    "parallel": _parallel,
    "sem": _rest(PARALLEL),
    "tmux": _any,
    "screen": _any,
}
