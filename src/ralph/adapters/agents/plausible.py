"""Numbers that a program reports, as far as they can be true."""

from typing import Final

MOST: Final = 2**53
"""A number beyond this is no count, and no amount either."""


def count(number: int | None) -> int | None:
    """How many: None where nobody can know."""
    return number if number is not None and 0 <= number <= MOST else None


def amount(number: float | None) -> float | None:
    """How much: None where nobody can know."""
    return number if number is not None and 0 <= number <= MOST else None
