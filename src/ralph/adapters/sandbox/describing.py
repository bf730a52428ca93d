"""A fence in words: what `ralph sandbox show` prints."""

import os
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

import msgspec

from ralph.adapters.sandbox.belongings import usual_temp
from ralph.adapters.sandbox.bubblewrap import PRIVATE, Bubblewrap
from ralph.adapters.sandbox.terrain import hits, is_its_own, survey
from ralph.core.fence import Absent, Access, Fence, Place, ordered


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """One place."""

    path: str
    access: Access
    why: str
    exists: bool


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """One program that is blocked, and where."""

    name: str
    rule: str
    files: tuple[str, ...]
    """What cannot be started."""
    shared: tuple[str, ...]
    """What could not be blocked, since it does other things as well."""


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    sandbox: str
    """What would be built; empty if nothing can be."""
    note: str
    """Why it is nothing, or not the best."""
    gaps: tuple[str, ...]
    network: str
    domains: tuple[str, ...]
    places: tuple[Shown, ...]
    programs: tuple[Program, ...]
    sockets: tuple[str, ...]
    """Of other programs, closed."""
    dropped: tuple[str, ...]
    """Variables that do not go inside."""
    variables: dict[str, str]
    """Variables that are others inside."""


def private(sandbox: str) -> Iterator[Place]:
    """What every session has of its own, and whose place it takes."""
    why = "the session's own, gone afterwards"
    if sandbox != Bubblewrap.name:
        path = os.path.join(usual_temp(), "…")
        yield Place(path=path, access=Access.WRITE, why=why, planned=True)
        return
    yield from (Place(path=path, access=Access.WRITE, why=why) for path in PRIVATE)


def describe(
    fence: Fence,
    environ: Mapping[str, str],
    *,
    sandbox: str,
    note: str,
    gaps: tuple[str, ...],
    secrets: tuple[str, ...],
) -> Described:
    """What holds now, on this machine. `secrets` are variables that sessions do not get anyway."""
    path = environ.get("PATH", os.defpath)
    return Described(
        sandbox=sandbox,
        note=note,
        gaps=gaps,
        network=fence.network,
        domains=fence.domains,
        places=tuple(_shown(place) for place in ordered(fence.places) if _matters(place)),
        programs=tuple(_program(one.name, one.rule, path) for one in fence.blocked),
        sockets=survey(fence, path).sockets,
        dropped=tuple(
            sorted(
                name
                for name in environ
                if name in secrets or any(fnmatchcase(name, one) for one in fence.dropped)
            )
        ),
        variables=dict(fence.env),
    )


def _matters(place: Place) -> bool:
    """What is hidden and not there concerns nobody."""
    return (
        place.path.endswith("…")
        or place.planned
        or place.absent is not Absent.SKIP
        or os.path.lexists(place.path)
    )


def _shown(place: Place) -> Shown:
    return Shown(
        path=place.path,
        access=place.access,
        why=place.why,
        exists=place.planned or os.path.lexists(place.path),
    )


def _program(name: str, rule: str, path: str) -> Program:
    files = dict.fromkeys(os.path.realpath(hit) for hit in hits(name, path))
    return Program(
        name=name,
        rule=rule,
        files=tuple(file for file in files if is_its_own(name, file)),
        shared=tuple(file for file in files if not is_its_own(name, file)),
    )
