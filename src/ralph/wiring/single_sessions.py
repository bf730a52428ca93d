"""Set up sessions outside of a run: one with a person, and the probe of an agent."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from time import localtime, strftime

import msgspec

from ralph.adapters.agents.command_agent import CommandAgent
from ralph.adapters.agents.session_homes import SessionHomes
from ralph.adapters.executor.own_process import with_ralph
from ralph.adapters.executor.signals import Signals
from ralph.config.project import Project
from ralph.core.errors import RalphError
from ralph.core.model_selection import model_name_for_agent
from ralph.core.settings import ModelsSection
from ralph.ports.agent import Agent, AgentSetup
from ralph.wiring.agents import find_agent, find_agents, session_variables
from ralph.wiring.processes import open_executor, system_clock
from ralph.wiring.project_sandbox import agents_programs, unsandboxed_runner
from ralph.wiring.run_settings import hook_command
from ralph.wiring.sandbox import open_sandbox_or_none
from ralph.workflows.agent_probe import AgentProbe
from ralph.workflows.interactive_session import InteractiveSession


@contextmanager
def open_interactive_session(project: Project) -> Iterator[InteractiveSession]:
    """A session of the chosen agent, in the project, with the person at the terminal."""
    agent = find_agents(project)[0][0]
    models, name = project.config.models, agent.traits.name
    own = project.own_command(f"{name}_interactive")
    if line := own or project.config.agent.interactive:
        # However it is started for work, for talking a person has a command of their own.
        agent = CommandAgent(AgentSetup(name=name, command=line))
    tag = strftime("%Y%m%d-%H%M%S", localtime())
    with open_executor() as executor:
        yield InteractiveSession(
            agent=agent,
            executor=executor,
            env=with_ralph(session_variables(project, agent), project.tools),
            root=project.root,
            files=os.path.join(project.runs_dir, f"talk-{tag}-{os.getpid()}"),
            # Strategies look at attempts, and a person makes none: it is what they have named, or
            # else what the agent itself would take.
            model=model_name_for_agent(
                models.model, models.tiers.get(name, {}), agent.traits.models
            ),
            as_root=os.geteuid() == 0,
            hook=hook_command(),
            programs=agents_programs(project, (agent,))[0],
        )


@contextmanager
def open_agent_probe(
    project: Project, agent: Agent, warn: Callable[[str], None]
) -> Iterator[AgentProbe]:
    """What a probe of an agent needs, in a folder that is gone afterwards."""
    with (
        open_executor() as executor,
        TemporaryDirectory(prefix="ralph-probe-") as folder,
        Signals(executor) as signals,
    ):
        checkout = os.path.join(folder, "checkout")
        os.mkdir(checkout)
        # As a project's sessions have it, around another folder.
        probed = Project(root=checkout, config=project.config)
        yield AgentProbe(
            executor=executor,
            clock=system_clock(),
            homes=SessionHomes(os.path.join(folder, "homes"), os.environ),
            env=session_variables(project, agent),
            folder=checkout,
            as_root=os.geteuid() == 0,
            models=_probed_on(project, agent.traits.name),
            interrupted=lambda: signals.interrupted,
            open_sandbox=lambda: open_sandbox_or_none(probed, executor),
            warn=warn,
            git=unsandboxed_runner(project, executor),
        )


def _probed_on(project: Project, agent: str) -> ModelsSection:
    models = project.config.models
    try:
        is_chosen = find_agent(project).traits.name == agent
    except RalphError:
        is_chosen = False
    # The name of a model is meant for the agent that does the work here, and no other knows it.
    return models if is_chosen else msgspec.structs.replace(models, model="")
