"""The values of the policy: what it allows, and what it decides."""

from enum import StrEnum

import msgspec

from ralph.core.settings import Config, GitAccess


class Phase(StrEnum):
    """What a session is for."""

    DISCOVERY = "discovery"
    PLANNING = "planning"
    BUILDING = "building"
    VALIDATION = "validation"


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that a decision follows."""

    git: GitAccess = "commit"
    uses_uv: bool = False
    """Python packages are installed and run with uv alone."""
    strict: bool = False
    """What cannot be decided is denied."""
    allow_rules: tuple[str, ...] = ()
    """Rules of the sandbox that a person allows."""


class PolicyContext(msgspec.Struct, frozen=True, kw_only=True):
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


Verdict = Deny | Doubt | None


def policy_of(config: Config, *, has_uv_lock: bool, strict: bool) -> Policy:
    section = config.policy
    return Policy(
        # Where sessions do not commit, their git is read-only whatever `git` is.
        git=section.git if config.git.commit == "auto" else "read-only",
        uses_uv=section.packaging == "uv" or (section.packaging == "auto" and has_uv_lock),
        strict=strict or section.strict,
        allow_rules=config.sandbox.allow,
    )
