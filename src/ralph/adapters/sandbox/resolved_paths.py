"""Resolve the sandbox rules on this machine: which paths exist, and where links lead."""

import contextlib
import os
import stat
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from ralph.core.sandbox_rules import (
    Access,
    BlockedProgram,
    IfMissing,
    PathRule,
    SandboxRules,
    is_inside,
    outermost_first,
)

USUAL_PATH: Final = (
    *("/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin"),
    *("/snap/bin", "/opt/homebrew/bin", "/opt/local/bin"),
)
"""A program may be called by its whole path, wherever PATH leads."""

SOCKETS: Final = "/proc/net/unix"
MOST_LINKS: Final = 40


class ResolvedPath(NamedTuple):
    """A rule's path on this machine, without symbolic links."""

    path: str
    access: Access
    is_folder: bool
    place: PathRule


class ResolvedRules(NamedTuple):
    paths: tuple[ResolvedPath, ...]
    """Shallow ones first."""
    blocked: tuple[str, ...]
    """Programs, by the file behind every link."""
    sockets: tuple[str, ...]
    """At which others listen."""
    links: tuple[str, ...]
    """Places to be protected that are symbolic links: those cannot be."""
    aliases: tuple[tuple[str, str], ...]
    """Symbolic links on the way to what is visible, and what each says."""


