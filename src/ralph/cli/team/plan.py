"""Plan a goal for a team: from a sentence to code tasks in the graph.

Sessions write what the work is modelled on, a design, and a file for each task, all below
`.ralph/specs/GOAL/`. Ralph adds `.ralph/agents.md`, gates that follow from the project's stack
(where none are set) and a runbook. Called again, it goes on where it stopped, by what is on disk.
Before anything can run, a person approves the plan.
"""

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ralph.wiring.project import Project
    from ralph.workflows.goal import Goal, Step

EXAMPLES = """\
ralph team plan "search in the shop"         with you, as far as you like
ralph team plan "search in the shop" --yes   all of it, unattended
ralph team plan search-in-the-shop           go on where it stopped
ralph team plan search-in-the-shop --redo design"""

STEPS = ("referents", "design", "tasks")
PAUSED = 6


def arguments(parser: ArgumentParser) -> None:
    from ralph.cli.parser import one_of
    from ralph.cli.with_a_person import add_agent

    parser.add_argument("goal", metavar="GOAL", help="what you want, or the name of a goal")
    parser.add_argument(
        "--autonomous", action="store_true", help="ask nobody until all of it is written"
    )
    parser.add_argument("-y", "--yes", action="store_true", help="approve the plan, whatever it is")
    parser.add_argument(
        "--redo",
        metavar="STEP",
        type=one_of(STEPS),
        choices=STEPS,
        help="make one step better: referents, design or tasks",
    )
    add_agent(parser)
    parser.add_argument("--no-sandbox", action="store_true", help="run without a wall, knowingly")
    parser.add_argument("--no-commit", action="store_true", help="leave the plan uncommitted")
    parser.add_argument("--json", action="store_true", help="print events as JSON lines")


def run(args: Namespace) -> int:
    """The exit code of the step that it ends with."""
    from ralph.cli.opening import the_project
    from ralph.cli.with_a_person import flags

    wanted = flags(args) | ({"git.commit": "none"} if args.no_commit else {})
    project = the_project(wanted | {"execution.limit": 0, "workers.count": 1})
    goal = the_goal(project, args.goal)
    code = plan_goal(project, goal, args)
    if code == 0 and not args.json:
        print(f"goal: {goal.name}, {len(goal.placed())} code tasks in {goal.files.implementation}")
        print(f"next: ralph team run {goal.name}")
    return code


def the_goal(project: "Project", said: str) -> "Goal":
    """Known or new."""
    from ralph.wiring.project import open_library
    from ralph.workflows.goal import find_goal

    return find_goal(open_library(project), said)


def plan_goal(project: "Project", goal: "Goal", args: Namespace) -> int:
    """Step by step, from where it stands; what was asked for is written down first."""
    from ralph.cli.opening import the_store
    from ralph.workflows.goal import WRITTEN, Step, require_own_name

    with the_store(project) as store:
        require_own_name(store, goal)
    goal.write_request(args.goal)
    redo = Step(args.redo) if getattr(args, "redo", None) else None
    if redo is not None:
        goal.reopen()
    elif goal.is_approved:
        # What is wrong with these tasks now is a person's edit, and theirs to mend: no session is
        # paid to write an approved plan anew.
        goal.placed()
    for step in WRITTEN:
        is_due = step is redo or goal.lacks(step) or _is_unfinished(project, goal, step)
        if is_due and (code := _write(project, goal, step, args)):
            return code
    if redo is None and goal.step() is Step.READY:
        _compile(project, goal)
        return 0
    return _review(project, goal, args)


def _is_unfinished(project: "Project", goal: "Goal", step: "Step") -> bool:
    from ralph.cli.opening import the_store
    from ralph.workflows.goal import is_unfinished

    if goal.is_approved:
        return False
    with the_store(project) as store:
        return is_unfinished(store, goal, step)


def _write(project: "Project", goal: "Goal", step: "Step", args: Namespace) -> int:
    """By a session alone; the design together with the person, if one is there."""
    from ralph.cli.with_a_person import has_terminal
    from ralph.workflows.goal import Step

    is_alone = args.autonomous or args.yes or args.json or not has_terminal()
    if step is Step.DESIGN and not is_alone:
        return _talk(project, goal)
    return _send(project, goal, step, args)


