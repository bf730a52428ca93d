"""Show what a task waits for, and what waits for it."""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_json
from ralph.cli.task.naming import add_task

EXAMPLES = """
ralph task deps list t-4f2a1b
ralph task deps list US-002 --json
"""


def arguments(parser: ArgumentParser) -> None:
    add_task(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project, the_store
    from ralph.cli.screen import Screen
    from ralph.cli.task.sections import related

    project = the_project()
    with the_store(project) as store:
        task = store.find(args.task)
        blockers, dependents = store.blockers(task.id), store.dependents(task.id)
    if args.json:
        from ralph.cli.as_json import show

        show({"id": task.id, "blockers": blockers, "dependents": dependents})
        return 0
    screen = Screen(args, project)
    lines = [
        *related(screen, "waits for", blockers, limit=0),
        *related(screen, "holds up", dependents, limit=0),
    ]
    print("\n".join(lines).strip("\n") or f"{task.id} waits for nothing, and nothing waits for it")
    return 0
