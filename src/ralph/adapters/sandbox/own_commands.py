"""Runs Ralph's own git in the sandbox.

Its configuration, attributes and nested repositories may name programs, and git runs them.
"""

import os
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from ralph.adapters.sandbox.linux_sandboxes import Bubblewrap
from ralph.adapters.sandbox.required_paths import unwritable_path
from ralph.adapters.sandbox.resolved_paths import resolve_rules
from ralph.core.errors import Unavailable
from ralph.core.sandbox_rules import SandboxRules
from ralph.core.session_environment import without_secrets
from ralph.ports.executor import Command, CommandOutput, CommandServer, Executor, Tick
from ralph.ports.sandbox import Sandbox

TRIES: Final = 5
"""While a folder full of sockets is removed, there is one fewer at every look."""


class SandboxedRunner:
    """Each command gets a sandbox of its own."""

    def __init__(self, executor: Executor, sandbox: Sandbox, rules: SandboxRules) -> None:
        self._executor = executor
        self._sandbox = sandbox
        self._rules = rules

    def capture(
        self, command: Command, *, timeout_s: float = 120.0, tick: Tick | None = None
    ) -> CommandOutput:
        # What an agent planted may run in there, and would look around.
        env = without_secrets(command.env)
        env["PATH"] = unwritable_path(env.get("PATH", os.defpath), self._rules)
        command, why = replace(command, env=env), ""
        for _ in range(TRIES):
            got = self._run(command, timeout_s, tick)
            why = self._sandbox.setup_error(got.code, got.stderr.decode("utf-8", "replace"))
            if not why:
                return got
            # Something that we had seen is gone meanwhile, so look again.
            resolve_rules.cache_clear()
        raise Unavailable(f"the sandbox cannot start: {why}")

    def _run(self, command: Command, timeout_s: float, tick: Tick | None) -> CommandOutput:
        inside = self._sandbox.wrap(command, self._rules)
        return self._executor.capture(inside, timeout_s=timeout_s, tick=tick)

    def wait(self, why: str, seconds: float, is_over: Callable[[], bool]) -> None:
        self._executor.wait(why, seconds, is_over)

    def close(self) -> None:
        """Nothing is left."""


class ServedRunner(SandboxedRunner):
    """One process in a sandbox runs all of them, as long as nothing has changed there: building the
    sandbox takes longer than a git."""

    def __init__(self, executor: Executor, sandbox: Bubblewrap, rules: SandboxRules) -> None:
        super().__init__(executor, sandbox, rules)
        self._bubblewrap = sandbox
        self._server: CommandServer | None = None
        self._command = Command(argv=(), cwd="", env={})
        """What the server was started with."""
        self._seen: list[tuple[int, int] | None] = []

    def _run(self, command: Command, timeout_s: float, tick: Tick | None) -> CommandOutput:
        # Mounts are of what was there: a file that was replaced is not protected any more.
        now = [_file(place.path) for place in self._rules.paths]
        if self._server is not None and not (self._server.is_idle and now == self._seen):
            self.close()
        if self._server is None:
            if now != self._seen:
                resolve_rules.cache_clear()
            started = replace(command, cwd=self._rules.top, stdin=b"")
            self._command = self._bubblewrap.for_commands().wrap(started, self._rules)
            self._server, self._seen = self._executor.start_server(self._command), now
        env = self._bubblewrap.environment(command.env, self._rules)
        inside = replace(command, env=env, limits=self._command.limits)
        return self._server.capture(inside, timeout_s=timeout_s, tick=tick)

    def close(self) -> None:
        """End the process."""
        if self._server is not None:
            self._server.close()
            self._server = None


def _file(path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
