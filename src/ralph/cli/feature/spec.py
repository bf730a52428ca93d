"""Write the specification of a feature, in a conversation with an agent.

The agent takes over the terminal, asks, and writes `.ralph/features/FEATURE/spec.md`; where there
is one already, it goes on from it. With `--yes`, or without a terminal, a session writes it alone
from what `--request`, `--file` or standard input says.
"""

from argparse import ArgumentParser, Namespace

from ralph.cli.feature.options import add_alone, add_name, add_request

EXAMPLES = """
ralph feature spec login
ralph feature spec login --agent claude --model opus
ralph feature spec login --yes --request "sign in with a link that is sent by mail"
ralph feature spec login --yes --file idea.md
"""


def arguments(parser: ArgumentParser) -> None:
    add_name(parser)
    add_request(parser)
    add_alone(parser)


def run(args: Namespace) -> int:
    from ralph.cli.feature.options import request_of
    from ralph.cli.feature.steps import tell_next, write_spec
    from ralph.cli.opening import the_project
    from ralph.cli.with_a_person import flags

    project = the_project(flags(args))
    code = write_spec(project, args, request_of(args))
    if code == 0:
        tell_next(project, args.name)
    return code
