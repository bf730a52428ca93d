"""The files that a task says it will modify. Two that name the same one are not run at once."""

from collections.abc import Iterable
from posixpath import normpath
from typing import Final

from ralph.core.errors import UsageError
from ralph.core.safe_text import one_line

MOST: Final = 200
"""As many are learned about a task; one that touches more is in everybody's way."""


def named(paths: Iterable[str]) -> tuple[str, ...]:
    """As they are compared: each once, from the top of the project, without detours. UsageError
    for what cannot be such a path."""
    return in_order(_one(path) for path in paths)


def usable(paths: Iterable[str]) -> tuple[str, ...]:
    """The same for what stands in a document, where people write many things: the rest is left
    out."""
    return in_order(filter(None, map(_plain, paths)))


def _one(path: str) -> str:
    plain = _plain(path)
    if not plain:
        raise UsageError(
            f"{one_line(path, 100)!r} is not a file below the top of the project",
            hint="name it as git does: src/app.py",
        )
    return plain


def _plain(path: str) -> str:
    """Without detours; nothing for what is outside of the project, or no name."""
    plain = normpath(path) if path else ""
    outside = plain.startswith("/") or plain.split("/", 1)[0] in ("", ".", "..")
    return plain if plain.isprintable() and not outside else ""


def in_order(paths: Iterable[str]) -> tuple[str, ...]:
    """Each once, in the order in which they are kept."""
    return tuple(sorted(set(paths)))


def learned(known: tuple[str, ...], touched: Iterable[str]) -> tuple[str, ...]:
    """What a task names, and what its session has touched besides, up to a limit. Names that
    cannot be stored are left out."""
    new = [path for path in in_order(touched) if path not in known and _is_text(path)]
    return in_order((*known, *new[: max(0, MOST - len(known))]))


def _is_text(path: str) -> bool:
    """Names may hold anything, also bytes that are no characters; nobody can name those."""
    return bool(path) and path.isprintable()