class RealPaths:
    """`os.path.realpath` for many paths in the same folders: each folder is looked at once."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def of(self, path: str) -> str:
        folder, name = os.path.split(path)
        if name in ("", ".", "..") or not os.path.isabs(path):
            return os.path.realpath(path)
        if folder not in self._folders:
            self._folders[folder] = folder if folder == os.sep else self.of(folder)
        found = os.path.join(self._folders[folder], name)
        return os.path.realpath(found) if os.path.islink(found) else found


@lru_cache(maxsize=8)
def resolve_rules(rules: SandboxRules, path: str) -> ResolvedRules:
    """Look at every place. `path` is the PATH of what is to be started."""
    entries: dict[str, ResolvedPath] = {}
    links: list[str] = []
    aliases = {**_links(rules.home)}
    real_paths = RealPaths()
    top = real_paths.of(rules.top)
    for place in rules.paths:
        entry = _look(place, rules, top, real_paths)
        if entry is None:
            continue
        entries[entry.path] = entry
        if place.access is not Access.HIDE and entry.path != place.path:
            aliases |= _links(place.path)
        is_link = place.access is Access.READ and os.path.islink(place.path)
        # In a writable folder it can be replaced by another, whatever it leads to.
        if is_link and rules.access_to(os.path.dirname(place.path)) is Access.WRITE:
            links.append(place.path)
    by_depth = tuple(
        sorted(entries.values(), key=lambda entry: (entry.path.count("/"), entry.path))
    )
    writable = [entry.path for entry in by_depth if entry.access is Access.WRITE]
    return ResolvedRules(
        paths=by_depth,
        blocked=tuple(dict.fromkeys(_programs(rules.blocked, path, writable, real_paths))),
        sockets=tuple(dict.fromkeys(_sockets(rules, real_paths))),
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


def to_start(program: str, entries: Sequence[ResolvedPath]) -> list[str]:
    """What must be seen of hidden folders, so that a program in them can be started."""
    found: list[str] = []
    for path in dict.fromkeys((program, os.path.realpath(program))):
        around_it = [entry for entry in entries if is_inside(path, entry.path)]
        if not around_it or around_it[-1].access is not Access.HIDE:
            continue
        hidden = around_it[-1]
        folder = os.path.dirname(path)
        if not hidden.place.broad:
            # An agent may be installed in its own folder: just that part of it comes back.
            part = _part_of(path, hidden.path)
        else:
            part = folder if os.path.basename(folder) == "bin" else path
        # Mounted last, the folder around the checkout would cover it.
        while part != path and any(is_inside(entry.path, part) for entry in entries):
            part = _part_of(path, part)
        found.append(part)
    return found


def _part_of(path: str, hidden: str) -> str:
    """What must be shown of a hidden folder, so that a program in it can be started."""
    if not is_inside(path, hidden) or path == hidden:
        return path
    return os.path.join(hidden, os.path.relpath(path, hidden).split(os.sep)[0])


def _look(
    place: PathRule, rules: SandboxRules, top: str, real_paths: RealPaths
) -> ResolvedPath | None:
    try:
        mode = os.stat(place.path).st_mode
    except OSError:
        return None
    real = real_paths.of(place.path)
    if (
        place.access is Access.WRITE
        and is_inside(place.path, rules.top)
        and real != top + place.path[len(rules.top) :]
    ):
        # An agent may have put a link there in an earlier session; it must not lead us out.
        return None
    if place.access is Access.HIDE and not os.access(real, os.R_OK):
        return None
    return ResolvedPath(real, place.access, stat.S_ISDIR(mode), place)


def folders_between(path: str, roots: Container[str]) -> list[str]:
    """The folders around a path, up to the first of the roots, outermost first."""
    found: list[str] = []
    folder = os.path.dirname(path)
    while folder not in roots and folder != "/":
        found.insert(0, folder)
        folder = os.path.dirname(folder)
    return found


def missing_paths(rules: SandboxRules, absent: IfMissing) -> list[str]:
    """Protected places that do not exist, of one kind."""
    return [
        place.path
        for place in outermost_first(rules.paths)
        if place.if_missing is absent
        and place.access is not Access.WRITE
        and not os.path.lexists(place.path)
    ]


def protected_paths(rules: SandboxRules) -> list[str]:
    """Protected files and folders, each of which lies in a folder that can be written."""
    access = {place.path: place.access for place in rules.paths}
    return [
        place.path
        for place in outermost_first(rules.paths)
        if place.access is Access.READ
        and not place.changes
        and os.path.lexists(place.path)
        and access_around(place.path, access) is Access.WRITE
    ]


def access_around(path: str, access: Mapping[str, Access]) -> Access:
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


def files_started_by(name: str, path: str) -> Iterator[str]:
    for folder in dict.fromkeys((*path.split(os.pathsep), *USUAL_PATH)):
        candidate = os.path.join(folder, name)
        if os.path.isabs(candidate) and os.path.isfile(candidate):
            yield candidate


def _programs(
    blocked: Iterable[BlockedProgram], path: str, writable: list[str], real_paths: RealPaths
) -> Iterator[str]:
    for program in blocked:
        for candidate in files_started_by(program.name, path):
            real = real_paths.of(candidate)
            if is_its_own(program.name, real) and not any(is_inside(real, w) for w in writable):
                yield real


def _sockets(rules: SandboxRules, real_paths: RealPaths) -> Iterator[str]:
    """A read-only mount does not stop a process from connecting to a socket."""
    allowed = {real_paths.of(path) for path in rules.sockets}
    own = [real_paths.of(path) for path in rules.ralph_sockets]
    for real in map(real_paths.of, _listening((rules.home, rules.top))):
        if real not in allowed and not any(is_inside(real, path) for path in own):
            yield real


def _listening(usual: Iterable[str]) -> Iterator[str]:
    """All that have a file. A name may be relative to a folder that is not known: those of all
    processes are tried, and the usual ones."""
    try:
        with open(SOCKETS, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()[1:]
    except OSError:
        return
    names = dict.fromkeys(parts[7] for line in lines if len(parts := line.split(None, 7)) > 7)
    named = [name for name in names if not name.startswith(("/", "@"))]
    folders = set(usual) if named else set()
    for pid in filter(str.isdecimal, os.listdir("/proc")) if named else ():
        with contextlib.suppress(OSError):
            folders.add(os.readlink(f"/proc/{pid}/cwd"))
    found = [name for name in names if name.startswith("/")]
    found += [os.path.join(folder, name) for name in named for folder in sorted(folders)]
    yield from filter(_is_socket, found)


def _is_socket(path: str) -> bool:
    try:
        # Connecting needs the permission to write.
        return stat.S_ISSOCK(os.stat(path).st_mode) and os.access(path, os.W_OK)
    except OSError:
        return False
