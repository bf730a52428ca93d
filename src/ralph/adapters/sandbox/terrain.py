"""What is really there: a fence names places, this says which exist and where they lead."""

import contextlib
import os
import stat
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec.structs import replace

from ralph.adapters.sandbox.launching import part_of
from ralph.core.fence import Absent, Access, Blocked, Fence, Place, is_inside, ordered
from ralph.core.resources import Resources

USUAL_PATH: Final = (
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
    "/usr/local/sbin",
    "/usr/sbin",
    "/snap/bin",
    "/opt/homebrew/bin",
    "/opt/local/bin",
)
"""A program may be called by its whole path, wherever PATH leads."""

SOCKETS: Final = "/proc/net/unix"
MOST_LINKS: Final = 40


class Lot(NamedTuple):
    """A place as it is on this machine, without symbolic links on the way."""

    path: str
    access: Access
    is_folder: bool
    place: Place


class Ground(NamedTuple):
    """Everything that a wall has to do with."""

    lots: tuple[Lot, ...]
    """Shallow ones first."""
    blocked: tuple[str, ...]
    """Programs, by the file behind every link."""
    sockets: tuple[str, ...]
    """At which others listen."""
    links: tuple[str, ...]
    """Places to be protected that are symbolic links: those cannot be."""
    aliases: tuple[tuple[str, str], ...]
    """Symbolic links on the way to what is visible, and what each says."""


@lru_cache(maxsize=8)
def survey(fence: Fence, path: str) -> Ground:
    """Look at every place. `path` is the PATH of what is to be started."""
    lots: dict[str, Lot] = {}
    links: list[str] = []
    aliases = {**_links(fence.home)}
    top = os.path.realpath(fence.top)
    for place in fence.places:
        lot = _look(place, fence, top)
        if lot is None:
            continue
        lots[lot.path] = lot
        if place.access is not Access.HIDE and lot.path != place.path:
            aliases |= _links(place.path)
        if place.access is Access.READ and _is_planted_link(place, fence):
            links.append(place.path)
    by_depth = tuple(sorted(lots.values(), key=lambda lot: (lot.path.count("/"), lot.path)))
    writable = [lot.path for lot in by_depth if lot.access is Access.WRITE]
    return Ground(
        lots=by_depth,
        blocked=tuple(dict.fromkeys(_programs(fence.blocked, path, writable))),
        sockets=tuple(dict.fromkeys(_sockets(fence))),
        links=tuple(links),
        aliases=tuple(aliases.items()),
    )


def _links(path: str) -> dict[str, str]:
    """The symbolic links among a path and the folders around it, and around where those lead."""
    found: dict[str, str] = {}
    parts, at = path.split(os.sep)[::-1], os.sep
    while parts and len(found) < MOST_LINKS:
        part = parts.pop()
        at = os.path.normpath(os.path.join(at, part))
        if at not in found and os.path.islink(at):
            found[at] = os.readlink(at)
            parts += found[at].split(os.sep)[::-1]
            at = os.sep if os.path.isabs(found[at]) else os.path.dirname(at)
    return found


def limits_for(fence: Fence, lots: Sequence[Lot], *more: str) -> Resources:
    """What a command may use of the machine, and where it can write."""
    if fence.limits == Resources():
        return fence.limits
    written = [lot.path for lot in lots if lot.access is Access.WRITE and lot.is_folder]
    return replace(fence.limits, folders=tuple(filter(None, (*written, fence.temp, *more))))


def to_start(program: str, lots: Sequence[Lot]) -> list[str]:
    """What must be seen of hidden folders, so that a program in them can be started."""
    found: list[str] = []
    for path in dict.fromkeys((program, os.path.realpath(program))):
        around_it = [lot for lot in lots if is_inside(path, lot.path)]
        if not around_it or around_it[-1].access is not Access.HIDE:
            continue
        hidden = around_it[-1]
        folder = os.path.dirname(path)
        if not hidden.place.broad:
            # An agent may be installed in its own folder: just that part of it comes back.
            part = part_of(path, hidden.path)
        else:
            part = folder if os.path.basename(folder) == "bin" else path
        # Mounted last, the folder around the checkout would cover it.
        while part != path and any(is_inside(lot.path, part) for lot in lots):
            part = part_of(path, part)
        found.append(part)
    return found


