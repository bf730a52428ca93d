"""A sandbox rewrites a command, so that it runs behind a wall."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import msgspec

from ralph.core.ending import Exit
from ralph.core.fence import Fence
from ralph.ports.executor import Captures, Command


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """Why a sandbox cannot be had here."""

    reason: str
    way_out: str
    """A command, or what else helps."""


class Sandbox(Protocol):
    """One way to build a wall."""

    @property
    def name(self) -> str: ...

    @property
    def gaps(self) -> Sequence[str]:
        """What it does not stop, in words for people. Known after the probe."""
        ...

    @property
    def stands_in(self) -> bool:
        """Is it only there since a better one cannot start?"""
        ...

    @property
    def shows_others(self) -> bool:
        """Can it show a folder in the place of another?"""
        ...

    def probe(self, executor: Captures) -> Trouble | None:
        """Try to start something behind a wall; None if that works."""
        ...

    def wrap(self, command: Command, fence: Fence) -> Command:
        """The command that does the same behind the wall. Starts nothing."""
        ...

    def has_failed(self, exit_: Exit) -> str:
        """Why the wall itself could not be built, when a wrapped command ended like this; empty if
        it stood."""
        ...


class Enclosed(Protocol):
    """A command behind a wall."""

    @property
    def command(self) -> Command: ...

    @property
    def has_started(self) -> bool:
        """Has the wall stood, and the command begun? Asked while the wall is there."""
        ...

    @property
    def warnings(self) -> Sequence[str]:
        """What was found when the wall was taken down."""
        ...


class Wall(Protocol):
    """The wall around everything that runs in one checkout."""

    @property
    def name(self) -> str:
        """Which sandbox; `off` if there is none."""
        ...

    @property
    def stands(self) -> bool:
        """Is there any wall at all?"""
        ...

    @property
    def warnings(self) -> Sequence[str]:
        """What a person should know before anything runs: what it does not stop, for one."""
        ...

    def around(self, command: Command, *, home: str = "") -> AbstractContextManager[Enclosed]:
        """Put a wall around one command: with a temporary folder of its own, which is gone
        afterwards. `home` is the agent's folder of this session."""
        ...

    def guards(self, path: str) -> bool:
        """Is that path, seen from the top of the checkout, one that sessions may not change?"""
        ...

    def may_add(self, path: str) -> bool:
        """May a session put a file of that name into git, where nothing guards it? Not what Ralph
        or an agent would obey, unless a person allows it."""
        ...

    def has_failed(self, exit_: Exit) -> str:
        """As `Sandbox.has_failed`."""
        ...
