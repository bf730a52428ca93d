"""The sandbox of one checkout: for sessions, gates and Ralph's own git."""

import contextlib
import os
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from ralph.adapters.sandbox import session_files
from ralph.adapters.sandbox.git_repair import KeptObjects, remove_abandoned_objects
from ralph.adapters.sandbox.launch_commands import STARTED
from ralph.adapters.sandbox.linux_sandboxes import LATER, NAMELESS, Bubblewrap, Landlock
from ralph.adapters.sandbox.planted_files import PlantedFiles
from ralph.adapters.sandbox.resolved_paths import missing_paths, resolve_rules
from ralph.adapters.sandbox.seatbelt import Seatbelt
from ralph.adapters.sandbox.session_files import SessionFolder, clean_up_session_folders
from ralph.adapters.sandbox.tamper_check import VARIABLE, Sweep, TamperCheck, clean_up_after_killed
from ralph.core.errors import Unavailable
from ralph.core.hidden_paths import is_agent_settings, settings_root
from ralph.core.sandbox_rules import (
    ALLOWED_BY_SETTINGS,
    Access,
    IfMissing,
    NetworkAccess,
    PathRule,
    SandboxRules,
    is_inside,
)
from ralph.files import or_cannot_write, read_start
from ralph.ports.executor import Command, CommandRunner
from ralph.ports.sandbox import Sandbox

TRIES: Final = 5
"""While a folder full of sockets is removed, there is one fewer at every look."""
RUNS_OUTSIDE: Final = (
    *("settings.json", "settings.local.json", "config.toml", "hooks.json", "mcp.json"),
    *("hooks", "plugins", "commands", "agents", "skills"),
)
"""In a person's own folder of an agent: what would run at its next start."""


class RunningCommand:
    def __init__(self, command: Command, temp: str = "") -> None:
        self.command = command
        self.warnings: list[str] = []
        self._mark = os.path.join(os.path.dirname(temp), STARTED) if temp else ""

    @property
    def has_started(self) -> bool:
        return not self._mark or read_start(self._mark, 1) != b""


