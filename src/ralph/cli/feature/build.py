"""Break a feature down into tasks.

It needs the spec and the plan. A session reads both and adds tasks, and what each has to wait for,
below a root task; nothing is built yet. The root is held back until all of them are there.
"""

from argparse import ArgumentParser, Namespace

from ralph.cli.feature.options import add_alone, add_name

EXAMPLES = """
ralph feature build login
ralph feature build login --model opus
"""


def arguments(parser: ArgumentParser) -> None:
    add_name(parser)
    add_alone(parser)


def run(args: Namespace) -> int:
    from ralph.cli.feature.steps import build, tell_next
    from ralph.cli.opening import the_project
    from ralph.cli.with_a_person import flags

    project = the_project(flags(args))
    code = build(project, args)
    if code == 0:
        print()
        tell_next(project, args.name)
    return code
