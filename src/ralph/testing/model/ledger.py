"""What the scripted model is to say, and what it was asked."""

import itertools
import threading
from collections import deque

from ralph.testing.model.asked import Asked
from ralph.testing.model.script import Script, Scripted, Scripts


class Ledger:
    """Safe to use from several threads: one for each connection, and the test's own."""

    def __init__(self, *, remember: int = 1000) -> None:
        self.scripts = Scripts()
        self.asked: deque[Asked] = deque(maxlen=remember)
        """The latest requests, oldest first."""
        self.troubles: list[str] = []
        """What was asked for and is in no script."""
        self.closing = threading.Event()
        self._news = threading.Condition()
        self._ids = itertools.count(1)

    def script(self, name: str, *turns: Scripted, repeat: bool = False, whole: bool = True) -> None:
        """Say what happens in a scenario.

        `repeat`: the last turn is for all later requests, too. `whole=False`: the session is to end
        before the script does, so `check` does not miss the rest.
        """
        self.scripts.add(name, Script(turns=turns, repeat=repeat, whole=whole))

    def asked_in(self, scenario: str) -> list[Asked]:
        """The requests of one scenario."""
        return [one for one in list(self.asked) if one.scenario == scenario]

    def await_request(
        self, scenario: str, turn: int = 0, *, retry: int = 0, timeout_s: float = 60.0
    ) -> Asked:
        """Wait until this turn is asked for (again): then the agent waits for its model."""

        def found() -> Asked | None:
            fits = (
                one for one in self.asked_in(scenario) if (one.turn, one.retry) == (turn, retry)
            )
            return next(fits, None)

        with self._news:
            asked = self._news.wait_for(found, timeout_s)
        assert asked is not None, (
            f"nobody asked for turn {turn} of scenario {scenario}; off script: {self.troubles}"
        )
        return asked

    def check(self) -> None:
        """Nothing was asked beyond the scripts, and they were played to their ends."""
        assert not self.troubles, f"off script: {self.troubles}"
        assert not self.scripts.unplayed(), f"never played: {self.scripts.unplayed()}"

    def record(self, asked: Asked) -> None:
        """Remember a request and tell those who wait for it."""
        with self._news:
            self.asked.append(asked)
            self._news.notify_all()

    def new_id(self, prefix: str) -> str:
        """An identifier that nothing else has."""
        return f"{prefix}{next(self._ids):08d}"
