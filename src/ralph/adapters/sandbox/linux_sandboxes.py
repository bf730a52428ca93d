"""Linux: a sandbox of mounts by bubblewrap, and a weaker one by Landlock alone.

What the options are for, and which accident each prevents, is in docs/decisions/0008.
"""

import os
import platform
from collections.abc import Container, Iterator, Mapping, Sequence
from shutil import which
from typing import Final

from ralph.adapters.sandbox import launch_commands
from ralph.adapters.sandbox.launcher import KNOWS_UNIX_SOCKETS, version
from ralph.adapters.sandbox.resolved_paths import (
    ResolvedPath,
    ResolvedRules,
    access_around,
    folders_between,
    to_start,
)
from ralph.core.errors import TemporaryFailure
from ralph.core.process_exit import is_temporary, signal_of_exit_code
from ralph.core.sandbox_rules import Access, NetworkAccess, SandboxRules
from ralph.ports.executor import Command, CommandRunner
from ralph.ports.sandbox import SandboxProblem

PROGRAM: Final = "bwrap"
SAYS: Final = "bwrap: "

ISOLATION: Final = (
    # Root would keep every capability without these two, and mount the sandboxes away.
    *("--unshare-user", "--cap-drop", "ALL"),
    *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    "--die-with-parent",
)
OWN: Final = ("--dev", "/dev", "--proc", "/proc")
SHARED_MEMORY: Final = ("--tmpfs", "/dev/shm")
SHARE_OF_MEMORY: Final = 4
COVERED: Final = ("sys", "sysrq-trigger", "fs", "acpi", "scsi", "mtrr")
"""Of /proc: files in there belong to root, whatever its powers. What is written to `core_pattern`
runs as the real root, outside."""
NO_NESTING: Final = "--disable-userns"
"""Since 0.8. Without it a session gets capabilities in a namespace of its own making; the mounts
are locked there, so it is a second line of defence."""

KNOWS_SOCKETS: Final = 6
NAMELESS: Final = (
    "sockets that have no file can be reached, since this kernel is older than 6.12;"
    ' [sandbox] network = "off" or "proxy" closes them'
)

LATER: Final = (
    "a socket that another program makes in a visible folder after a session began can be"
    " reached, since this kernel is older than 7.1"
)
"""Told by `ralph sandbox show`, and not in every run: it takes a program that makes one there."""

PRIVATE: Final = ("/tmp", "/var/tmp")
NULL: Final = ("--ro-bind", "/dev/null")
"""Cannot even be opened there: mounts inside have no devices."""


