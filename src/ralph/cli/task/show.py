"""Show everything about a task."""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_json
from ralph.cli.task.naming import add_task

EXAMPLES = """
ralph task show t-4f2a1b
ralph task show US-001 --json
"""

LOG_LINES = 20


def arguments(parser: ArgumentParser) -> None:
    add_task(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    from msgspec.structs import replace

    from ralph.cli.opening import the_project, the_store
    from ralph.cli.screen import Screen
    from ralph.cli.task import sections
    from ralph.cli.task.telling import titled
    from ralph.cli.task.tree import shown_status
    from ralph.ports.ledger import Asked

    project = the_project()
    with the_store(project) as store:
        task = store.find(args.task)
        blockers, dependents = store.blockers(task.id), store.dependents(task.id)
        children, sessions = store.children(task.id), store.sessions(task=task.id)
        checks = {one.id: store.checks(one.id) for one in sessions}
        stints = {one.id: store.stints(one.id) for one in sessions}
        entries = store.logs(task.id, 0 if args.json else LOG_LINES)
        spent = store.spent(Asked(task=task.id))
        status = shown_status(store, task)
        feature = store.feature(task.feature_id) if task.feature_id else None
        parent = store.find(task.parent_id) if task.parent_id else None
    if args.json:
        from ralph.cli.as_json import session_object, show, task_object

        show(
            task_object(task, [blocker.id for blocker in blockers])
            | {
                "derived_status": status,
                "feature": feature.name if feature else None,
                "dependents": [dependent.id for dependent in dependents],
                "children": [child.id for child in children],
                "spent": spent,
                "attempts": [session_object(one, checks[one.id]) for one in sessions],
                "log": entries,
            }
        )
        return 0
    screen = Screen(args, project)
    lines = [
        f"{screen.bold(task.id)}  {titled(task)}",
        *sections.fields(
            replace(task, status=status), feature.name if feature else None, parent, spent, screen
        ),
        *sections.description(task, screen),
        *sections.related(screen, "waits for", blockers),
        *sections.related(screen, "holds up", dependents),
        *sections.related(screen, "parts", children),
        *sections.attempts(screen, sessions, checks, stints),
        *sections.log(screen, entries),
    ]
    print("\n".join(lines))
    return 0
