"""How a shell statement may end, when a status is only success or failure."""

from collections.abc import Iterable
from typing import Final, Literal

How = Literal["end", "exit", "return", "loop"]
"""Falls through to the next statement, or leaves the shell, the function or the loop."""

Ways = frozenset[tuple[How, bool]]
"""All the ways in which a statement may end; True is status 0."""

NONE: Final[Ways] = frozenset()
OK: Final[Ways] = frozenset({("end", True)})
FAIL: Final[Ways] = frozenset({("end", False)})
ANY: Final[Ways] = OK | FAIL


def with_status(statuses: Iterable[bool], how: How = "end") -> Ways:
    """One way for each status."""
    return frozenset((how, ok) for ok in statuses)


def ends(ways: Ways) -> frozenset[bool]:
    """The statuses that the next statement may find; none when it is never reached."""
    return frozenset(ok for how, ok in ways if how == "end")


def leaving(ways: Ways) -> Ways:
    """Those that never reach the next statement."""
    return frozenset(way for way in ways if way[0] != "end")


def negated(ways: Ways) -> Ways:
    """`! …`"""
    return frozenset((how, not ok if how == "end" else ok) for how, ok in ways)


def caught(ways: Ways, what: How) -> Ways:
    """Seen from outside the loop or the function, leaving it is just its end."""
    return frozenset(("end" if how == what else how, ok) for how, ok in ways)