def _look(place: Place, fence: Fence, top: str) -> Lot | None:
    try:
        mode = os.stat(place.path).st_mode
    except OSError:
        return None
    real = os.path.realpath(place.path)
    if place.access is Access.WRITE and _strays(place.path, real, fence.top, top):
        # An agent may have put a link there in an earlier session; it must not lead us out.
        return None
    if place.access is Access.HIDE and not os.access(real, os.R_OK):
        return None
    return Lot(real, place.access, stat.S_ISDIR(mode), place)


def _strays(path: str, real: str, top: str, real_top: str) -> bool:
    """Does a path in the checkout lead out of its place?"""
    if path == top or not is_inside(path, top):
        return False
    return real != real_top + path[len(top) :]


def _is_planted_link(place: Place, fence: Fence) -> bool:
    """A link in a writable folder can be replaced by another, whatever it leads to."""
    return os.path.islink(place.path) and fence.access(os.path.dirname(place.path)) is Access.WRITE


def folders_between(path: str, roots: Container[str]) -> list[str]:
    """The folders around a path, up to the first of the roots, outermost first."""
    found: list[str] = []
    folder = os.path.dirname(path)
    while folder not in roots and folder != "/":
        found.insert(0, folder)
        folder = os.path.dirname(folder)
    return found


def missing(fence: Fence, absent: Absent) -> list[str]:
    """Protected places that do not exist, of one kind."""
    return [
        place.path
        for place in ordered(fence.places)
        if place.absent is absent
        and place.access is not Access.WRITE
        and not os.path.lexists(place.path)
    ]


def frozen(fence: Fence) -> list[str]:
    """Protected files and folders, each of which lies in a folder that can be written."""
    access = {place.path: place.access for place in fence.places}
    return [
        place.path
        for place in ordered(fence.places)
        if place.access is Access.READ
        and not place.changes
        and os.path.lexists(place.path)
        and around(place.path, access) is Access.WRITE
    ]


def around(path: str, access: Mapping[str, Access]) -> Access:
    """What holds for the folder in which something lies."""
    while path != "/":
        path = os.path.dirname(path)
        if path in access:
            return access[path]
    return Access.READ


def is_its_own(name: str, real: str) -> bool:
    """Is the file behind a name that program, or one that does many other things as well?

    Version managers link every name to themselves: to block that file would block them all.
    """
    base = os.path.basename(real)
    return base == name or (base.startswith(name) and not base[len(name)].isalpha())


def hits(name: str, path: str) -> Iterator[str]:
    """Every file that a name may start."""
    for folder in dict.fromkeys((*path.split(os.pathsep), *USUAL_PATH)):
        candidate = os.path.join(folder, name)
        if os.path.isabs(candidate) and os.path.isfile(candidate):
            yield candidate


def _programs(blocked: Iterable[Blocked], path: str, writable: list[str]) -> Iterator[str]:
    for program in blocked:
        for candidate in hits(program.name, path):
            real = os.path.realpath(candidate)
            if is_its_own(program.name, real) and not any(is_inside(real, w) for w in writable):
                yield real


def _sockets(fence: Fence) -> Iterator[str]:
    """A read-only mount does not keep anybody from talking to whoever listens."""
    allowed = {os.path.realpath(path) for path in fence.sockets}
    doors = [os.path.realpath(door) for door in fence.doors]
    for path in _listening((fence.home, fence.top)):
        real = os.path.realpath(path)
        if real not in allowed and not any(is_inside(real, door) for door in doors):
            yield real


def _listening(usual: Iterable[str]) -> Iterator[str]:
    """All that have a file. One may have been named as seen from a folder, and nobody says from
    which: those of all processes are tried, and the usual ones."""
    try:
        with open(SOCKETS, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()[1:]
    except OSError:
        return
    names = dict.fromkeys(parts[7] for line in lines if len(parts := line.split(None, 7)) > 7)
    named = [name for name in names if not name.startswith(("/", "@"))]
    folders = {*usual, *_folders_of_processes()} if named else set()
    found = [name for name in names if name.startswith("/")]
    found += [os.path.join(folder, name) for name in named for folder in sorted(folders)]
    yield from filter(_is_socket, found)


def _folders_of_processes() -> Iterator[str]:
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            yield os.readlink(f"/proc/{pid}/cwd")


def _is_socket(path: str) -> bool:
    try:
        # Who may not write to it cannot connect to it either.
        return stat.S_ISSOCK(os.stat(path).st_mode) and os.access(path, os.W_OK)
    except OSError:
        return False
