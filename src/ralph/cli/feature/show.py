"""Show a feature: its documents, its tasks, what it has cost, and what comes next."""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from ralph.cli.feature.options import add_name
from ralph.cli.parser import add_json

if TYPE_CHECKING:
    from ralph.core.spent import Spent
    from ralph.core.task import Feature, Task
    from ralph.ports.claims import Counts
    from ralph.ports.store import Store

EXAMPLES = """
ralph feature show login
ralph feature show login --json
"""


def arguments(parser: ArgumentParser) -> None:
    add_name(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    from ralph.cli.feature.steps import next_step
    from ralph.cli.opening import the_project, the_store
    from ralph.cli.screen import Screen
    from ralph.cli.task.tree import show_tree
    from ralph.core.target import OneFeature
    from ralph.workflows.feature import Features

    project = the_project()
    with the_store(project) as store:
        features = Features(store=store, root=project.root)
        feature = features.find(args.name)
        counts = store.counts(OneFeature(feature.id, feature.name))
        tops = _tops(store, feature)
        spent = _spent(store, tops)
        following = next_step(feature)
        if args.json:
            from ralph.cli.as_json import show

            show(_object(feature, counts, spent, tops))
            return 0
        screen = Screen(args, project)
        print("\n".join(_lines(feature, counts, spent, screen)))
        tasks = [task for top in tops for task in store.subtree(top.id)]
        if tasks:
            print()
            show_tree(tasks, screen)
    print()
    print(f"next: {following}")
    return 0


def _tops(store: "Store", feature: "Feature") -> "list[Task]":
    """Those of its tasks that are part of no other of its tasks."""
    from ralph.ports.store import Filter

    tasks = store.tasks(Filter(feature=feature.id))
    known = {task.id for task in tasks}
    return [task for task in tasks if task.parent_id not in known]


def _spent(store: "Store", tops: "list[Task]") -> "Spent":
    from ralph.core.spent import Spent
    from ralph.ports.ledger import Asked

    return sum((store.spent(Asked(task=top.id)) for top in tops), start=Spent())


def _lines(feature: "Feature", counts: "Counts", spent: "Spent", screen: "Any") -> list[str]:
    from ralph.cli.times import local
    from ralph.core.safe_text import one_line

    known = {
        "status": feature.status.value,
        "spec": one_line(feature.spec_path or "none"),
        "plan": one_line(feature.plan_path or "none"),
        "tasks": f"{counts.done} of {counts.total} done, {counts.failed} failed"
        if counts.total
        else "none",
        "cost": str(spent) if spent.sessions else "",
        "created": local(feature.created_at),
        "updated": local(feature.updated_at),
    }
    heading = screen.bold(f"{feature.id}  {one_line(feature.name)}")
    return [heading, *(f"{name:<11} {value}" for name, value in known.items() if value)]


def _object(
    feature: "Feature", counts: "Counts", spent: "Spent", tops: "list[Task]"
) -> dict[str, Any]:
    from msgspec.structs import asdict

    return asdict(feature) | {
        "tasks": asdict(counts),
        "roots": [task.id for task in tops],
        "spent": asdict(spent),
    }
