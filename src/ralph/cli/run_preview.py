"""What a run would do: its plan, the agents, the gates, the tasks that are ready."""

import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TextIO

from ralph.config.project import Project
from ralph.core.cost import dollars, estimate
from ralph.core.ids import RunId
from ralph.core.run import AllTasks, Target, describe_target
from ralph.core.safe_text import one_line
from ralph.core.task import Task
from ralph.engine.model_selection import agent_model_name, earlier_runs, expected_model
from ralph.ports.agent import Agent, AgentTraits
from ralph.store.store import Store
from ralph.wiring.agents import find_agent, find_agents, find_reviewers, find_verifiers
from ralph.wiring.project import open_store
from ralph.wiring.run_settings import find_target, usable_gates
from ralph.wiring.sandbox import sandbox_name

SHOWN = 20
NO_MODEL = "the agent's own choice"


def output_stream(args: Namespace) -> TextIO:
    """Where people read; events have standard output for themselves."""
    return sys.stderr if args.json else sys.stdout


def show_plan(project: Project, args: Namespace, lines: Sequence[str], tasks: int) -> None:
    """Print a plan, who will do it, and what so many tasks may take."""
    agents, _ = find_agents(project)
    gates = ", ".join(gate.name for gate in usable_gates(project))
    config = project.config
    least = 1 + config.execution.verify + config.review.enabled
    with open_store(project) as store:
        done, spent = store.costs.of_done_tasks()
    expected = estimate(tasks, done, spent, least=least)
    if not done:
        expected += f"; [budget] run_usd is {dollars(config.budget.run_usd)}"
    end = (
        f"agent    {agents[0].traits.name}",
        f"sandbox  {_sandbox_of(project, agents[0].traits)}",
        f"gates    {gates or 'none'}",
        f"expect   {expected}",
    )
    print(*lines, *end, sep="\n", file=output_stream(args), flush=True)


def show_dry_run(project: Project, args: Namespace) -> None:
    """Print the agent, its model, the gates, and the tasks that are ready, in their order."""
    config = project.config
    gates = usable_gates(project)
    traits = find_agent(project).traits
    sandbox = _sandbox_of(project, traits)
    verifier = reviewer = ""
    if config.execution.verify:
        verifier = _who(project, find_verifiers(project, ()), traits, config.verify.model)
    if config.review.enabled:
        reviewer = _who(project, find_reviewers(project, ()), traits, config.review.model)
    with open_store(project) as store:
        target = find_target(store, args.target)
        planning = store.tasks.planning() if isinstance(target, AllTasks) else {}
        ready = [one for one in store.tasks.ready(target, SHOWN) if one.id not in planning]
        counts = store.claims.user_counts(target)
        model = _model_name(project, store, target, traits, ready[0]) if ready else ""
    strategy = project.config.models.strategy
    if args.json:
        values = {
            "target": describe_target(target),
            "agent": traits.name,
            "strategy": strategy,
            "model": model,
            "verifier": verifier,
            "reviewer": reviewer,
            "sandbox": sandbox,
            "gates": {gate.name: gate.command for gate in gates},
            "ready": [{"id": one.id, "title": one.title} for one in ready],
            "open": counts.open,
        }
        print(json.dumps(values))
        return
    print(f"target  {describe_target(target)}: {counts.open} open of {counts.total}")
    print(f"agent   {traits.name}")
    print(f"model   {one_line(model, 60) or NO_MODEL} ({strategy})")
    print(f"verify  {verifier or 'no verification'}")
    if reviewer:
        print(f"review  {reviewer}")
    print(f"sandbox {sandbox}")
    for gate in gates:
        print(f"gate    {gate.name}: {one_line(gate.command, 90)}")
    for task in ready:
        print(f"ready   {task.name}  {one_line(task.title, 80)}")


def _sandbox_of(project: Project, traits: AgentTraits) -> str:
    """The sandbox of sessions. Unavailable if they need one and there is none."""
    is_off = traits.says_sandbox_off or not project.has_sandbox
    return "off" if is_off else sandbox_name(project)


def _who(project: Project, chosen: Sequence[Agent], traits: AgentTraits, wanted: str) -> str:
    """The agent that would check the work, and its model if one is set."""
    who = chosen[0].traits if chosen else traits
    preferences = project.config.models
    model = agent_model_name(wanted, who, preferences) if wanted else ""
    return " ".join(filter(None, (who.name, one_line(model, 60))))


def _model_name(
    project: Project, store: Store, target: Target, traits: AgentTraits, task: Task
) -> str:
    wanted, none_yet = project.config.models, RunId("")
    before = earlier_runs(store, target, project.root, none_yet)
    choice = expected_model(store, wanted, task, (none_yet, *before))
    return agent_model_name(choice.model, traits, wanted) or agent_model_name(
        choice.planned, traits, wanted
    )
