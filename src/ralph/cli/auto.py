"""From an idea to validated commits: prd, plan, build and validate in a row.

It stops after planning for you to look at the plan, unless `--yes` says that nobody has to. Called
again, it goes on with the phase where it stopped; what validation opens again is built once more.
"""

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.pipeline import add_prd
from ralph.cli.run import add_run_flags

if TYPE_CHECKING:
    from ralph.wiring.project import Project
    from ralph.workflows.phases import Journey
    from ralph.workflows.pipeline import Pipeline

EXAMPLES = """\
ralph auto "a shop that sells tea" --yes   all of it, unattended
ralph auto "a shop that sells tea"         stops for you to look at the plan
ralph auto                                 go on where it stopped
ralph auto --from build                    go on with building"""

ROUNDS = 3
"""How often stories are built that validation has opened again."""
PHASES = ("discovery", "planning", "building", "validation", "prd", "plan", "build", "validate")
PAUSED = 6


def arguments(parser: ArgumentParser) -> None:
    from ralph.cli.parser import at_least_one, one_of

    parser.add_argument("request", metavar="IDEA", nargs="?", help="what you want; - is stdin")
    parser.add_argument("--file", metavar="FILE", help="the same from a file")
    parser.add_argument(
        "-y", "--yes", action="store_true", help="do not wait for anybody to look at the plan"
    )
    parser.add_argument(
        "--from",
        dest="start",
        metavar="PHASE",
        type=one_of(PHASES),
        choices=PHASES,
        help="begin with prd, plan, build or validate",
    )
    parser.add_argument(
        "--plans", metavar="N", type=at_least_one, default=1, help="iterations of planning"
    )
    add_prd(parser)
    add_run_flags(parser)
    parser.set_defaults(edit=False, iterations=None)


def run(args: Namespace) -> int:
    """The exit code of the phase that it ends with."""
    from ralph.cli.build import limited
    from ralph.cli.opening import the_store
    from ralph.cli.pipeline import the_pipeline
    from ralph.cli.run import flags
    from ralph.core.errors import Busy, Missing, UsageError
    from ralph.core.policy.decision import Phase
    from ralph.wiring.project import find_project
    from ralph.workflows.phases import COMMANDS, Journey, give_way, journey_of, remember, set_out

    if args.dry_run:
        raise UsageError("--dry-run is for `ralph build`", hint="ralph build --dry-run")
    building, project = limited(args), find_project(flags(args) | {"execution.limit": 0})
    pipeline = the_pipeline(project, args)
    start = COMMANDS.get(args.start) or (Phase(args.start) if args.start else None)
    idea = _idea(args)
    with the_store(project) as store:
        before = journey_of(store, pipeline)
        journey = set_out(before, idea, start, has_open=_is_to_be_built(project, pipeline))
        if journey == Journey():
            raise Missing(
                "nobody can be asked what is wanted",
                hint='ralph auto "what you want"; with a PRD of your own: ralph auto --from plan',
            )
        remember(store, pipeline, journey)
    try:
        return _travel(project, building, pipeline, args, journey)
    except Busy:
        with the_store(project) as store:
            give_way(store, pipeline, journey, before)
        raise


def _is_to_be_built(project: "Project", pipeline: "Pipeline") -> bool:
    """Is a story of the document not ticked?"""
    from ralph.wiring.project import open_library
    from ralph.workflows.pipeline import prd_of

    return any(not story.is_ticked for story in prd_of(open_library(project), pipeline).stories)


def _idea(args: Namespace) -> str:
    """What is wanted, if it is said."""
    import os

    from ralph.cli.asking import the_request

    if args.request is None and args.file is None:
        said = os.environ.get("PRD_INLINE") or os.environ.get("PRD_REQUEST_PATH")
        return the_request(args, os.environ) if said else ""
    return the_request(args, os.environ)


def _travel(
    project: "Project",
    building: "Project",
    pipeline: "Pipeline",
    args: Namespace,
    journey: "Journey",
) -> int:
    """Phase by phase, until one of them does not end well."""
    from msgspec.structs import replace

    from ralph.cli.opening import the_store
    from ralph.core.policy.decision import Phase
    from ralph.workflows.phases import NEXT, remember

    rounds = 0
    while journey.phase is not None:
        is_build = journey.phase is Phase.BUILDING
        if is_build and not (journey.approved or args.yes or _is_approved(pipeline, args)):
            return _wait_for_approval(pipeline)
        code = _do(building if is_build else project, pipeline, args, journey)
        following, rounds = NEXT[journey.phase], rounds + is_build
        if journey.phase is Phase.VALIDATION and code == 1 and _has_open(project, pipeline):
            # What it has opened again is built again. Where only a gate is red, or nobody came to a
            # verdict, there is nothing to build.
            following, code = Phase.BUILDING, 0 if rounds < ROUNDS else 1
        elif code != 0:
            return code
        approved = journey.approved or is_build
        with the_store(project) as store:
            wanted = replace(journey, phase=following, approved=approved)
            journey = remember(store, pipeline, wanted)
        if code != 0:
            return code
        if is_build and pipeline.no_commit:
            return _wait_for_a_commit(pipeline)
    if not args.json:
        print("everything is built and validated")
    return 0


def _has_open(project: "Project", pipeline: "Pipeline") -> bool:
    from ralph.cli.opening import the_store
    from ralph.core.target import OneFeature

    with the_store(project) as store:
        feature = store.add_feature(pipeline.feature)
        return store.has_open(OneFeature(feature.id, feature.name))


def _do(project: "Project", pipeline: "Pipeline", args: Namespace, journey: "Journey") -> int:
    from ralph.cli.build import build_stories
    from ralph.cli.plan import plan_stories
    from ralph.cli.prd import write_prd
    from ralph.cli.validate import validate_stories
    from ralph.core.policy.decision import Phase

    match journey.phase:
        case Phase.DISCOVERY:
            return write_prd(project, pipeline, args, journey.idea, "auto")
        case Phase.PLANNING:
            return plan_stories(project, pipeline, args, args.plans, "auto")
        case Phase.BUILDING:
            return build_stories(project, pipeline, args, "auto")
        case Phase.VALIDATION:
            return validate_stories(project, pipeline, args, events=args.json, command="auto")
        case None:
            return 0


def _is_approved(pipeline: "Pipeline", args: Namespace) -> bool:
    """Ask whoever sits at the terminal."""
    from ralph.cli.with_a_person import has_terminal

    if args.json or not has_terminal():
        return False
    print(f"The plan is {pipeline.plan}. Build it? [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _wait_for_a_commit(pipeline: "Pipeline") -> int:
    """Validation sees nothing but commits: it would open all that was built."""
    print("ralph: the stories are built, and not committed", file=sys.stderr)
    again = pipeline.command("auto")
    print(f"hint: commit them; then {again}   validates the newest commit", file=sys.stderr)
    return PAUSED


def _wait_for_approval(pipeline: "Pipeline") -> int:
    print(f"ralph: {pipeline.plan} waits for your approval", file=sys.stderr)
    again = f"{pipeline.command('auto')} --from build"
    print(f"hint: {again}   goes on; edit PRD and plan before", file=sys.stderr)
    return PAUSED
