"""Run the loop until every task is settled."""

import sys
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from typing import TYPE_CHECKING

from ralph.cli.doors import add_doors, add_no_sandbox, door_flags
from ralph.cli.opening import the_project
from ralph.cli.parser import one_of

if TYPE_CHECKING:
    from ralph.wiring.project import Project

EXAMPLES = """\
ralph run                     everything that is open
ralph run t-1a2b3c            one task and all below it
ralph run login               the tasks of the feature `login`
ralph run --once              a single iteration
ralph run --workers 4         four at a time, each in a checkout of its own
ralph run --model opus        always this model
ralph run --allow docker      with one door in the wall
ralph run --dry-run           what would be done, and with what
ralph run --json | jq .event  events as JSON lines"""

STRATEGIES = ("fixed", "cost-optimized", "escalate", "plan-then-execute")


def arguments(parser: ArgumentParser) -> None:
    """Flags win over the environment, which wins over `.ralph.toml`."""
    parser.add_argument("target", nargs="?", help="a feature's name, a task's id or alias")
    add_run_flags(parser)


def add_run_flags(parser: ArgumentParser) -> None:
    """What every command takes that runs the loop."""
    how_many = parser.add_mutually_exclusive_group()
    how_many.add_argument("--once", action="store_true", help="stop after one iteration")
    how_many.add_argument("--limit", type=int, metavar="N", help="stop after N iterations")
    parser.add_argument(
        "--workers", type=int, metavar="N", help="how many sessions work at the same time"
    )
    parser.add_argument("--agent", metavar="NAME", help="which agent does the work")
    parser.add_argument(
        "--model", metavar="MODEL", help="always this one: haiku, sonnet, opus or any name"
    )
    parser.add_argument(
        "--model-strategy",
        metavar="STRATEGY",
        type=one_of(STRATEGIES),
        choices=STRATEGIES,
        help="fixed, cost-optimized, escalate or plan-then-execute",
    )
    parser.add_argument("--max-retries", type=int, metavar="N", help="retries of each task")
    parser.add_argument("--no-verify", action="store_true", help="let no second session check it")
    add_review(parser)
    parser.add_argument(
        "--no-learn", action="store_true", help="do not ask sessions to write down what they learn"
    )
    parser.add_argument(
        "--branch", metavar="NAME", help="work on this branch; a new one if there is none"
    )
    parser.add_argument("--no-commit", action="store_true", help="leave the work uncommitted")
    add_no_sandbox(parser)
    add_doors(parser)
    parser.add_argument("--dry-run", action="store_true", help="show what would be done")
    parser.add_argument("--json", action="store_true", help="print events as JSON lines")


def add_review(parser: ArgumentParser) -> None:
    """Whether a reviewer reads every change, whatever is set."""
    parser.add_argument(
        "--review",
        action=BooleanOptionalAction,
        default=None,
        help="let a reviewer read every change, or nobody",
    )


def run(args: Namespace) -> int:
    """One run; its outcome is the exit code."""
    project = the_project(flags(args))
    color = args.color or project.loaded.config.ui.color
    if args.dry_run:
        from ralph.cli.dry_run import show

        return show(project, args)
    if project.loaded.config.workers.count > 1:
        return run_workers(args, project, color)
    from ralph.engine.loop import run as run_loop
    from ralph.wiring.run import assemble
    from ralph.workflows.chronicle import Summaries
    from ralph.workflows.minding import mind

    with assemble(
        project, args.target, sys.stdout, json=args.json, color=color, again=again(args)
    ) as kit:
        mind(kit, project.loaded.config.execution.max_retries)
        kit.chronicle = Summaries(kit.library, project.root, kit.clock)
        return run_loop(kit).exit_code


def run_workers(args: Namespace, project: "Project", color: str) -> int:
    """The same with several workers."""
    from ralph.engine.lead import run_team
    from ralph.wiring.seats import assemble_team
    from ralph.workflows.minding import mind

    config = project.loaded.config
    with assemble_team(
        project, args.target, sys.stdout, json=args.json, color=color, again=again(args)
    ) as team:
        mind(team.kit, config.execution.max_retries)
        return run_team(team.kit, team.trunk, team.staff, config.workers.count).exit_code


def again(args: Namespace) -> str:
    """The command that goes on with the same."""
    import shlex

    words = ["ralph", "run"]
    if args.target is not None:
        words.append(args.target)
    if args.workers is not None:
        words += ["--workers", str(args.workers)]
    return shlex.join(words)


def flags(args: Namespace) -> dict[str, object]:
    """What was given on the command line, as settings."""
    found: dict[str, object] = {}
    if args.once:
        found["execution.limit"] = 1
    if args.limit is not None:
        found["execution.limit"] = args.limit
    if args.workers is not None:
        found["workers.count"] = args.workers
    if args.agent is not None:
        found["agent.name"] = args.agent
    if args.model is not None:
        found["models.model"] = args.model
    if args.model_strategy is not None:
        found["models.strategy"] = args.model_strategy
    if args.max_retries is not None:
        found["execution.max_retries"] = args.max_retries
    if args.no_learn:
        found["execution.learn"] = False
    if args.branch is not None:
        found["git.branch"] = args.branch
    if args.no_commit:
        found["git.commit"] = "none"
    if args.no_sandbox:
        found["sandbox.mode"] = "off"
    return found | _look_flags(args) | door_flags(args)


def _look_flags(args: Namespace) -> dict[str, object]:
    """Who looks at the work."""
    found: dict[str, object] = {"execution.verify": False} if args.no_verify else {}
    return found if args.review is None else found | {"review.enabled": args.review}
