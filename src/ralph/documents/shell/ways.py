"""How a shell statement may end, and in which state it leaves the shell."""

from collections.abc import Callable, Iterable
from typing import Final, Literal, NamedTuple

How = Literal["end", "exit", "return", "break", "continue", "gone"]
"""Falls through to the next statement, or leaves the shell, the function or the loop; `gone` leaves
the shell without its traps."""


class State(NamedTuple):
    """What earlier statements have made of a shell."""

    ok: bool = True
    """What `$?` is, when a status is only success or failure."""
    errexit: bool = False
    pipefail: bool = False
    nounset: bool = False
    errtrace: bool = False
    noexec: bool = False
    """`set -n`: all that follows is read, and nothing is run."""
    inherits: bool = True
    """Whether `set -e` also counts inside `$(…)`: in sh it does, in bash it does not."""
    functions: tuple[tuple[str, int], ...] = ()
    """Names, and which definition of each counts."""
    traps: tuple[tuple[str, str], ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    """Variables whose value is known."""


class Way(NamedTuple):
    """One way in which a statement may end."""

    how: How
    state: State
    levels: int = 0
    """How many loops are left."""


Ways = frozenset[Way]
NONE: Final[Ways] = frozenset()


def ended(state: State, statuses: Iterable[bool]) -> Ways:
    """It falls through with one of these."""
    return frozenset(Way("end", state._replace(ok=ok)) for ok in statuses)


def succeeded(state: State) -> Ways:
    """It always succeeds."""
    return ended(state, {True})


def failed(state: State) -> Ways:
    """It always fails."""
    return ended(state, {False})


def either(state: State) -> Ways:
    """Success or failure: nobody knows."""
    return ended(state, {True, False})


def then(ways: Iterable[Way], following: Callable[[State], Ways]) -> Ways:
    """What follows is reached only by those that fall through."""
    result: set[Way] = set()
    for way in ways:
        result |= following(way.state) if way.how == "end" else {way}
    return frozenset(result)


def caught(ways: Iterable[Way], what: How) -> Ways:
    """Seen from outside, leaving it that way is just its end."""
    return frozenset(Way("end", way.state) if way.how == what else way for way in ways)


def with_entry(
    table: tuple[tuple[str, str], ...], name: str, value: str | None
) -> tuple[tuple[str, str], ...]:
    """The table with another value for the name; None takes it out."""
    kept = dict(table)
    kept.pop(name, None)
    if value is not None:
        kept[name] = value
    return tuple(sorted(kept.items()))
