"""What is decided about a call, and by which policy."""

from enum import StrEnum
from typing import Literal

import msgspec


class Phase(StrEnum):
    """What a session is for."""

    DISCOVERY = "discovery"
    PLANNING = "planning"
    BUILDING = "building"
    VALIDATION = "validation"


class Git(StrEnum):
    """What a session may do with git."""

    COMMIT = "commit"
    """Look, add and commit."""
    READ_ONLY = "read-only"
    FREE = "free"


class Packaging(StrEnum):
    """How Python packages are installed and run."""

    UV = "uv"
    FREE = "free"


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """What a decision follows."""

    git: Git = Git.COMMIT
    packaging: Packaging = Packaging.FREE
    strict: bool = False
    """What cannot be decided is denied."""
    doors: tuple[str, ...] = ()
    """Rules of the sandbox that a person has opened."""


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """Where a command runs."""

    checkout: str
    cwd: str = ""
    """The checkout's top, when empty."""
    home: str = "/home"


class Allow(msgspec.Struct, frozen=True, kw_only=True, tag="allow"):
    """It may run as it is."""

    doubts: tuple[str, ...] = ()
    """What could not be decided: worth a line in the log."""


class Deny(msgspec.Struct, frozen=True, kw_only=True, tag="deny"):
    """It must not run."""

    reason: str
    suggestion: str = ""
    """What to do instead."""


class Rewrite(msgspec.Struct, frozen=True, kw_only=True, tag="rewrite"):
    """It may run in other words."""

    command: str
    doubts: tuple[str, ...] = ()


Decision = Allow | Deny | Rewrite


class Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """Something that only the running shell can know."""

    reason: str


def policy_of(
    *,
    git: Literal["commit", "read-only", "free"],
    commits: Literal["auto", "ralph", "none"],
    packaging: Literal["auto", "uv", "free"],
    strict: bool,
    has_uv_lock: bool,
    doors: tuple[str, ...] = (),
) -> Policy:
    """The policy that follows from the settings.

    Where only Ralph commits, or nobody does, a session's git is read-only whatever else is said.
    """
    uses_uv = packaging == "uv" or (packaging == "auto" and has_uv_lock)
    return Policy(
        git=Git(git) if commits == "auto" else Git.READ_ONLY,
        packaging=Packaging.UV if uses_uv else Packaging.FREE,
        strict=strict,
        doors=doors,
    )
