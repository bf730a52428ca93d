"""What `test`, `[[ … ]]` and `((…))` say about words that never change."""

from collections.abc import Callable, Sequence
from typing import Final

FAILED: Final = "\0failed"
"""Stands for a status of which nothing is known but that it is not 0."""

NUMBERS: Final[dict[str, Callable[[int, int], bool]]] = {
    "-eq": lambda left, right: left == right,
    "-ne": lambda left, right: left != right,
    "-lt": lambda left, right: left < right,
    "-le": lambda left, right: left <= right,
    "-gt": lambda left, right: left > right,
    "-ge": lambda left, right: left >= right,
}
EQUAL: Final = ("=", "==")
BINARY: Final = frozenset({*NUMBERS, *EQUAL, "!="})
SMALLEST_FAILURE: Final = 1
LARGEST_FAILURE: Final = 255

Words = Sequence[str | None]


def constant(words: Words) -> bool | None:
    """What `test` answers; None when that depends."""
    match words:
        case []:
            return False
        case [only]:
            return None if only is None else only != ""
        case ["!", only]:
            return None if only is None else only == ""
        case ["-n" | "-z" as sign, only]:
            return None if only is None else (only != "") == (sign == "-n")
        case [left, str(sign), right] if sign in BINARY:
            return None if left is None or right is None else _compared(left, sign, right)
        case ["!", *rest]:
            inner = constant(rest)
            return None if inner is None else not inner
        case ["(", *rest, ")"]:
            return constant(rest)
        case _:
            pass
    for sign, decides in (("-o", True), ("-a", False)):
        if sign in words:
            at = list(words).index(sign)
            return _joined([constant(words[:at]), constant(words[at + 1 :])], decides=decides)
    return None


def constant_brackets(words: Words) -> bool | None:
    """What `[[ … ]]` answers; the signs are among the words."""
    if any(word in ("(", ")", "<", ">", "=~") for word in words):
        return None
    for sign, decides in (("||", True), ("&&", False)):
        if sign in words:
            at = list(words).index(sign)
            sides = [constant_brackets(words[:at]), constant_brackets(words[at + 1 :])]
            return _joined(sides, decides=decides)
    match words:
        case ["!", *rest]:
            inner = constant_brackets(rest)
            return None if inner is None else not inner
        case [str(left), str(sign), str(right)] if sign in NUMBERS and not (
            left.isdecimal() and right.isdecimal()
        ):
            # These may be names of variables.
            return None
    return constant(words)


def constant_sum(text: str | None) -> bool | None:
    """Whether `((…))` succeeds."""
    number = (text or "").strip()
    return int(number) != 0 if number.isascii() and number.isdecimal() else None


def _joined(sides: list[bool | None], *, decides: bool) -> bool | None:
    """`or`, if True decides; `and`, if False does."""
    if decides in sides:
        return decides
    return None if None in sides else not decides


def _compared(left: str, sign: str, right: str) -> bool | None:
    if FAILED not in (left, right):
        if sign not in NUMBERS:
            return (left == right) == (sign in EQUAL)
        pair = _number(left), _number(right)
        # What is no number is a mistake, and that is a failure.
        return pair[0] is not None and pair[1] is not None and NUMBERS[sign](pair[0], pair[1])
    if left == right:
        return None
    other = _number(right if left == FAILED else left)
    if sign not in NUMBERS:
        is_possible = other is not None and SMALLEST_FAILURE <= other <= LARGEST_FAILURE
        return None if is_possible else sign == "!="
    if other is None:
        return False
    answers = {
        NUMBERS[sign](each, other) if left == FAILED else NUMBERS[sign](other, each)
        for each in range(SMALLEST_FAILURE, LARGEST_FAILURE + 1)
    }
    return answers.pop() if len(answers) == 1 else None


def _number(text: str) -> int | None:
    plain = text.strip()
    digits = plain.removeprefix("-").removeprefix("+")
    return int(plain) if digits.isascii() and digits.isdecimal() else None
