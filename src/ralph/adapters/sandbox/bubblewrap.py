"""Linux: mounts of its own for every command, by bubblewrap.

What the options are for, and which accident each prevents, is in docs/decisions/0008.
"""

import os
from collections.abc import Container, Iterator, Mapping, Sequence
from shutil import which
from typing import Final

from msgspec.structs import replace

from ralph.adapters.sandbox.calls import written
from ralph.adapters.sandbox.launcher import KNOWS_UNIX_SOCKETS, version
from ralph.adapters.sandbox.launching import (
    CALLS_FD,
    FORWARD_PORT,
    filtering,
    forwarding,
    launcher,
    shell,
    to_proxy,
    unstartable,
    whole_path,
)
from ralph.adapters.sandbox.terrain import (
    Ground,
    Lot,
    around,
    folders_between,
    limits_for,
    survey,
    to_start,
)
from ralph.core.ending import Exit
from ralph.core.errors import TemporaryFailure
from ralph.core.fence import Access, Fence, Network
from ralph.core.temporary import is_temporary, killed_by
from ralph.ports.executor import Captures, Command
from ralph.ports.sandbox import Trouble

PROGRAM: Final = "bwrap"
SAYS: Final = "bwrap: "

WALL: Final = (
    # Root would keep every capability without these two, and mount the walls away.
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
    """A `Sandbox`."""

    name = "bubblewrap"
    stands_in = False
    shows_others = True

    def __init__(self, path: str, *, plain: bool = False) -> None:
        self._path = path
        self._program = which(PROGRAM, path=path) or ""
        """Found once: a session may put another one on its own PATH."""
        self._plain = plain
        """For short commands of our own: without a network, and so without Landlock inside, which
        closes what is not in the file system; and without the time for last words."""
        self._wall: tuple[str, ...] = (*WALL, NO_NESTING)
        self.gaps: Sequence[str] = ()

    def for_ourselves(self) -> "Bubblewrap":
        """The same for short commands of our own, once it was probed."""
        plain = Bubblewrap(self._path, plain=True)
        plain._wall = self._wall
        return plain

    @property
    def is_installed(self) -> bool:
        """Can its program be found?"""
        return bool(self._program)

    def probe(self, executor: Captures) -> Trouble | None:
        """Build the bare wall around `true`."""
        if not self.is_installed:
            if found := which(PROGRAM):
                # Whoever opens the whole system to sessions opens the wall, too.
                return Trouble(
                    reason=f"{found} is where they can write",
                    way_out="open less to them, or install bubblewrap elsewhere",
                )
            return Trouble(reason="bubblewrap is not installed", way_out=how_to_install())
        said = self._try(executor)
        if "nknown option" in said:
            self._wall = WALL
            said = self._try(executor)
        if said:
            return Trouble(reason=f"bubblewrap cannot start: {said}", way_out=_way_out(said))
        known = version()
        self.gaps = (
            *(() if known >= KNOWS_SOCKETS else (NAMELESS,)),
            *(() if known >= KNOWS_UNIX_SOCKETS else (LATER,)),
        )
        return None

    def _try(self, executor: Captures) -> str:
        whole = ("--ro-bind", "/", "/", *OWN, *SHARED_MEMORY)
        argv = (self._program, *self._wall, *whole, "--", "/bin/sh", "-c", "exit 0")
        said = ""
        for pause in (0.1, 1.0, 4.0):
            got = executor.capture(argv, cwd="/", timeout_s=20.0)
            if got.code == 0:
                return ""
            lines = got.stderr.decode("utf-8", "replace").strip().splitlines()
            said = (lines[-1].removeprefix(SAYS) if lines else f"exit code {got.code}")[:200]
            # Killed, or without memory: no reason to take a weaker wall.
            if not killed_by(got.code) and not is_temporary(said):
                return said
            executor.wait(f"bubblewrap: {said}", pause, lambda: False)
        raise TemporaryFailure(f"bubblewrap cannot start now: {said}", hint="run it again")

    def wrap(self, command: Command, fence: Fence) -> Command:
        """The same, behind mounts of its own."""
        env = fence.environment(command.env)
        program = whole_path(command, env)
        if not program:
            return unstartable(command)
        ground = survey(fence, env.get("PATH", os.defpath))
        calls = written(os.path.dirname(fence.temp)) if fence.temp else ""
        # Our own git talks to nobody; without a network it has no sockets without a file either.
        is_alone = self._plain or fence.network is not Network.ON
        argv = (
            *shell(patient=not self._plain, calls=calls),
            *filtering(fence, command.env, fence.proxy),
            self._program,
            *self._wall,
            *(("--unshare-net",) if is_alone else ()),
            *(("--seccomp", str(CALLS_FD)) if calls else ()),
            *_mounts(fence, ground, program, sized=NO_NESTING in self._wall),
            *("--chdir", command.cwd, "--"),
            *forwarding(fence),
            *(() if self._plain else launcher("/tmp", *_orders(fence), limits=fence.limits)),
            *command.argv,
        )
        temp = dict.fromkeys(("TMPDIR", "TMP", "TEMP"), "/tmp")
        return replace(
            command,
            argv=argv,
            env={**env, **temp, **to_proxy(fence, FORWARD_PORT)},
            limits=limits_for(fence, ground.lots),
        )

    def has_failed(self, exit_: Exit) -> str:
        """It says so itself, and ends with 1 before anything was started."""
        said = exit_.stderr.strip()
        if exit_.code == 1 and exit_.stop is None and said.startswith(SAYS):
            return said.splitlines()[0][:200]
        return ""


def _orders(fence: Fence) -> Iterator[str]:
    """For the launcher: what Landlock closes inside, and what it leaves open."""
    yield "scope=1"
    yield from (f"socket={os.path.realpath(path)}" for path in (*fence.doors, *fence.sockets))


def _mounts(fence: Fence, ground: Ground, program: str, *, sized: bool) -> Iterator[str]:
    """From the outside in: each lies on top of what it is in."""
    root = next((lot.access for lot in ground.lots if lot.path == "/"), Access.READ)
    yield from _base(fence, root, sized=sized)
    base = _private(fence)
    yield from (part for path, how in base for part in (*how, path))
    shown = {"/": root, "/proc": Access.READ, "/dev": Access.READ}
    shown |= {path: Access.HIDE for path, _ in base}
    # In the place of these another folder is shown.
    others = {lot.path for lot in ground.lots if lot.place.source}
    for lot in ground.lots:
        if lot.path in ("/", "/proc", "/dev"):
            continue
        if lot.access is Access.WRITE and _is_open(lot, shown, others):
            # A mount of its own could not be removed, and git replaces files by new ones.
            continue
        yield from _holders(lot, shown)
        yield from _mount(lot, shown)
        shown[lot.path] = lot.access
    for path in to_start(program, ground.lots):
        shown[path] = Access.READ
        yield from ("--ro-bind", path, path)
    yield from _names(fence, ground, shown)
    for path in ground.sockets:
        if around(path, shown) is not Access.HIDE:
            yield from (*NULL, path)
    for path in fence.sockets:
        real = os.path.realpath(path)
        if os.path.exists(real):
            yield from ("--bind", real, real)
    yield from (
        part
        for path in ground.blocked
        for part in (*NULL, path)
        if around(path, shown) is not Access.HIDE
    )
    # Last, since something in them may be shown after all.
    yield from (
        part
        for lot in ground.lots
        if lot.access is Access.HIDE
        and lot.is_folder
        and around(lot.path, shown) is not Access.HIDE
        for part in ("--remount-ro", lot.path)
    )


def _base(fence: Fence, root: Access, *, sized: bool) -> Iterator[str]:
    """What lies below everything else: the system as a whole, if it is open, and its devices."""
    if root is not Access.HIDE:
        yield from ("--bind" if root is Access.WRITE else "--ro-bind", "/", "/")
    yield from OWN
    if sized and fence.limits.memory:
        # Files in there are memory, and belong to no process that could be counted.
        yield from ("--size", str(fence.limits.memory // SHARE_OF_MEMORY))
    yield from SHARED_MEMORY
    for name in COVERED:
        if os.path.exists(f"/proc/{name}"):
            yield from ("--ro-bind", f"/proc/{name}", f"/proc/{name}")


def _names(fence: Fence, ground: Ground, shown: Mapping[str, Access]) -> Iterator[str]:
    """By which visible folders are known, where nothing else of the folder around is there."""
    home = os.path.realpath(fence.home)
    if home not in shown or around(home, shown) is Access.HIDE:
        yield from ("--dir", home)
    for link, target in ground.aliases:
        if link not in shown and around(link, shown) is Access.HIDE:
            yield from ("--symlink", target, link)


def _is_open(lot: Lot, shown: Mapping[str, Access], others: Container[str]) -> bool:
    """Can it be written anyway, being in something that can?"""
    if lot.place.source or lot.place.stays or around(lot.path, shown) is not Access.WRITE:
        return False
    path = os.path.dirname(lot.path)
    while path not in shown:
        path = os.path.dirname(path)
    return path not in others


def _private(fence: Fence) -> list[tuple[str, tuple[str, ...]]]:
    """Folders that are others inside."""
    temp = ("--bind", fence.temp) if fence.temp else ("--tmpfs",)
    found = {os.path.realpath(path): temp for path in PRIVATE if os.path.isdir(path)}
    return list(found.items())


def _mount(lot: Lot, shown: dict[str, Access]) -> tuple[str, ...]:
    outer = around(lot.path, shown)
    match lot.access:
        case Access.WRITE:
            return ("--bind", lot.place.source or lot.path, lot.path)
        case Access.READ:
            return () if outer is Access.READ else ("--ro-bind", lot.path, lot.path)
        case Access.HIDE if outer is Access.HIDE:
            return ()
        case Access.HIDE if lot.is_folder:
            return ("--tmpfs", lot.path)
        case Access.HIDE:
            return (*NULL, lot.path)


def _holders(lot: Lot, shown: dict[str, Access]) -> Iterator[str]:
    """A folder that holds something protected becomes a mount as well: otherwise it could be
    renamed away, and another be put in its place."""
    if lot.access is Access.WRITE or around(lot.path, shown) is not Access.WRITE:
        return
    for folder in folders_between(lot.path, shown):
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
