"""What can be told about an agent without spending anything."""

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from ralph.core.capability import Capability, version_of
from ralph.core.errors import RalphError, Unavailable
from ralph.ports.agent import Account, Agent
from ralph.wiring.agents import known_agents, missing, session_variables
from ralph.wiring.project import Project

if TYPE_CHECKING:
    from ralph.ports.executor import Executor


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """One agent on this machine."""

    name: str
    program: str
    path: str | None
    version: str
    account: Account
    install_hint: str
    login_hint: str
    record: Capability | None
    """What its last probe found, perhaps with another version."""

    @property
    def is_outdated(self) -> bool:
        """Has it never been probed, or in another version only?"""
        return self.record is None or self.record.version != self.version


def all_agents(names: Sequence[str] = (), *, led: bool = False) -> Iterator[Agent]:
    """Those that are programs of their own; only the named ones, if any are named. `led`: also what
    a library makes of such a program."""
    from ralph.ports.agent import Setup

    known = known_agents()
    for name in names:
        if name not in known:
            raise Unavailable(
                f"there is no agent {name!r}", hint=f"known agents: {', '.join(sorted(known))}"
            )
    for name in names or sorted(known):
        kind = known[name].load()
        traits = getattr(kind, "traits", None)
        if traits is not None and traits.program and traits.package and not (led or names):
            continue
        if traits is not None and traits.program:
            yield kind(Setup())
        elif names:
            raise Unavailable(
                f"agent {name} is whatever you set as its command",
                hint="only agents that are programs of their own can be probed",
            )


def see(agent: Agent, executor: "Executor", project: Project) -> Seen:
    """Look at it."""
    from shutil import which

    from ralph.adapters.agents.homes import SessionHomes
    from ralph.adapters.agents.records import Records
    from ralph.wiring.programs import search_path
    from ralph.wiring.walls import ground_of

    traits = agent.traits
    safe = which(traits.program, path=search_path(ground_of(project)))
    path = None if missing(agent) else safe or which(traits.program)
    files = SessionHomes("", os.environ).files(traits.home) if traits.home is not None else {}
    return Seen(
        name=traits.name,
        program=missing(agent) or traits.program,
        path=path,
        # One that sessions can change is not started, not even for this.
        version=_version(safe, executor) if safe is not None else "",
        account=agent.account(session_variables(project, agent), files),
        install_hint=traits.install_hint,
        login_hint=traits.login_hint,
        record=Records(os.environ).read(traits.name),
    )


def _version(path: str, executor: "Executor") -> str:
    try:
        said = executor.capture([path, "--version"], cwd=os.getcwd(), timeout_s=30.0)
    except RalphError:
        return ""
    return version_of(said.stdout.decode(errors="replace"))
