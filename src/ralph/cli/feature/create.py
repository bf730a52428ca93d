"""Take a feature from an idea to its tasks: spec, plan and build in a row.

A step whose result is there already is left out, so that it goes on where it stopped. With `--yes`,
or without a terminal, all three are done by sessions alone.
"""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.feature.options import add_alone, add_name, add_request

if TYPE_CHECKING:
    from ralph.core.task import Feature
    from ralph.wiring.project import Project

EXAMPLES = """
ralph feature create login
ralph feature create login --yes --request "sign in with a link that is sent by mail"
ralph feature create login --yes --file idea.md
"""


def arguments(parser: ArgumentParser) -> None:
    add_name(parser)
    add_request(parser)
    add_alone(parser)


def run(args: Namespace) -> int:
    from ralph.cli.feature.options import request_of
    from ralph.cli.feature.steps import build, tell_next, write_plan, write_spec
    from ralph.cli.opening import the_project
    from ralph.cli.with_a_person import flags

    project = the_project(flags(args))
    request = request_of(args)
    if _state(project, args.name).spec_path is None:
        code = write_spec(project, args, request)
        if code != 0:
            return code
    if _state(project, args.name).plan_path is None:
        # The spec says it now; saying it twice would only weigh more.
        code = write_plan(project, args, "")
        if code != 0:
            return code
    code = build(project, args)
    if code == 0:
        print()
        tell_next(project, args.name)
    return code


def _state(project: "Project", name: str) -> "Feature":
    from ralph.cli.opening import the_store
    from ralph.workflows.feature import Features

    with the_store(project) as store:
        return Features(store=store, root=project.root).open(name)
