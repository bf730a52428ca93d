"""What a run would do, without doing it."""

import json
from argparse import Namespace
from collections.abc import Sequence

from ralph.cli.opening import the_store
from ralph.core.ids import RunId
from ralph.core.safe_text import one_line
from ralph.core.target import Everything, Target, describe
from ralph.core.task import Task
from ralph.engine.choosing import called, earlier, foresee
from ralph.ports.agent import Agent, Traits
from ralph.ports.ready import ready_in
from ralph.ports.store import Store
from ralph.wiring.agents import find_agent, find_reviewers, find_verifiers
from ralph.wiring.project import Project
from ralph.wiring.settings import find_target, honest_gates, preferences
from ralph.workflows.errand import errands

SHOWN = 20
NO_MODEL = "the agent's own choice"


def show(project: Project, args: Namespace) -> int:
    """The agent, its model, the gates, and the tasks that are ready, in the order of their turn."""
    gates = honest_gates(project)
    traits = find_agent(project).traits
    sandbox = _sandbox(project, traits)
    verifier, reviewer = _verifier(project, traits), _reviewer(project, traits)
    with the_store(project) as store:
        target = find_target(store, args.target)
        theirs = errands(store) if isinstance(target, Everything) else {}
        ready = [one for one in ready_in(store, target, SHOWN) if one.id not in theirs]
        counts = store.counts(target)
        model = _model(project, store, target, traits, ready[0]) if ready else ""
    if args.json:
        print(
            json.dumps(
                {
                    "target": describe(target),
                    "agent": traits.name,
                    "strategy": preferences(project).strategy,
                    "model": model,
                    "verifier": verifier,
                    "reviewer": reviewer,
                    "sandbox": sandbox,
                    "gates": {gate.name: gate.command for gate in gates},
                    "ready": [{"id": one.id, "title": one.title} for one in ready],
                    "open": counts.open,
                }
            )
        )
        return 0
    print(f"target  {describe(target)}: {counts.open} open of {counts.total}")
    print(f"agent   {traits.name}")
    print(f"model   {one_line(model, 60) or NO_MODEL} ({preferences(project).strategy})")
    print(f"verify  {verifier or 'nobody checks the work'}")
    if reviewer:
        print(f"review  {reviewer}")
    print(f"sandbox {sandbox}")
    for gate in gates:
        print(f"gate    {gate.name}: {one_line(gate.command, 90)}")
    for task in ready:
        print(f"ready   {task.name}  {one_line(task.title, 80)}")
    return 0


def _verifier(project: Project, traits: Traits) -> str:
    """Who would check the work, and on what; empty where nobody is to."""
    config = project.loaded.config
    if not config.execution.verify:
        return ""
    return _who(project, find_verifiers(project, ()), traits, config.verify.model)


def _reviewer(project: Project, traits: Traits) -> str:
    """The same for a review."""
    config = project.loaded.config.review
    if not config.enabled:
        return ""
    return _who(project, find_reviewers(project, ()), traits, config.model)


def _who(project: Project, chosen: Sequence[Agent], traits: Traits, wanted: str) -> str:
    who = chosen[0].traits if chosen else traits
    model = called(wanted, who, preferences(project)) if wanted else ""
    return " ".join(filter(None, (who.name, one_line(model, 60))))


def _sandbox(project: Project, traits: Traits) -> str:
    """The wall that would stand; an error if there is none, as a run would end with it."""
    from ralph.adapters.executor.clock import SystemClock
    from ralph.adapters.executor.processes import Processes
    from ralph.wiring.walls import a_sandbox, ground_of

    if traits.says_sandbox_off or project.loaded.config.sandbox.mode == "off":
        return "off"
    executor = Processes(SystemClock())
    try:
        return a_sandbox(ground_of(project), executor)[0].name
    finally:
        executor.close()


def _model(project: Project, store: Store, target: Target, traits: Traits, task: Task) -> str:
    """What the first session would run on."""
    wanted, none_yet = preferences(project), RunId("")
    before = earlier(store, target, project.root, none_yet)
    choice = foresee(store, wanted, task, (none_yet, *before))
    return called(choice.model, traits, wanted) or called(choice.planned, traits, wanted)
