"""Find the agent that works, its fallbacks, verifiers and reviewers."""

import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from shutil import which
from typing import TYPE_CHECKING

import msgspec

from ralph.config.project import Project
from ralph.config.sources import nearest
from ralph.core.errors import NotLoggedIn, RalphError, Unavailable
from ralph.core.probe_result import ProbeResult, version_of
from ralph.core.session_environment import inherited_variables
from ralph.ports.agent import Agent, AgentSetup, BillingAccount
from ralph.ports.executor import Command, Executor

if TYPE_CHECKING:
    # A hook asks for an agent's tools, and is called with each tool.
    from importlib.metadata import EntryPoint

    from ralph.adapters.agents.probe_records import ProbeRecords

WELL_KNOWN = ("codex", "claude", "droid")
"""Without a choice, the first of these that is installed and logged in does the work."""


def known_agents() -> "dict[str, EntryPoint]":
    """Every agent that is a part of Ralph or is installed beside it, by name."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group="ralph.agents")}


def find_agents(project: Project) -> tuple[tuple[Agent, ...], tuple[str, ...]]:
    """The agent that does the work and those that step in while it is out of quota; a line about
    each that cannot, since it is not installed."""
    first = find_agent(project)
    _check_usable(project, first)
    named = (make_agent(project, name) for name in project.config.agent.fallback)
    others = {one.traits.name: one for one in named if one.traits.name != first.traits.name}
    there = tuple(one for one in others.values() if is_installed(one))
    absent = tuple(
        f"{name} cannot step in, since it is not installed: {one.traits.install_hint}"
        for name, one in others.items()
        if one not in there
    )
    return (first, *there), absent


def find_verifiers(project: Project, agents: Sequence[Agent]) -> tuple[Agent, ...]:
    """The agent that verifies the work and those that replace it; none where the agents at work do
    it themselves, or where verification is off."""
    config = project.config
    return _set_for(project, config.verify.agent if config.execution.verify else "", agents)


def find_reviewers(project: Project, agents: Sequence[Agent]) -> tuple[Agent, ...]:
    """The same for reviews."""
    config = project.config.review
    return _set_for(project, config.agent if config.enabled else "", agents)


def _set_for(project: Project, name: str, agents: Sequence[Agent]) -> tuple[Agent, ...]:
    if not name:
        return ()
    first = make_agent(project, name)
    _check_usable(project, first)
    return first, *(one for one in agents[1:] if one.traits.name != first.traits.name)


def _check_usable(project: Project, agent: Agent) -> None:
    """Refuse an agent that is not installed, or not logged in."""
    if what := missing(agent):
        raise Unavailable(f"{what} is not installed", hint=agent.traits.install_hint)
    if login_of(project, agent).logged_in is False:
        raise NotLoggedIn(f"{agent.traits.name} is not logged in", hint=agent.traits.login_hint)


def find_agent(project: Project) -> Agent:
    """The agent that does the work: by name, or the first of the well-known ones installed."""
    config = project.config.agent
    if config.name != "auto":
        return make_agent(project, config.name)
    if config.command:
        return make_agent(project, "command")
    installed = [*filter(is_installed, (make_agent(project, name) for name in WELL_KNOWN))]
    if installed:
        usable = (one for one in installed if login_of(project, one).logged_in is not False)
        return next(usable, installed[0])
    raise Unavailable(
        f"no agent is installed; looked for {', '.join(WELL_KNOWN)}",
        hint="`ralph agents list` says how to get one;"
        ' or set [agent] command = "my-agent {prompt}" in .ralph.toml',
    )


def make_agent(project: Project, name: str) -> Agent:
    """One agent. A person's own command line for it, in `agents.sh`, wins over what we know."""
    known = known_agents()
    own = project.own_command(name)
    if not own and name not in known:
        names = sorted({*known, *project.own_agents})
        raise Unavailable(
            f"there is no agent {name!r}{nearest(name, names)}; known agents: {', '.join(names)}",
            hint='set [agent] command = "…" in .ralph.toml, or AGENT_CMD="my-agent {prompt}"',
        )
    setup = AgentSetup(
        name=name if own else "",
        command=own or project.config.agent.command,
        directory=project.root,
    )
    return _made(known["command" if own else name], setup)


