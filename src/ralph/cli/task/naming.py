"""Which task is meant: an id or an alias, wherever a command takes one."""

from argparse import ArgumentParser

from ralph.core.task import Task
from ralph.ports.store import Graph


def add_task(parser: ArgumentParser) -> None:
    """One task, by id or alias."""
    parser.add_argument("task", metavar="TASK", help="id (t-4f2a1b) or alias (US-001)")


def add_tasks(parser: ArgumentParser) -> None:
    """One or more tasks."""
    parser.add_argument("tasks", metavar="TASK", nargs="+", help="ids or aliases")


def find_all(store: Graph, names: list[str]) -> list[Task]:
    """Every task named, once each; an unknown name is an error before anything has changed."""
    found = {task.id: task for task in map(store.find, names)}
    return list(found.values())
