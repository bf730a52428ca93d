"""Commands that plan a goal for a team, and run the team on it."""

import io
from argparse import Namespace

from msgspec.structs import replace

from ralph.cli.command import command, flag, option
from ralph.cli.options import EVENTS, RUN_OPTIONS, SESSION, no_commit, settings_of
from ralph.cli.project_access import open_project, open_run, planning_target, warn
from ralph.cli.prompts import has_terminal, nothing_written, run_interactive, says_yes
from ralph.cli.run import run_target
from ralph.cli.run_preview import show_plan
from ralph.config.sources import nearest
from ralph.core.errors import Missing
from ralph.core.safe_text import one_line
from ralph.engine.run_context import RunContext
from ralph.ui.formatting import count_text
from ralph.wiring import run_assembly
from ralph.wiring.gate_runner import program_finder
from ralph.wiring.processes import system_clock
from ralph.wiring.project import (
    Project,
    find_project,
    guardrails_of,
    open_project_files,
    open_store,
)
from ralph.wiring.screen import RunOutput
from ralph.workflows.goal import (
    WRITTEN,
    Goal,
    GoalStep,
    code_tasks_of,
    feature_of,
    find_goal,
    finish,
    is_unfinished,
    plan_step,
    require_own_name,
)
from ralph.workflows.synced_documents import CompositeDocument, goal_code_tasks, prd_documents

STEPS = ("referents", "design", "tasks")
PAUSED = 6
GOAL = option("goal", "GOAL", "what you want, or the name of a goal")
AUTONOMOUS = flag("--autonomous", "do not ask until all of it is written")
DEFAULTS = {"workers.count": 3, "review.enabled": True}
"""Of a team, unless settings or a flag say something else."""


@command(
    GOAL,
    AUTONOMOUS,
    flag("-y", "--yes", "approve the plan, whatever it is"),
    option("--redo", "STEP", "make one step better: referents, design or tasks", choices=STEPS),
    *SESSION,
    no_commit("the plan"),
    EVENTS,
)
def plan(args: Namespace) -> int:
    """Plan a goal for a team: from a sentence to code tasks in the graph.

    Sessions write what the work is modelled on, a design, and a file for each task, all below
    `.ralph/specs/GOAL/`. Ralph adds `.ralph/agents.md`, gates that follow from the project's stack
    (where none are set) and a runbook. Called again, it continues with the first step whose
    document is missing. The plan runs only after you have approved it.

    examples:
      ralph team plan "search in the shop"         with you, as far as you like
      ralph team plan "search in the shop" --yes   all of it, unattended
      ralph team plan search-in-the-shop           go on where it stopped
      ralph team plan search-in-the-shop --redo design
    """
    project = open_project(settings_of(args) | {"execution.limit": 0, "workers.count": 1})
    goal = goal_of(project, args.goal)
    code = plan_goal(project, goal, args, args.redo)
    if code == 0 and not args.json:
        tasks = f"{len(goal.task_paths)} code tasks in {goal.files.implementation}"
        print(f"goal: {goal.name}, {tasks}")
        print(f"next: ralph team run {goal.name}")
    return code


def goal_of(project: Project, text: str) -> Goal:
    return find_goal(open_project_files(project), text, guardrails_of(project))


def plan_goal(project: Project, goal: Goal, args: Namespace, redo: str | None = None) -> int:
    """Record the request, then run each planning step that is due."""
    with open_store(project) as store:
        require_own_name(store, goal)
    goal.write_request(args.goal)
    again = GoalStep(redo) if redo else None
    if again is not None:
        goal.reopen()
    for step in WRITTEN:
        is_due = step is again or bool(goal.missing_for(step))
        if not is_due and not goal.is_approved:
            with open_store(project) as store:
                is_due = is_unfinished(store, goal, step)
        if is_due and (code := _write(project, goal, step, args)):
            return code
    if again is None and goal.step() is GoalStep.READY:
        _add_tasks(project, goal)
        return 0
    return _ask_approval(project, goal, args)


def _write(project: Project, goal: Goal, step: GoalStep, args: Namespace) -> int:
    """Write one step, alone; the design together with the person, if there is one."""
    is_alone = args.autonomous or args.yes or args.json or not has_terminal()
    if step is GoalStep.DESIGN and not is_alone:
        return _write_design_together(project, goal)
    planned = goal.planning_task(step)
    target = planning_target(project, planned)
    with open_run(project, args, target, planned.command, is_step=True) as ctx:
        return plan_step(ctx, goal, step).exit_code


