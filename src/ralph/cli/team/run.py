"""Let a team work on a goal: plan it where that is not done yet, then run its code tasks.

Several sessions work at the same time, each in a checkout of its own; their work is gated, read by
a reviewer (unless `--no-review`), and merged one after the other. A plan that nobody has approved
yet is not run, unless `--yes` says that it may.
"""

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.run import add_run_flags

if TYPE_CHECKING:
    from ralph.engine.kit import Kit
    from ralph.wiring.project import Project
    from ralph.workflows.goal import Goal

EXAMPLES = """\
ralph team run search-in-the-shop              three workers, or as many as the settings say
ralph team run search-in-the-shop --workers 5  five
ralph team run "search in the shop" --yes      from the sentence to commits, unattended"""

DEFAULTS = {"workers.count": 3, "review.enabled": True}
"""Of a team, unless settings or a flag say something else."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("goal", metavar="GOAL", help="what you want, or the name of a goal")
    parser.add_argument("-y", "--yes", action="store_true", help="run the plan, whatever it is")
    parser.add_argument(
        "--autonomous", action="store_true", help="ask nobody until all of it is written"
    )
    add_run_flags(parser)


def run(args: Namespace) -> int:
    """Of the planning where that stops; else of the run."""
    from ralph.cli.opening import the_project
    from ralph.cli.run import flags
    from ralph.cli.team.plan import plan_goal, the_goal

    wanted = flags(args)
    project = the_project(wanted)
    for key, value in DEFAULTS.items():
        if project.loaded.source(key).kind == "default":
            wanted[key] = value
    goal = the_goal(project, args.goal)
    _refuse_slips(goal, args)
    if args.dry_run:
        return _preview(goal)
    if code := plan_goal(_alone(wanted), goal, args):
        return code
    # Planning may have set gates.
    return run_goal(the_project(wanted), goal, args)


def _refuse_slips(goal: "Goal", args: Namespace) -> None:
    """Whoever gives a name, and no sentence, means a goal that is there: no session is paid to plan
    a slip of the pen."""
    from difflib import get_close_matches

    from ralph.core.errors import Missing

    if args.goal.strip() != goal.name or goal.is_begun:
        return
    near = get_close_matches(goal.name, goal.others())
    if near or not args.yes:
        hint = f"did you mean {near[0]}?" if near else f"ralph team plan {goal.name}"
        raise Missing(f"there is no goal {goal.name}", hint=hint)


def _alone(wanted: dict[str, object]) -> "Project":
    from ralph.wiring.project import find_project

    return find_project(wanted | {"execution.limit": 0, "workers.count": 1})


def _preview(goal: "Goal") -> int:
    from ralph.core.safe_text import one_line

    print(f"{goal.name}: {goal.step().value}")
    for one in goal.placed():
        after = ", ".join((*one.needs, *one.after)) or "at once"
        print(f"  {one.task.name:<20} {one_line(one.task.title, 60)}  ({after})")
    return 0


def run_goal(project: "Project", goal: "Goal", args: Namespace) -> int:
    """With one worker in place, with several each in a checkout of their own."""
    from ralph.cli.opening import the_store
    from ralph.cli.pipeline import color_of
    from ralph.engine.lead import run_team
    from ralph.engine.loop import run as run_loop
    from ralph.wiring.run import assemble
    from ralph.wiring.seats import assemble_team
    from ralph.workflows.goal import code_tasks_of, feature_of
    from ralph.workflows.minding import Minded, documents, goals

    config = project.loaded.config
    color, retries = color_of(project, args), config.execution.max_retries
    with the_store(project) as store:
        feature = feature_of(goal, store)

    def document(kit: "Kit") -> Minded:
        own = code_tasks_of(goal, kit.store, kit.clock, retries)
        return Minded((own, *documents(kit, retries), *goals(kit, retries, but=goal.name)))

    out, again = sys.stdout, f"ralph team run {goal.name}"
    if config.workers.count == 1:
        with assemble(project, feature.id, out, json=args.json, color=color, again=again) as kit:
            kit.document = document(kit)
            return run_loop(kit).exit_code
    with assemble_team(project, feature.id, out, json=args.json, color=color, again=again) as team:
        team.kit.document = document(team.kit)
        return run_team(team.kit, team.trunk, team.staff, config.workers.count).exit_code