class Bubblewrap:
    name = "bubblewrap"
    is_fallback = False
    can_replace_folders = True

    def __init__(self, path: str, *, plain: bool = False) -> None:
        self._path = path
        self._program = which(PROGRAM, path=path) or ""
        """Found once: a session may put another one on its own PATH."""
        self._plain = plain
        """For short commands of our own: without a network, and so without Landlock inside, which
        closes what is not in the file system; and without waiting for a final message."""
        self._isolation: tuple[str, ...] = (*ISOLATION, NO_NESTING)
        self._instead: tuple[str, ...] = ()
        """What is started instead of a command."""
        self.known_limits: Sequence[str] = ()

    def for_ourselves(self) -> "Bubblewrap":
        """The same for short commands of our own, once it was probed."""
        plain = Bubblewrap(self._path, plain=True)
        plain._isolation = self._isolation
        return plain

    def for_commands(self) -> "Bubblewrap":
        """The same for a process that runs such commands, in place of the one that is named. It is
        the first of its sandbox: all the others come to it, and end with it."""
        server = self.for_ourselves()
        server._isolation += ("--as-pid-1",)
        server._instead = launch_commands.server_command()
        return server

    def environment(self, env: Mapping[str, str], rules: SandboxRules) -> dict[str, str]:
        """What a command finds inside."""
        port = launch_commands.FORWARD_PORT
        return launch_commands.inside_environment(env, rules, temp="/tmp", port=port)

    @property
    def is_installed(self) -> bool:
        return bool(self._program)

    def probe(self, executor: CommandRunner) -> SandboxProblem | None:
        if not self.is_installed:
            if found := which(PROGRAM):
                # A user who lets sessions write in the whole system opens the sandbox, too.
                return SandboxProblem(
                    reason=f"{found} is where they can write",
                    way_out="open less to them, or install bubblewrap elsewhere",
                )
            return SandboxProblem(reason="bubblewrap is not installed", way_out=how_to_install())
        said = self._try(executor)
        if "nknown option" in said:
            self._isolation = ISOLATION
            said = self._try(executor)
        if said:
            return SandboxProblem(reason=f"bubblewrap cannot start: {said}", way_out=_way_out(said))
        known = version()
        self.known_limits = (
            *(() if known >= KNOWS_SOCKETS else (NAMELESS,)),
            *(() if known >= KNOWS_UNIX_SOCKETS else (LATER,)),
        )
        return None

    def _try(self, executor: CommandRunner) -> str:
        whole = ("--ro-bind", "/", "/", *OWN, *SHARED_MEMORY)
        argv = (self._program, *self._isolation, *whole, "--", "/bin/sh", "-c", "exit 0")
        said = ""
        for pause in (0.1, 1.0, 4.0):
            command = Command(argv=argv, cwd="/", env=os.environ)
            got = executor.capture(command, timeout_s=20.0)
            if got.code == 0:
                return ""
            lines = got.stderr.decode("utf-8", "replace").strip().splitlines()
            said = (lines[-1].removeprefix(SAYS) if lines else f"exit code {got.code}")[:200]
            # Killed, or without memory: no reason to take a weaker sandbox.
            if not signal_of_exit_code(got.code) and not is_temporary(said):
                return said
            executor.wait(f"bubblewrap: {said}", pause, lambda: False)
        raise TemporaryFailure(f"bubblewrap cannot start now: {said}", hint="run it again")

    def wrap(self, command: Command, rules: SandboxRules) -> Command:
        return launch_commands.wrap_command(
            command, rules, self._start, temp="/tmp", port=launch_commands.FORWARD_PORT
        )

    def _start(
        self, command: Command, rules: SandboxRules, resolved: ResolvedRules, program: str
    ) -> tuple[str, ...]:
        calls = bool(rules.temp) and launch_commands.write_filter(os.path.dirname(rules.temp))
        # Our own git needs no network; without one it has no sockets without a file either.
        is_alone = self._plain or rules.network is not NetworkAccess.ON
        launcher = launch_commands.launcher_command(*_orders(rules), limits=rules.limits)
        return (
            *launch_commands.outer_shell(rules, patient=not self._plain, calls=calls),
            *launch_commands.proxy_command(rules, command.env, rules.proxy),
            self._program,
            *self._isolation,
            *(("--unshare-net",) if is_alone else ()),
            *(("--seccomp", str(launch_commands.CALLS_FD)) if calls else ()),
            *_mounts(rules, resolved, program, sized=NO_NESTING in self._isolation),
            *("--chdir", command.cwd, "--"),
            *launch_commands.forward_command(rules),
            *(() if self._plain else launcher),
            *(self._instead or command.argv),
        )

    def setup_error(self, code: int | None, stderr: str) -> str:
        """It says so itself, and ends with 1 before anything was started."""
        return launch_commands.error_line(stderr, SAYS) if code == 1 else ""


def _orders(rules: SandboxRules) -> Iterator[str]:
    """For the launcher: what Landlock closes inside, and what it leaves open."""
    yield "scope=1"
    yield from (
        f"socket={os.path.realpath(path)}" for path in (*rules.ralph_sockets, *rules.sockets)
    )


def _mounts(
    rules: SandboxRules, resolved: ResolvedRules, program: str, *, sized: bool
) -> Iterator[str]:
    """From the outside in: each lies on top of what it is in."""
    root = next((entry.access for entry in resolved.paths if entry.path == "/"), Access.READ)
    yield from _base(rules, root, sized=sized)
    base = _private(rules)
    yield from (part for path, how in base for part in (*how, path))
    shown = {"/": root, "/proc": Access.READ, "/dev": Access.READ}
    shown |= {path: Access.HIDE for path, _ in base}
    # In the place of these another folder is shown.
    others = {entry.path for entry in resolved.paths if entry.place.source}
    for entry in resolved.paths:
        if entry.path in ("/", "/proc", "/dev"):
            continue
        if entry.access is Access.WRITE and _is_open(entry, shown, others):
            # A mount of its own could not be removed, and git replaces files by new ones.
            continue
        yield from _holders(entry, shown)
        yield from _mount(entry, shown)
        shown[entry.path] = entry.access
    for path in to_start(program, resolved.paths):
        shown[path] = Access.READ
        yield from ("--ro-bind", path, path)
    yield from _names(rules, resolved, shown)
    for path in resolved.sockets:
        if access_around(path, shown) is not Access.HIDE:
            yield from (*NULL, path)
    for path in rules.sockets:
        real = os.path.realpath(path)
        if os.path.exists(real):
            yield from ("--bind", real, real)
    yield from (
        part
        for path in resolved.blocked
        for part in (*NULL, path)
        if access_around(path, shown) is not Access.HIDE
    )
    # Last, since something in them may be shown after all.
    yield from (
        part
        for entry in resolved.paths
        if entry.access is Access.HIDE
        and entry.is_folder
        and access_around(entry.path, shown) is not Access.HIDE
        for part in ("--remount-ro", entry.path)
    )