def _write_design_together(project: Project, goal: Goal) -> int:
    code = run_interactive(project, goal.interactive_design_prompt)
    if wrong := goal.missing_for(GoalStep.DESIGN):
        said = f"no design was written: {wrong}"
        raise nothing_written(code, said, f"ralph team plan {goal.name}")
    with open_store(project) as store:
        finish(store, goal, GoalStep.DESIGN)
    return 0


def _ask_approval(project: Project, goal: Goal, args: Namespace) -> int:
    tasks = _task_lines(goal)
    plan = f"plan     {count_text(len(tasks), 'code task')}: {goal.files.design}, {goal.files.plan}"
    show_plan(project, args, [plan, *tasks], len(tasks))
    if not args.yes:
        asks = not args.json and has_terminal()
        if not (asks and says_yes(f"approve the plan of {goal.name}? [Y/n] ", default=True)):
            if not args.json:
                print(f"the plan of {goal.name} is written and waits for approval")
                print(
                    f"next: ralph team plan {goal.name}; --yes approves, --redo STEP writes again"
                )
            return PAUSED
    _approve(project, goal)
    _add_tasks(project, goal)
    return 0


def _task_lines(goal: Goal) -> list[str]:
    return [
        f"  {one.name:<20} {one_line(one.title, 60)}  ({', '.join(one.needs) or 'at once'})"
        for one in goal.ordered_tasks()
    ]


def _approve(project: Project, goal: Goal) -> None:
    """Write the documents of Ralph's own, and commit them with the rest of the plan."""
    known = project.config.gates.commands
    with run_assembly.open_run(project, None, RunOutput(stream=io.StringIO(), json=True)) as ctx:
        before = ctx.checkout.snapshot()
        gates = goal.write_gates(known, program_finder(project.root, ctx.env.get("PATH")))
        goal.write_guide(gates)
        goal.write_runbook(gates)
        if ctx.settings.config.git.commit == "none":
            return
        ctx.checkout.changed()
        own = frozenset(ctx.workspace.prefix + path for path in goal.own_files)
        ctx.workspace.commit(
            before,
            ctx.checkout.snapshot(),
            f"Plan {goal.name}\n",
            frozenset(before.dirty) - own,
            own,
        )


def _add_tasks(project: Project, goal: Goal) -> None:
    retries = project.config.execution.max_retries
    with open_store(project) as store:
        for line in code_tasks_of(goal, store, system_clock(), retries, writes=False).sync():
            warn(line)


@command(GOAL, flag("-y", "--yes", "run the plan, whatever it is"), AUTONOMOUS, *RUN_OPTIONS)
def run(args: Namespace) -> int:
    """Run a team on a goal: plan the goal if needed, then work on its code tasks.

    Several sessions work at the same time, each in a checkout of its own; their work is gated, read
    by a reviewer (unless `--no-review`), and merged one after the other. A plan that you have not
    approved runs only with `--yes`.

    examples:
      ralph team run search-in-the-shop              three workers, or as many as the settings say
      ralph team run search-in-the-shop --workers 5  five
      ralph team run "search in the shop" --yes      from the sentence to commits, unattended
    """
    wanted = settings_of(args)
    project = open_project(wanted)
    for key, value in DEFAULTS.items():
        if project.source(key).kind == "default":
            wanted[key] = value
    goal = goal_of(project, args.goal)
    _refuse_unknown_name(goal, args)
    if args.dry_run:
        print(f"{goal.name}: {goal.step().value}")
        print(*_task_lines(goal), sep="\n")
        return 0
    planning = find_project(wanted | {"execution.limit": 0, "workers.count": 1})
    if code := plan_goal(planning, goal, args):
        return code
    # Planning may have set gates.
    return _run_goal(open_project(wanted), goal, args)


def _refuse_unknown_name(goal: Goal, args: Namespace) -> None:
    """Refuse a name without a goal, so that no session plans a typo."""
    if args.goal.strip() != goal.name or goal.is_begun:
        return
    near = nearest(goal.name, goal.others()).removeprefix("; ")
    if near or not args.yes:
        raise Missing(f"there is no goal {goal.name}", hint=near or f"ralph team plan {goal.name}")


def _run_goal(project: Project, goal: Goal, args: Namespace) -> int:
    """Run with one worker in place, or several in their own checkouts."""
    retries = project.config.execution.max_retries
    with open_store(project) as store:
        feature = feature_of(goal, store)

    def with_documents(ctx: RunContext) -> RunContext:
        own = code_tasks_of(goal, ctx.store, ctx.clock, retries)
        others = goal_code_tasks(ctx, retries, but=goal.name)
        document = CompositeDocument((own, *prd_documents(ctx, retries), *others))
        return replace(ctx, document=document)

    return run_target(project, args, feature.id, f"ralph team run {goal.name}", with_documents)
