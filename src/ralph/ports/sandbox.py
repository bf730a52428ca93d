"""The interface of a sandbox: it rewrites a command so that the command runs sandboxed."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import msgspec

from ralph.core.sandbox_rules import SandboxRules
from ralph.ports.executor import Command, CommandRunner


class SandboxProblem(msgspec.Struct, frozen=True, kw_only=True):
    """Why a sandbox cannot be used here, and what to do about it."""

    reason: str
    way_out: str
    """A command, or another way out."""


class Sandbox(Protocol):
    """One sandbox mechanism, such as bubblewrap."""

    @property
    def name(self) -> str: ...

    @property
    def known_limits(self) -> Sequence[str]:
        """Return what the sandbox does not stop, in words. Known after the probe."""

    @property
    def is_fallback(self) -> bool:
        """Return whether it is used only because a better sandbox cannot start."""

    @property
    def can_replace_folders(self) -> bool:
        """Return whether it can show a folder in the place of another."""

    def probe(self, executor: CommandRunner) -> SandboxProblem | None:
        """Try to start a command in the sandbox; return None if that works."""

    def wrap(self, command: Command, rules: SandboxRules) -> Command:
        """Return the command that runs the given one in the sandbox. Starts nothing."""

    def setup_error(self, code: int | None, stderr: str) -> str:
        """Why the sandbox was not set up, if a wrapped command ended like this; otherwise empty."""


class SandboxedCommand(Protocol):
    @property
    def command(self) -> Command: ...

    @property
    def has_started(self) -> bool:
        """Return whether the sandbox was set up and the command began."""

    @property
    def warnings(self) -> Sequence[str]:
        """What was found after the command ended."""


class CheckoutSandbox(Protocol):
    """The sandbox around everything that runs in one checkout."""

    @property
    def name(self) -> str:
        """Return which sandbox it is; `off` if there is none."""

    @property
    def is_active(self) -> bool:
        """Return whether there is a sandbox at all."""

    @property
    def warnings(self) -> Sequence[str]:
        """Return what the user should know before anything runs, such as the known limits."""

    def sandboxed(
        self, command: Command, *, home: str = ""
    ) -> AbstractContextManager[SandboxedCommand]:
        """Prepare the sandbox of one command, with its own temporary folder, and clean up
        afterwards. `home` is the agent's folder of this session."""

    def is_protected(self, path: str) -> bool:
        """Return whether sessions may not change this path, relative to the top of the checkout."""

    def may_add(self, path: str) -> bool:
        """Return whether a session may add a file of that name to git. Not one that Ralph or an
        agent would obey, unless the user allows it."""

    def setup_error(self, code: int | None, stderr: str) -> str: ...