def _base(rules: SandboxRules, root: Access, *, sized: bool) -> Iterator[str]:
    """What lies below everything else: the system as a whole, if it is open, and its devices."""
    if root is not Access.HIDE:
        yield from ("--bind" if root is Access.WRITE else "--ro-bind", "/", "/")
    yield from OWN
    if sized and rules.limits.memory:
        # Files in there are memory, and belong to no process that could be counted.
        yield from ("--size", str(rules.limits.memory // SHARE_OF_MEMORY))
    yield from SHARED_MEMORY
    for name in COVERED:
        if os.path.exists(f"/proc/{name}"):
            yield from ("--ro-bind", f"/proc/{name}", f"/proc/{name}")


def _names(
    rules: SandboxRules, resolved: ResolvedRules, shown: Mapping[str, Access]
) -> Iterator[str]:
    """By which visible folders are known, where nothing else of the folder around is there."""
    home = os.path.realpath(rules.home)
    if home not in shown or access_around(home, shown) is Access.HIDE:
        yield from ("--dir", home)
    for link, target in resolved.aliases:
        is_hidden = link not in shown and access_around(link, shown) is Access.HIDE
        if is_hidden and not _is_in_temp(link, rules.temp):
            yield from ("--symlink", target, link)


def _is_in_temp(link: str, temp: str) -> bool:
    """Has the sandbox before this one, which had the same folder for `/tmp`, left it there?
    Bubblewrap 0.8 makes no link in the place of another."""
    return bool(temp) and any(
        os.path.lexists(f"{temp}{link.removeprefix(private)}")
        for private in map(os.path.realpath, PRIVATE)
        if link.startswith(f"{private}/")
    )


def _is_open(entry: ResolvedPath, shown: Mapping[str, Access], others: Container[str]) -> bool:
    """Can it be written anyway, being in something that can?"""
    if (
        entry.place.source
        or entry.place.stays
        or access_around(entry.path, shown) is not Access.WRITE
    ):
        return False
    path = os.path.dirname(entry.path)
    while path not in shown:
        path = os.path.dirname(path)
    return path not in others


def _private(rules: SandboxRules) -> list[tuple[str, tuple[str, ...]]]:
    """Folders that are others inside."""
    temp = ("--bind", rules.temp) if rules.temp else ("--tmpfs",)
    found = {os.path.realpath(path): temp for path in PRIVATE if os.path.isdir(path)}
    return list(found.items())


def _mount(entry: ResolvedPath, shown: dict[str, Access]) -> tuple[str, ...]:
    outer = access_around(entry.path, shown)
    match entry.access:
        case Access.WRITE:
            return ("--bind", entry.place.source or entry.path, entry.path)
        case Access.READ:
            return () if outer is Access.READ else ("--ro-bind", entry.path, entry.path)
        case Access.HIDE if outer is Access.HIDE:
            return ()
        case Access.HIDE if entry.is_folder:
            return ("--tmpfs", entry.path)
        case Access.HIDE:
            return (*NULL, entry.path)


def _holders(entry: ResolvedPath, shown: dict[str, Access]) -> Iterator[str]:
    """A folder that holds something protected becomes a mount as well: otherwise it could be
    renamed away, and another be put in its place."""
    if entry.access is Access.WRITE or access_around(entry.path, shown) is not Access.WRITE:
        return
    for folder in folders_between(entry.path, shown):
        shown[folder] = Access.WRITE
        yield from ("--bind", folder, folder)


def how_to_install() -> str:
    """The command for this system."""
    known = {
        "apt-get": "sudo apt-get install bubblewrap",
        "dnf": "sudo dnf install bubblewrap",
        "pacman": "sudo pacman -S bubblewrap",
        "zypper": "sudo zypper install bubblewrap",
        "apk": "sudo apk add bubblewrap",
    }
    for program, command in known.items():
        if which(program, path="/usr/bin:/bin:/usr/sbin:/sbin") is not None:
            return command
    return "install the package bubblewrap"


def _way_out(said: str) -> str:
    if "max_" in said or "ENOSPC" in said:
        return "sudo sysctl -w user.max_user_namespaces=15000"
    if os.path.exists("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"):
        return "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    if os.path.exists("/proc/sys/kernel/unprivileged_userns_clone"):
        return "sudo sysctl -w kernel.unprivileged_userns_clone=1"
    if "mount proc" in said:
        return "in a container: start it with --security-opt systempaths=unconfined"
    return "sudo sysctl -w user.max_user_namespaces=15000"


LANDLOCK_LIMITS: Final = (
    "what judges can be changed: .ralph.toml, .ralph/ (what git runs is restored afterwards)",
    "objects of the repository can be removed, and your history with them",
    "other processes can be seen",
    "a command that goes on in the background, away from its group, can outrun its limits",
    "whether a hidden file exists, and the names beside /etc/shadow, can be found out",
    "permissions and times of your files outside can be changed",
)
SOCKETS: Final = "sockets of other programs can be reached"
NO_NETWORK: Final = "connections, whatever [sandbox] network says: this kernel is too old for that"
KNOWS_NETWORKS: Final = 4
LANDLOCK_SAYS: Final = "ralph: Landlock"


class Landlock:
    """Weaker: for a Linux without namespaces of users."""

    name = "landlock"
    is_fallback = True
    can_replace_folders = False

    def __init__(self) -> None:
        known = version()
        self.known_limits: Sequence[str] = (
            *LANDLOCK_LIMITS,
            *(() if known >= KNOWS_UNIX_SOCKETS else (SOCKETS,)),
            *(() if known >= KNOWS_NETWORKS else (NO_NETWORK,)),
        )

    def probe(self, executor: CommandRunner) -> SandboxProblem | None:
        argv = (*launch_commands.launcher_command("alone=1", "read=/"), "/bin/true")
        error = launch_commands.start_error(executor, *argv)
        way_out = f"use a kernel with Landlock (this is {platform.release()}), or bubblewrap"
        reason = f"Landlock cannot start: {error}"
        return SandboxProblem(reason=reason, way_out=way_out) if error else None

    def wrap(self, command: Command, rules: SandboxRules) -> Command:
        temp, port = rules.temp, rules.port
        return launch_commands.wrap_command(
            command, rules, self._start, temp=temp, port=port, written=SHARED_MEMORY[1:]
        )

    def _start(
        self, command: Command, rules: SandboxRules, resolved: ResolvedRules, program: str
    ) -> tuple[str, ...]:
        paths: dict[Access, list[str]] = {access: [] for access in Access}
        for entry in resolved.paths:
            paths[entry.access].append(entry.path)
        read = (*paths[Access.READ], *to_start(program, resolved.paths))
        sockets = (*rules.ralph_sockets, *rules.sockets)
        is_closed = rules.network is not NetworkAccess.ON
        folder = os.path.dirname(rules.temp)
        calls = launch_commands.write_filter(folder, only_tcp=is_closed)
        orders = (
            *("alone=1", "dies=1"),
            *((f"calls={os.path.join(folder, launch_commands.CALLS)}",) if calls else ()),
            *(f"write={path}" for path in (*paths[Access.WRITE], rules.temp)),
            *(f"read={path}" for path in read),
            *(f"socket={os.path.realpath(path)}" for path in sockets),
            *(f"hide={path}" for path in (*paths[Access.HIDE], *resolved.blocked)),
            *(("closed=1", f"port={rules.port}") if is_closed else ()),
        )
        return (
            *launch_commands.outer_shell(rules),
            *launch_commands.proxy_command(rules, command.env, rules.port),
            *launch_commands.launcher_command(*orders, limits=rules.limits),
            *command.argv,
        )

    def setup_error(self, code: int | None, stderr: str) -> str:
        return launch_commands.error_line(stderr, LANDLOCK_SAYS) if code == 126 else ""
