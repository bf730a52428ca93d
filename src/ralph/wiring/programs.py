"""Programs that Ralph starts by name: from where no session can have put them."""

from collections.abc import Sequence
from shutil import which

from ralph.adapters.sandbox.searching import Outside
from ralph.core.errors import RalphError
from ralph.ports.agent import Agent
from ralph.ports.executor import Captures
from ralph.wiring.walls import Ground


def search_path(ground: Ground) -> str:
    """Where to look for programs that run without a wall: not where sessions write, if there is a
    wall around them."""
    if ground.loaded.config.sandbox.mode == "off":
        return ground.path
    try:
        return ground.search
    except RalphError:
        # No checkout, no sessions.
        return ground.path


def outside(ground: Ground, executor: Captures) -> Captures:
    """For short commands of our own that run without a wall."""
    return Outside(executor, search_path(ground))


def agents_programs(
    ground: Ground, agents: Sequence[Agent]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Where sessions cannot put another one that says that all is well; a line about each that is
    nowhere else."""
    if ground.loaded.config.sandbox.mode == "off":
        return {}, ()
    path = search_path(ground)
    found = {
        name: which(name, path=path) for name in (one.traits.program for one in agents) if name
    }
    programs = {name: where for name, where in found.items() if where is not None}
    return programs, tuple(
        f"{name} is where sessions can change it ({which(name)}); install it elsewhere"
        for name in found
        if name not in programs
    )
