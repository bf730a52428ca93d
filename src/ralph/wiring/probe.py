"""What it takes to try an agent out."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from ralph.config.load import Loaded
from ralph.wiring.agents import find_agent, session_variables
from ralph.wiring.project import Project
from ralph.wiring.settings import preferences

if TYPE_CHECKING:
    from ralph.adapters.executor.processes import Processes
    from ralph.core.models import Preferences
    from ralph.ports.agent import Agent
    from ralph.ports.sandbox import Wall
    from ralph.workflows.probe import Probe


@contextmanager
def a_probe(project: Project, agent: "Agent", warn: "Callable[[str], object]") -> "Iterator[Probe]":
    """What a probe of an agent needs, in a folder that is gone afterwards."""
    from tempfile import TemporaryDirectory

    from ralph.adapters.agents.homes import SessionHomes
    from ralph.adapters.executor.clock import SystemClock
    from ralph.adapters.executor.processes import Processes
    from ralph.adapters.executor.signals import Signals
    from ralph.wiring.programs import outside
    from ralph.wiring.walls import ground_of
    from ralph.workflows.probe import Probe

    clock = SystemClock()
    executor = Processes(clock)
    with TemporaryDirectory(prefix="ralph-probe-") as folder, Signals(executor) as signals:
        checkout = os.path.join(folder, "checkout")
        os.mkdir(checkout)
        try:
            yield Probe(
                executor=executor,
                clock=clock,
                homes=SessionHomes(os.path.join(folder, "homes"), os.environ),
                env=session_variables(project, agent),
                folder=checkout,
                as_root=os.geteuid() == 0,
                models=_probed_on(project, agent.traits.name),
                interrupted=lambda: signals.interrupted,
                walls=lambda: _wall_at(checkout, project, executor),
                warn=warn,
                git=outside(ground_of(project), executor),
            )
        finally:
            executor.close()


@contextmanager
def _wall_at(folder: str, project: Project, executor: "Processes") -> "Iterator[Wall]":
    """As a project's sessions have it, around another folder."""
    from ralph.adapters.sandbox.wall import NoWall
    from ralph.wiring.walls import Ground, a_sandbox, wall_of

    config = project.loaded.config
    if config.sandbox.mode == "off":
        yield NoWall()
        return
    loaded = Loaded(root=folder, config=config, sources={})
    ground = Ground(loaded=loaded, database=os.path.join(folder, ".db"), environ=os.environ)
    with wall_of(ground, *a_sandbox(ground, executor)) as wall:
        yield wall


def _probed_on(project: Project, agent: str) -> "Preferences":
    from ralph.core.errors import RalphError

    models = preferences(project)
    try:
        is_chosen = find_agent(project).traits.name == agent
    except RalphError:
        is_chosen = False
    # The name of a model is meant for the agent that does the work here, and no other knows it.
    return models if is_chosen else msgspec.structs.replace(models, model="")
