"""Plan how a feature is built, in a conversation with an agent.

It needs the spec. The agent takes over the terminal and writes `.ralph/features/FEATURE/plan.md`;
where there is one already, it goes on from it. With `--yes`, or without a terminal, a session
writes it alone.
"""

from argparse import ArgumentParser, Namespace

from ralph.cli.feature.options import add_alone, add_name, add_request

EXAMPLES = """
ralph feature plan login
ralph feature plan login --yes
ralph feature plan login --yes --request "start with the mail queue"
"""


def arguments(parser: ArgumentParser) -> None:
    add_name(parser)
    add_request(parser)
    add_alone(parser)


def run(args: Namespace) -> int:
    from ralph.cli.feature.options import request_of
    from ralph.cli.feature.steps import tell_next, write_plan
    from ralph.cli.opening import the_project
    from ralph.cli.with_a_person import flags

    project = the_project(flags(args))
    code = write_plan(project, args, request_of(args))
    if code == 0:
        tell_next(project, args.name)
    return code