def _talk(project: "Project", goal: "Goal") -> int:
    from ralph.cli.opening import the_store
    from ralph.cli.with_a_person import hold
    from ralph.core.errors import RalphError
    from ralph.workflows.context import context_of
    from ralph.workflows.goal import Step, finish

    with the_store(project) as store:
        context = context_of(project.loaded, store, goal.library)
    hold(project, goal.talk(context))
    if wrong := goal.lacks(Step.DESIGN):
        raise RalphError(f"no design was written: {wrong}", hint=f"ralph team plan {goal.name}")
    with the_store(project) as store:
        finish(store, goal, Step.DESIGN)
    return 0


def _send(project: "Project", goal: "Goal", step: "Step", args: Namespace) -> int:
    from ralph.cli.pipeline import color_of
    from ralph.ports.store import Store
    from ralph.wiring.run import assemble
    from ralph.workflows.errand import as_task
    from ralph.workflows.goal import plan_step

    def prepare(store: Store) -> str:
        retries = project.loaded.config.execution.max_retries
        return as_task(store, goal.errand(step), retries).id

    color, again = color_of(project, args), goal.errand(step).command
    with assemble(project, prepare, sys.stdout, json=args.json, color=color, again=again) as kit:
        return plan_step(kit, goal, step).exit_code


def _review(project: "Project", goal: "Goal", args: Namespace) -> int:
    """A person says whether it is to be so."""
    from ralph.cli.with_a_person import has_terminal
    from ralph.workflows.goal import Step

    while not args.yes:
        if args.autonomous or not has_terminal():
            if not args.json:
                print(f"the plan of {goal.name} is written and waits for approval:")
                print(f"  {goal.files.design}\n  {goal.files.plan}")
                print(f"next: look at it, then ralph team plan {goal.name} --yes")
            return PAUSED
        print(
            f"{goal.name}: approve, look, redo STEP, or leave? [a/l/r STEP/q] ", end="", flush=True
        )
        words = sys.stdin.readline().split() or ["q"]
        if words[0] in ("a", "approve", "y", "yes"):
            break
        if words[0] in ("l", "look"):
            _look(goal)
        elif words[0] in ("r", "redo") and words[-1] in STEPS:
            if code := _write(project, goal, Step(words[-1]), args):
                return code
        elif words[0] in ("q", "quit", "leave"):
            return PAUSED
        else:
            print(f"steps: {', '.join(STEPS)}")
    _approve(project, goal)
    _compile(project, goal)
    return 0


def _look(goal: "Goal") -> None:
    from ralph.core.safe_text import one_line

    for one in goal.placed():
        after = ", ".join((*one.needs, *one.after)) or "at once"
        print(f"  {one.task.name:<20} {one_line(one.task.title, 60)}  ({after})")
    print(f"  {goal.files.design}\n  {goal.files.plan}")


def _approve(project: "Project", goal: "Goal") -> None:
    """What Ralph writes itself, committed with the rest of the plan."""
    import io

    from ralph.wiring.run import assemble

    known = {name: line for name, line in project.loaded.config.gates.commands.items() if line}
    with assemble(project, None, io.StringIO(), json=True, color="never") as kit:
        before = kit.take_snapshot()
        gates = goal.write_gates(known)
        goal.write_guide(gates)
        goal.write_runbook(gates)
        if kit.settings.commit == "none":
            return
        kit.snapshot = None
        own = frozenset(kit.workspace.prefix + path for path in goal.own)
        kit.workspace.commit(
            before, kit.take_snapshot(), f"Plan {goal.name}\n", frozenset(before.dirty) - own, own
        )


def _compile(project: "Project", goal: "Goal") -> None:
    from ralph.adapters.executor.clock import SystemClock
    from ralph.cli.opening import the_store, warn
    from ralph.workflows.goal import code_tasks_of

    retries = project.loaded.config.execution.max_retries
    with the_store(project) as store:
        for line in code_tasks_of(goal, store, SystemClock(), retries, writes=False).follow():
            warn(line)
