"""What a run would do, without doing it."""

import json
from argparse import Namespace

from ralph.cli.opening import the_store
from ralph.core.safe_text import one_line
from ralph.core.target import Everything, OneFeature, Subtree, Target, describe
from ralph.core.task import Task
from ralph.ports.store import Filter, Store
from ralph.wiring import Project, find_agent, find_target, honest_gates

SHOWN = 20


def show(project: Project, args: Namespace) -> int:
    """The agent, the gates, and the tasks that are ready, in the order of their turn."""
    gates = honest_gates(project)
    agent = find_agent(project).traits.name
    with the_store(project) as store:
        target = find_target(store, args.target)
        ready = _ready(store, target)
        counts = store.counts(target)
    if args.json:
        print(
            json.dumps(
                {
                    "target": describe(target),
                    "agent": agent,
                    "gates": {gate.name: gate.command for gate in gates},
                    "ready": [{"id": one.id, "title": one.title} for one in ready],
                    "open": counts.open,
                }
            )
        )
        return 0
    print(f"target  {describe(target)}: {counts.open} open of {counts.total}")
    print(f"agent   {agent}")
    for gate in gates:
        print(f"gate    {gate.name}: {one_line(gate.command, 90)}")
    for task in ready:
        print(f"ready   {task.name}  {one_line(task.title, 80)}")
    return 0


def _ready(store: Store, target: Target) -> list[Task]:
    match target:
        case Everything():
            return store.tasks(Filter(ready=True, limit=SHOWN))
        case OneFeature(feature):
            return store.tasks(Filter(ready=True, feature=feature, limit=SHOWN))
        case Subtree(root):
            inside = {one.id for one in store.subtree(root)}
            return [one for one in store.tasks(Filter(ready=True)) if one.id in inside][:SHOWN]
