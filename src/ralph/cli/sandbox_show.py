"""Show what sessions may write, read, start and reach, and why."""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.doors import add_doors, door_flags
from ralph.cli.parser import add_json

if TYPE_CHECKING:
    from ralph.adapters.sandbox.describing import Described
    from ralph.cli.screen import Screen

EXAMPLES = """
ralph sandbox show
ralph sandbox show --allow aws
ralph sandbox show --json
"""


def arguments(parser: ArgumentParser) -> None:
    add_doors(parser)
    add_json(parser, "print an object with sandbox, gaps, places, programs, network and variables")


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project
    from ralph.cli.screen import Screen
    from ralph.wiring.walls import described, ground_of

    project = the_project(door_flags(args))
    seen = described(ground_of(project))
    if args.json:
        from ralph.cli.as_json import show

        show(seen)
        return 0
    _print(seen, Screen(args, project))
    return 0


HEADINGS = {"write": "can be written", "read": "can be read", "hide": "hidden"}


def _print(seen: "Described", screen: "Screen") -> None:
    from ralph.core.safe_text import one_line

    print(f"{screen.bold('sandbox')}  {seen.sandbox or 'none'}")
    for line in filter(None, (seen.note, *(f"does not stop: {gap}" for gap in seen.gaps))):
        print(f"         {one_line(line)}")
    print(f"{screen.bold('network')}  {seen.network}", *seen.domains)
    what = "what is not listed here does not exist inside; [sandbox] read shows more"
    print(f"{screen.bold('files')}    {what}")
    for access, heading in HEADINGS.items():
        print(f"\n{screen.bold(heading)}")
        for place in seen.places:
            if place.access == access:
                absent = "" if place.exists else " (not there)"
                print(f"  {one_line(place.path)}{screen.dim(f'{absent}  {place.why}')}")
    print(f"\n{screen.bold('blocked')}")
    for program in seen.programs:
        for file in program.files:
            print(f"  {one_line(file)}{screen.dim(f'  --allow {program.rule}')}")
        for file in program.shared:
            said = f"  {program.name} is not blocked: this file does other things, too"
            print(f"  {one_line(file)}{screen.dim(said)}")
    for socket in seen.sockets:
        print(f"  {one_line(socket)}{screen.dim('  somebody else listens there')}")
    print(f"\n{screen.bold('variables')}")
    for name in seen.dropped:
        print(f"  {one_line(name)}{screen.dim('  not passed on')}")
    for name, value in seen.variables.items():
        print(f"  {name}={one_line(value)}")
