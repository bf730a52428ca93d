"""Run any command behind the wall that a session gets; its exit code is passed on.

With an agent: also with the agent's folder of configuration, as a session of it has.
"""

import os
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.doors import add_doors, door_flags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ralph.ports.executor import Command
    from ralph.wiring.walls import Enclosure

EXAMPLES = """
ralph sandbox run -- make test
ralph sandbox run --allow aws -- aws sts get-caller-identity
ralph sandbox run --agent claude -- claude --version
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="what to run, after --")
    parser.add_argument("--agent", metavar="NAME", help="as a session of this agent")
    add_doors(parser)


def run(args: Namespace) -> int:
    import shlex

    from msgspec.structs import replace

    from ralph.cli.opening import the_project
    from ralph.ports.executor import Command
    from ralph.wiring.agents import make_agent
    from ralph.wiring.walls import an_enclosure, ground_of

    project = the_project(door_flags(args))
    traits = make_agent(project, args.agent).traits if args.agent is not None else None
    ground = replace(ground_of(project), command=shlex.join(args.command))
    with an_enclosure(ground, traits) as enclosure:
        _warn(enclosure.wall.warnings)
        command = Command(argv=tuple(args.command), cwd=os.getcwd(), env=enclosure.env)
        code, has_started = _once(enclosure, command)
        if not has_started:
            # Something that the wall was to cover went away just then.
            code, _ = _once(enclosure, command)
    return code


def _once(enclosure: "Enclosure", command: "Command") -> tuple[int, bool]:
    with enclosure.wall.around(command, home=enclosure.home) as inside:
        code = enclosure.executor.hand_over(inside.command)
        has_started = inside.has_started
    _warn(inside.warnings)
    return code, has_started


def _warn(warnings: "Sequence[str]") -> None:
    from ralph.cli.opening import warn

    for warning in warnings:
        warn(warning)
