"""Add a task and print its id.

It is pending at once; `ralph run` picks it up when every task it waits for is done.
"""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_json
from ralph.cli.task.options import (
    add_description,
    add_files,
    add_numbers,
    described,
    featured,
    titled,
)

EXAMPLES = """
ralph task add "Add a health endpoint"
ralph task add "Document it" -d "One page in docs/" --blocked-by t-4f2a1b
ralph task add "Sessions expire" --feature login --priority -1 --max-retries 5
ralph task add "Tidy the parser" --file src/parser.py --file tests/test_parser.py
git diff | ralph task add "Review this" -d - --no-change
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("title", metavar="TITLE", help="what is to be done, in one line")
    add_description(parser)
    parser.add_argument("--parent", metavar="TASK", help="the task it is a part of")
    parser.add_argument(
        "--feature", metavar="FEATURE", help="the feature it belongs to; made if new"
    )
    add_numbers(parser)
    parser.add_argument(
        "--blocked-by",
        metavar="TASK",
        action="append",
        default=[],
        help="a task that has to be done first (may be repeated)",
    )
    add_files(parser)
    parser.add_argument(
        "--no-change",
        action="store_true",
        help="it may be done without any change in the tree (research, a check)",
    )
    add_json(parser, "print the whole task as JSON")


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project, the_store
    from ralph.core.named_files import named
    from ralph.core.task import Draft

    project = the_project()
    title, description = titled(args.title), described(args.description or "")
    files = named(args.files or ())
    retries = args.max_retries
    if retries is None:
        retries = project.loaded.config.execution.max_retries
    with the_store(project) as store:
        parent = store.find(args.parent) if args.parent else None
        blockers = tuple(store.find(name).id for name in args.blocked_by)
        # Without the parent's feature a run of it would leave this part out, and never end.
        feature = parent.feature_id if parent else None
        if args.feature is not None:
            feature = store.add_feature(featured(args.feature)).id
        task = store.add_task(
            Draft(
                title=title,
                description=description,
                parent_id=parent.id if parent else None,
                feature_id=feature,
                priority=args.priority or 0,
                max_retries=retries,
                needs_change=not args.no_change,
                blocked_by=blockers,
                files=files,
            )
        )
    if args.json:
        from ralph.cli.as_json import show, task_object

        show(task_object(task, blockers))
    else:
        print(task.id)
    return 0
