"""Which git commands only look."""

import re
from collections.abc import Callable, Sequence
from typing import Final

LOOKS: Final = frozenset(
    {"status", "diff", "log", "show", "blame", "annotate", "grep", "ls-files", "ls-tree"}
    | {"ls-remote", "rev-parse", "rev-list", "cat-file", "describe", "shortlog", "help", "version"}
    | {"whatchanged", "cherry", "merge-base", "name-rev", "show-ref", "show-branch", "show-index"}
    | {"for-each-ref", "diff-tree", "diff-index", "diff-files", "range-diff", "check-ignore"}
    | {"check-attr", "check-mailmap", "check-ref-format", "count-objects", "fsck", "var"}
    | {"verify-commit", "verify-tag", "verify-pack", "archive", "patch-id", "get-tar-commit-id"}
    | {"stripspace", "column", "request-pull", "merge-tree", "format-patch", "diff-pairs"}
    | {"fmt-merge-msg", "last-modified"}
)
"""Whatever their arguments are."""

LISTING: Final = re.compile(
    r"-[ailrvq]+|-n\d*|--(?:list|all|remotes|verbose|quiet|show-current|contains|no-contains|merged"
    r"|no-merged|points-at|sort|format|column|no-column|color|no-color|abbrev|no-abbrev"
    r"|ignore-case|omit-empty|verify)(?:=.*)?",
    re.DOTALL,
)
PATTERNS: Final = re.compile(
    r"-\w*[lv]\w*|-n\d*|--(?:list|contains|no-contains|merged|no-merged|points-at|verify)(?:=.*)?",
    re.DOTALL,
)
"""With one of these, a name is something to look for."""
VALUES: Final = frozenset({"--sort", "--format", "--color", "--abbrev", "--column"})

Arguments = Sequence[str]


def only_looks(subcommand: str, arguments: Arguments) -> bool:
    """Whether the command changes nothing in the repository."""
    if arguments and set(arguments) <= {"-h", "--help"}:
        return True
    looks = BY_ARGUMENTS.get(subcommand)
    return subcommand in LOOKS if looks is None else looks(arguments)


def _listing(arguments: Arguments) -> bool:
    """Listing needs no name, or an option that makes the name a pattern."""
    rest = list(arguments)
    names, has_patterns = 0, False
    while rest:
        word = rest.pop(0)
        if word in VALUES and rest:
            rest.pop(0)
        elif LISTING.fullmatch(word):
            has_patterns = has_patterns or PATTERNS.fullmatch(word) is not None
        elif word.startswith("-"):
            return False
        else:
            names += 1
    return names == 0 or has_patterns


def _branch(arguments: Arguments) -> bool:
    """`git branch -v x` makes a branch, whereas `git tag -v x` makes nothing."""
    return _listing([word for word in arguments if not re.fullmatch("-[vqar]+|--verbose", word)])


def _first(*words: str, alone: bool = False) -> Callable[[Arguments], bool]:
    """Only with one of these words first; `alone`: or without arguments."""

    def looks(arguments: Arguments) -> bool:
        given = [word for word in arguments if word not in ("-v", "--verbose", "-q", "--quiet")]
        return given[0] in words if given else alone

    return looks


def _reflog(arguments: Arguments) -> bool:
    return not arguments or arguments[0] not in ("expire", "delete", "drop", "write")


def _config(arguments: Arguments) -> bool:
    """`git config --get x`, `git config list`, and `git config x`, which looks it up."""
    given = [word for word in arguments if not re.fullmatch(CONFIG_PLACES, word)]
    options = [word for word in given if word.startswith("-")]
    if any(
        re.fullmatch(r"--get(?:-all|-regexp|-urlmatch|-color|-colorbool)?|--list|-l", word)
        for word in options
    ):
        return True
    if given[:1] in (["get"], ["list"]):
        return True
    return len(given) == 1 and not options and "." in given[0]


CONFIG_PLACES: Final = (
    r"--(?:global|local|system|worktree|show-origin|show-scope|name-only|null|includes|no-includes"
    r"|(?:file|blob|type|default)=.*|bool|int|path)|-z"
)


def _symbolic_ref(arguments: Arguments) -> bool:
    names = [word for word in arguments if not word.startswith("-")]
    return len(names) == 1 and not {"-d", "--delete"} & set(arguments)


def _without(*words: str) -> Callable[[Arguments], bool]:
    """Looks, unless one of these options is there."""

    def looks(arguments: Arguments) -> bool:
        return not any(word.startswith(option) for word in arguments for option in words)

    return looks


def _apply(arguments: Arguments) -> bool:
    looks = {"--check", "--stat", "--numstat", "--summary"}
    return bool(looks & set(arguments)) and "--apply" not in arguments


BY_ARGUMENTS: Final[dict[str, Callable[[Arguments], bool]]] = {
    "": lambda _arguments: True,
    "clean": lambda arguments: any(
        re.fullmatch("-[a-z]*n[a-z]*|--dry-run", word) for word in arguments
    ),
    "branch": _branch,
    "tag": _listing,
    "config": _config,
    "reflog": _reflog,
    "apply": _apply,
    "symbolic-ref": _symbolic_ref,
    "hash-object": _without("-w"),
    "interpret-trailers": _without("--in-place"),
    "stash": _first("list", "show"),
    "remote": _first("show", "get-url", alone=True),
    "worktree": _first("list"),
    "submodule": _first("status", "summary", alone=True),
    "notes": _first("list", "show", alone=True),
    "bisect": _first("log", "view", "visualize", "terms"),
    "sparse-checkout": _first("list"),
    "bundle": _first("verify", "list-heads"),
    "lfs": _first("ls-files", "status", "env", "version", "logs", "locks"),
}
