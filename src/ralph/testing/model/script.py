"""The scripts of a model: which turn a request gets, and whether all of them were played."""

import threading
from collections import Counter
from collections.abc import Callable

import msgspec

from ralph.testing.model.asked import Asked
from ralph.testing.model.turn import Fault, Turn

Scripted = Turn | Callable[[Asked], Turn]
"""A turn, or how to make one from the request."""


class OffScript(Exception):
    """Asked for something that no script has."""


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """What happens in one scenario."""

    turns: tuple[Scripted, ...]
    repeat: bool = False
    whole: bool = True

    def place(self, results: int) -> int:
        """The turn that follows after so many tool results.

        Nothing is remembered between requests, so it survives retries, agents side by side and
        sessions that are taken up again.
        """
        before = 0
        for number, turn in enumerate(self.turns):
            if results <= before:
                return number
            before += calls(turn)
        if self.repeat:
            return len(self.turns) - 1
        raise OffScript(f"it has {len(self.turns)} turns, and there are {results} tool results")


def calls(turn: Scripted) -> int:
    """By how many tool results a turn leads on. A function is taken to make one call."""
    return len(turn.deeds) if isinstance(turn, Turn) else 1


class Scripts:
    """All scenarios, and what of them was played. Safe to use from several threads."""

    def __init__(self) -> None:
        self._scripts: dict[str, Script] = {}
        self._asked: Counter[tuple[str, int]] = Counter()
        self._played: set[tuple[str, int]] = set()
        self._lock = threading.Lock()

    def add(self, name: str, script: Script) -> None:
        """Take a scenario in, or put another in its place."""
        if not script.turns:
            raise ValueError(f"scenario {name} has no turns")
        for number, turn in enumerate(script.turns[:-1]):
            if not calls(turn):
                raise ValueError(f"scenario {name} ends at turn {number}, which calls no tool")
        with self._lock:
            self._scripts[name] = script
            for key in [key for key in self._asked if key[0] == name]:
                del self._asked[key]
            self._played = {key for key in self._played if key[0] != name}

    def find(self, name: str, results: int) -> tuple[int, Scripted]:
        """The turn for a request, with its number."""
        script = self._scripts.get(name)
        if script is None:
            raise OffScript(f"there is no scenario {name}")
        try:
            number = script.place(results)
        except OffScript as error:
            raise OffScript(f"scenario {name}: {error}") from None
        return number, script.turns[number]

    def count(self, name: str, number: int) -> int:
        """How often this turn was asked for before. Only faults need to know."""
        with self._lock:
            before = self._asked[name, number]
            self._asked[name, number] += 1
            return before

    def played(self, name: str, number: int) -> None:
        """This turn was told, or its fault was."""
        with self._lock:
            self._played.add((name, number))

    def unplayed(self) -> list[str]:
        """Turns that nobody asked for, of scripts that were to be played whole."""
        return [
            f"scenario {name}, turn {number}"
            for name, script in self._scripts.items()
            for number in range(len(script.turns))
            if script.whole and (name, number) not in self._played
        ]


def fault_of(turn: Turn, before: int) -> Fault | None:
    """What goes wrong with a turn that was asked for so often before."""
    for fault in turn.faults:
        if fault.times is None or before < fault.times:
            return fault
        before -= fault.times
    return None
