"""A session at a person's own terminal."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ralph.wiring.agents import find_agents, session_variables
from ralph.wiring.project import Project
from ralph.wiring.settings import hook_command, preferences

if TYPE_CHECKING:
    from ralph.workflows.conversation import Conversation


@contextmanager
def a_conversation(project: Project) -> "Iterator[Conversation]":
    """A session of the chosen agent, in the project, with whoever sits at the terminal."""
    from time import localtime, strftime

    from ralph.adapters.agents.command import CommandAgent
    from ralph.adapters.executor.clock import SystemClock
    from ralph.adapters.executor.own_command import with_ralph
    from ralph.adapters.executor.processes import Processes
    from ralph.core.models import name_for
    from ralph.ports.agent import Setup
    from ralph.wiring.programs import agents_programs
    from ralph.wiring.walls import ground_of
    from ralph.workflows.conversation import Conversation

    agent = find_agents(project)[0][0]
    models, name = preferences(project), agent.traits.name
    own = project.loaded.own_command(f"{name}_interactive")
    if line := own or project.loaded.config.agent.interactive:
        # However it is started for work, for talking a person has a command of their own.
        agent = CommandAgent(Setup(name=name, command=line))
    tag = strftime("%Y%m%d-%H%M%S", localtime())
    executor = Processes(SystemClock())
    try:
        yield Conversation(
            agent=agent,
            executor=executor,
            env=with_ralph(session_variables(project, agent), project.tools),
            root=project.root,
            files=os.path.join(project.runs_dir, f"talk-{tag}-{os.getpid()}"),
            # Strategies look at attempts, and a person makes none: it is what they have named, or
            # else what the agent itself would take.
            model=name_for(models.model, models.tiers.get(name, {}), agent.traits.models),
            as_root=os.geteuid() == 0,
            hook=hook_command(),
            programs=agents_programs(ground_of(project), (agent,))[0],
        )
    finally:
        executor.close()