class ActiveSandbox:
    """The sandbox of a checkout, while its context is entered."""

    is_active = True

    def __init__(
        self,
        sandbox: Sandbox,
        rules_at: Callable[[str], SandboxRules],
        here: str,
        state: str,
        *,
        sweep: Sweep,
        keep_watcher: Callable[[], object],
    ) -> None:
        """`keep_watcher` sees to it that a process is there which clears up if this one is
        killed."""
        self.sandbox = sandbox
        self.sandbox_rules = rules_at(here)
        """Around the person's own checkout."""
        self.own_rules = self.sandbox_rules
        """For short commands of our own, which share a temporary folder."""
        self.warnings: list[str] = []
        """What was found when it was built."""
        self._rules_at = rules_at
        self._rules_by_folder: dict[tuple[str, int], SandboxRules] = {}
        self._seen: dict[str, PlantedFiles] = {}
        """What was found in a checkout after the last command there."""
        self._state = state
        self._sweep = sweep
        self._keep_watcher = keep_watcher
        self._kept_objects = KeptObjects(self.sandbox_rules.git)
        self._stack = contextlib.ExitStack()

    @property
    def name(self) -> str:
        return self.sandbox.name

    @property
    def known_limits(self) -> Sequence[str]:
        """What it does not stop; what only a shared network lets through, where there is one."""
        is_open = self.sandbox_rules.network is NetworkAccess.ON
        return [
            gap
            for gap in self.sandbox.known_limits
            if gap != LATER and (is_open or gap != NAMELESS)
        ]

    @property
    def is_fallback(self) -> bool:
        return self.sandbox.is_fallback

    def __enter__(self) -> "ActiveSandbox":
        """Make what must be there, and see to what the last one has left."""
        self.warnings += clear_up_after_the_dead(self._state, self._sweep)
        remove_abandoned_objects(self.sandbox_rules.git)
        self._stack.callback(self._kept_objects.remove)
        self._prepare(self.sandbox_rules)
        folder = self._stack.enter_context(session_files.command_folder())
        self.own_rules = replace(self.sandbox_rules, temp=os.path.join(folder, "tmp"))
        self.warnings += [
            f"{path} is a symbolic link, so a session could put another one in its place"
            for path in resolve_rules(self.sandbox_rules, os.defpath).links
        ]
        return self

    def at_end(self, close: Callable[[], None]) -> None:
        """Call that when the context is left."""
        self._stack.callback(close)

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _prepare(self, rules: SandboxRules) -> None:
        for place in rules.paths:
            if place.planned:
                with or_cannot_write(f"write {place.path}"):
                    os.makedirs(place.path, exist_ok=True)
        holding = session_files.PlaceholderFolders(self._state)
        self._stack.callback(holding.remove)
        holding.create(missing_paths(rules, IfMissing.FOLDER))

    @contextlib.contextmanager
    def sandboxed(self, command: Command, *, home: str = "") -> Iterator[RunningCommand]:
        with session_files.command_folder() as folder:
            rules = self._own(self._rules_of(command.cwd), folder, home)
            if command.keeps_branches:
                rules = rules.with_paths(*_branches(rules))
            seen = self._seen.get(rules.top)
            self._keep_watcher()
            is_own = rules.top == self.sandbox_rules.top
            watch = TamperCheck(
                self._state,
                rules,
                seen,
                kept_objects=self._kept_objects if is_own else None,
                is_weak=self.sandbox.is_fallback,
            )
            command, shown, session_folder = _marked(command, watch), rules, None
            if self.sandbox.can_replace_folders:
                session_folder = SessionFolder(self._state, rules)
                shown = session_folder.with_session_folder(rules)
            inside = RunningCommand(self.sandbox.wrap(command, shown), rules.temp)
            try:
                yield inside
            finally:
                if session_folder is not None:
                    inside.warnings += session_folder.take_in_and_remove()
                warnings, self._seen[rules.top] = watch.end()
                inside.warnings += warnings

    def _rules_of(self, cwd: str) -> SandboxRules:
        """Of the person's own checkout, or of one that was made for a session."""
        # A task's checkout may be removed, and made again at the same place.
        which = (cwd, os.stat(cwd).st_ino if os.path.isdir(cwd) else 0)
        if which not in self._rules_by_folder:
            rules = self._rules_at(cwd)
            if rules.top == self.sandbox_rules.top:
                rules = self.sandbox_rules
            else:
                self._prepare(rules)
            self._rules_by_folder[which] = rules
        return self._rules_by_folder[which]

    def is_protected(self, path: str) -> bool:
        rules = self.sandbox_rules
        return rules.access_to(os.path.join(rules.top, path)) is not Access.WRITE

    def may_add(self, path: str) -> bool:
        """May a session put a file of that name into git?"""
        if settings_root(path) is None and not is_agent_settings(path):
            return True
        place = self.sandbox_rules.rule_for(os.path.join(self.sandbox_rules.top, path))
        return place is not None and place.why == ALLOWED_BY_SETTINGS

    def setup_error(self, code: int | None, stderr: str) -> str:
        return self.sandbox.setup_error(code, stderr)

    def _own(self, rules: SandboxRules, folder: str, home: str) -> SandboxRules:
        """The rules with what belongs to one command alone."""
        rules = replace(rules, temp=os.path.join(folder, "tmp"))
        if home:
            rules = rules.with_paths(*_home(home, self._state))
        if rules.network is NetworkAccess.PROXY:
            net = os.path.join(folder, "net")
            os.mkdir(net, 0o700)
            rules = replace(
                rules,
                proxy=os.path.join(net, "proxy"),
                port=_free_port(),
                ralph_sockets=(*rules.ralph_sockets, net),
            ).with_paths(PathRule(path=net, access=Access.READ, why="the way to the proxy"))
        return rules


