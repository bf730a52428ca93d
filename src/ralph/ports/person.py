"""Somebody at the terminal, who can be asked."""

from collections.abc import Callable
from typing import Protocol

from ralph.core.task import Task


class Person(Protocol):
    """There is one only where a run has a terminal to itself."""

    def guidance(self, task: Task, tick: Callable[[], bool]) -> str | None:
        """They have just stopped the session of this task: what should its next one know?

        Empty: nothing, but go on. None: end the run. `tick` is called at least twice a second,
        True ends the question.
        """
        ...
