"""Which agent does the work, and who could step in."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ralph.wiring.project import Project

if TYPE_CHECKING:
    # Commands that only touch tasks must not pay for agents.
    from importlib.metadata import EntryPoint

    from ralph.ports.agent import Agent, Setup

WELL_KNOWN = ("codex", "claude", "droid")
"""Without a choice, the first of these that is installed does the work."""


def known_agents() -> "dict[str, EntryPoint]":
    """Every agent that is a part of Ralph or is installed beside it, by name."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group="ralph.agents")}


def find_agents(project: Project) -> "tuple[tuple[Agent, ...], tuple[str, ...]]":
    """The agent that does the work and those that step in while it is out of quota; a line about
    each that cannot, since it is not installed."""
    first = find_agent(project)
    _check_installed(first)
    named = (make_agent(project, name) for name in project.loaded.config.agent.fallback)
    others = {one.traits.name: one for one in named if one.traits.name != first.traits.name}
    there = tuple(one for one in others.values() if is_installed(one))
    absent = tuple(
        f"{name} cannot step in, since it is not installed: {one.traits.install_hint}"
        for name, one in others.items()
        if one not in there
    )
    return (first, *there), absent


def find_verifiers(project: Project, agents: "Sequence[Agent]") -> "tuple[Agent, ...]":
    """Who checks the work, then those who step in for that; nobody where the agents themselves do,
    or where nobody is to check."""
    config = project.loaded.config
    return _set_for(project, config.verify.agent if config.execution.verify else "", agents)


def find_reviewers(project: Project, agents: "Sequence[Agent]") -> "tuple[Agent, ...]":
    """The same for those who review it."""
    config = project.loaded.config.review
    return _set_for(project, config.agent if config.enabled else "", agents)


def _set_for(project: Project, name: str, agents: "Sequence[Agent]") -> "tuple[Agent, ...]":
    if not name:
        return ()
    first = make_agent(project, name)
    _check_installed(first)
    return first, *(one for one in agents[1:] if one.traits.name != first.traits.name)


def _check_installed(agent: "Agent") -> None:
    from ralph.core.errors import Unavailable

    if what := missing(agent):
        raise Unavailable(f"{what} is not installed", hint=agent.traits.install_hint)


def find_agent(project: Project) -> "Agent":
    """The agent that does the work: by name, or the first of the well-known ones installed."""
    from ralph.core.errors import Unavailable

    config = project.loaded.config.agent
    if config.name != "auto":
        return make_agent(project, config.name)
    if config.command:
        return make_agent(project, "command")
    for name in WELL_KNOWN:
        agent = make_agent(project, name)
        if is_installed(agent):
            return agent
    raise Unavailable(
        f"no agent is installed; looked for {', '.join(WELL_KNOWN)}",
        hint="`ralph agents list` says how to get one;"
        ' or set [agent] command = "my-agent {prompt}" in .ralph.toml',
    )


def make_agent(project: Project, name: str) -> "Agent":
    """One agent. A person's own command line for it, in `agents.sh`, wins over what we know."""
    from ralph.config.sources import nearest
    from ralph.core.errors import Unavailable
    from ralph.ports.agent import Setup

    loaded, known = project.loaded, known_agents()
    own = loaded.own_command(name)
    if not own and name not in known:
        names = sorted({*known, *loaded.own_agents})
        raise Unavailable(
            f"there is no agent {name!r}{nearest(name, names)}; known agents: {', '.join(names)}",
            hint='set [agent] command = "…" in .ralph.toml, or AGENT_CMD="my-agent {prompt}"',
        )
    config = loaded.config.agent
    setup = Setup(
        name=name if own else "",
        command=own or config.command,
        interactive=loaded.own_command(f"{name}_interactive") or config.interactive,
        directory=project.root,
    )
    return _made(known["command" if own else name], setup)


def _made(point: "EntryPoint", setup: "Setup") -> "Agent":
    """An agent that somebody else wrote may be broken, which is no bug of ours."""
    from ralph.core.errors import Unavailable
    from ralph.ports.agent import Agent

    try:
        agent: Agent = point.load()(setup)
    except (ImportError, AttributeError, SyntaxError) as error:
        raise Unavailable(
            f"agent {point.name} cannot be loaded: {type(error).__name__}: {error}",
            hint=f"mend or remove {point.value}",
        ) from error
    promised = (name for name in vars(Agent) if not name.startswith("_"))
    if lacks := [name for name in promised if not hasattr(agent, name)]:
        raise Unavailable(
            f"agent {point.name} has no {' and no '.join(lacks)}",
            hint="ralph.testing.agent_contract shows what every agent promises",
        )
    return agent


def is_installed(agent: "Agent") -> bool:
    """Can its program be found? One without a name of its own is found out when it is started."""
    return not missing(agent)


def missing(agent: "Agent") -> str:
    """What of it is not installed; empty: nothing."""
    from importlib.util import find_spec
    from shutil import which

    traits = agent.traits
    if traits.package and find_spec(traits.package) is None:
        return traits.package
    return traits.program if traits.program and which(traits.program) is None else ""


def session_variables(project: Project, agent: "Agent") -> dict[str, str]:
    """What a session of an agent inherits of this environment."""
    from ralph.core.environment import inherited

    return inherited(os.environ, project.loaded.config.agent.pass_env, agent.traits.keys)[0]