def _made(point: "EntryPoint", setup: AgentSetup) -> Agent:
    """Load an agent; one of another author may be broken, which is no bug of ours."""
    try:
        agent: Agent = point.load()(setup)
    except (ImportError, AttributeError, SyntaxError) as error:
        raise Unavailable(
            f"agent {point.name} cannot be loaded: {type(error).__name__}: {error}",
            hint=f"fix or remove {point.value}",
        ) from error
    promised = (name for name in vars(Agent) if not name.startswith("_"))
    if lacks := [name for name in promised if not hasattr(agent, name)]:
        raise Unavailable(
            f"agent {point.name} has no {' and no '.join(lacks)}",
            hint="ralph.testing.agent_contract shows what every agent promises",
        )
    return agent


def is_installed(agent: Agent) -> bool:
    """Can its program be found? One without a name of its own is found out when it is started."""
    return not missing(agent)


def missing(agent: Agent) -> str:
    """What of it is not installed; empty: nothing."""
    traits = agent.traits
    if traits.package and find_spec(traits.package) is None:
        return traits.package
    return traits.program if traits.program and which(traits.program) is None else ""


def login_of(project: Project, agent: Agent) -> BillingAccount:
    """Who pays for an agent's sessions, from the variables and files of the person's login."""
    from ralph.adapters.agents.session_homes import SessionHomes

    home = agent.traits.home
    files = SessionHomes("", os.environ).login_files(home) if home is not None else {}
    return agent.account(session_variables(project, agent), files)


def session_variables(project: Project, agent: Agent) -> dict[str, str]:
    """What a session of an agent inherits of this environment."""
    return inherited_variables(os.environ, project.config.agent.pass_env, agent.traits.keys)[0]


def probe_records() -> "ProbeRecords":
    """The results of probes, outside of any project."""
    from ralph.adapters.agents.probe_records import ProbeRecords

    return ProbeRecords(os.environ)


class AgentInfo(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    program: str
    path: str | None
    version: str
    account: BillingAccount
    install_hint: str
    login_hint: str
    record: ProbeResult | None
    """What its last probe found, perhaps with another version."""

    @property
    def is_outdated(self) -> bool:
        """Has it never been probed, or in another version only?"""
        return self.record is None or self.record.version != self.version


def agent_programs(names: Sequence[str] = ()) -> Iterator[Agent]:
    """Agents that are programs of their own; only the named ones, if any are named."""
    known = known_agents()
    for name in names:
        if name not in known:
            raise Unavailable(
                f"there is no agent {name!r}", hint=f"known agents: {', '.join(sorted(known))}"
            )
    for name in names or sorted(known):
        kind = known[name].load()
        traits = getattr(kind, "traits", None)
        if traits is not None and traits.program:
            yield kind(AgentSetup())
        elif names:
            raise Unavailable(
                f"agent {name} is whatever you set as its command",
                hint="only agents that are programs of their own can be probed",
            )


def inspect_agent(agent: Agent, executor: Executor, project: Project) -> AgentInfo:
    """Find out what is installed of an agent, and who would pay."""
    from ralph.wiring.project_sandbox import search_path

    traits = agent.traits
    safe = which(traits.program, path=search_path(project))
    path = None if missing(agent) else safe or which(traits.program)
    return AgentInfo(
        name=traits.name,
        program=missing(agent) or traits.program,
        path=path,
        # One that sessions can change is not started, not even for this.
        version=_version(safe, executor) if safe is not None else "",
        account=login_of(project, agent),
        install_hint=traits.install_hint,
        login_hint=traits.login_hint,
        record=probe_records().read(traits.name),
    )


def _version(path: str, executor: Executor) -> str:
    try:
        # Not in the checkout: some programs obey files of the folder in which they start.
        command = Command(argv=(os.path.abspath(path), "--version"), cwd="/", env=os.environ)
        said = executor.capture(command, timeout_s=30.0)
    except RalphError:
        return ""
    return version_of(said.stdout.decode(errors="replace"))
