"""The tasks that a feature was broken down into."""

from argparse import Namespace

from ralph.cli.screen import Screen
from ralph.cli.task.tree import show_tree
from ralph.core.target import OneFeature
from ralph.core.task import Task
from ralph.ports.store import Filter, Store
from ralph.wiring.project import Project


def show_tasks(args: Namespace, project: Project, store: Store, root: Task) -> None:
    """A line of figures, and the tree."""
    tasks = store.subtree(root.id)
    waits = sum(map(len, store.blocker_ids([task.id for task in tasks]).values()))
    assert root.feature_id is not None
    counts = store.counts(OneFeature(root.feature_id, ""))
    ready = len(store.tasks(Filter(feature=root.feature_id, ready=True)))
    parents = {task.parent_id for task in tasks}
    leaves = sum(task.id not in parents for task in tasks)
    print(
        f"{leaves} {'task' if leaves == 1 else 'tasks'}, {waits}"
        f" {'dependency' if waits == 1 else 'dependencies'}, {ready} ready, {counts.done} done"
    )
    print()
    show_tree(tasks, Screen(args, project))