def clear_up_after_the_dead(state: str, sweep: Sweep) -> list[str]:
    """End what a Ralph that was killed has left running, and put the checkout in order."""
    said = clean_up_after_killed(state, sweep)
    session_files.remove_abandoned()
    return said + clean_up_session_folders(state)


def _marked(command: Command, watch: TamperCheck) -> Command:
    return replace(command, env={**command.env, VARIABLE: watch.name})


def _branches(rules: SandboxRules) -> Iterator[PathRule]:
    for folder, name in ((rules.git, "refs/heads"), (rules.git, "packed-refs"), ("", "HEAD")):
        path = os.path.join(folder or rules.git_dir or rules.git, name)
        yield PathRule(path=path, access=Access.READ, why="a gate does not commit", changes=True)


def _home(home: str, state: str) -> Iterator[PathRule]:
    why = "this session's folder for its agent"
    yield PathRule(path=home, access=Access.WRITE, why=why)
    if is_inside(home, state):
        return
    # A login in the key chain belongs to the folder's name: then it is the person's own.
    for beside in (f"{home}.json", f"{home}.json.backup"):
        yield PathRule(path=beside, access=Access.WRITE, why=why)
    for name in RUNS_OUTSIDE:
        path = os.path.join(home, name)
        yield PathRule(path=path, access=Access.READ, why="it runs when you start the agent")


def _free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


class NoSandbox:
    """Used with `--no-sandbox`. Files that would break git are still removed after each command."""

    name = "off"
    is_active = False

    def __init__(
        self,
        rules_at: Callable[[str], SandboxRules | None] = lambda _: None,
        state: str = "",
        sweep: Sweep = lambda _: None,
    ) -> None:
        self.warnings: Sequence[str] = clean_up_after_killed(state, sweep) if state else ()
        self._rules_at = rules_at
        self._state = state
        self._seen: dict[str, PlantedFiles] = {}

    @contextlib.contextmanager
    def sandboxed(self, command: Command, *, home: str = "") -> Iterator[RunningCommand]:
        del home
        inside = RunningCommand(command)
        rules = self._rules_at(command.cwd)
        if rules is None:
            yield inside
            return
        watch = TamperCheck(self._state, rules, self._seen.get(rules.top), is_open=True)
        inside.command = _marked(command, watch)
        try:
            yield inside
        finally:
            warnings, self._seen[rules.top] = watch.end()
            inside.warnings += warnings

    def is_protected(self, path: str) -> bool:
        del path
        return False

    def may_add(self, path: str) -> bool:
        """Ralph's own settings are a person's in any case."""
        return settings_root(path) is None

    def setup_error(self, code: int | None, stderr: str) -> str:
        del code, stderr
        return ""


BY_NAME: Final[dict[str, Callable[[str], Sandbox]]] = {
    Bubblewrap.name: Bubblewrap,
    Landlock.name: lambda _: Landlock(),
    Seatbelt.name: lambda _: Seatbelt(),
}


def choose_sandbox(use: str, executor: CommandRunner, path: str) -> tuple[Sandbox, str]:
    """A sandbox that starts, and why it is not a better one. `path` is where to look for it."""
    usual = {"darwin": Seatbelt.name, "linux": Bubblewrap.name}.get(sys.platform, "")
    make = BY_NAME.get(use) or BY_NAME.get(usual)
    if make is None:
        raise Unavailable(
            f"there is no sandbox for {sys.platform}", hint="run with --no-sandbox, knowingly"
        )
    best = make(path)
    trouble = best.probe(executor)
    if trouble is None:
        return best, ""
    second = Landlock()
    # What can be installed is worth more than what is left without it.
    may_replace = use not in BY_NAME and isinstance(best, Bubblewrap) and best.is_installed
    if not may_replace or second.probe(executor) is not None:
        raise Unavailable(
            f"sessions need a sandbox, and {trouble.reason}",
            hint=f"{trouble.way_out}; or, knowingly, run with --no-sandbox",
        )
    return second, f"{trouble.reason}; {trouble.way_out} helps"
