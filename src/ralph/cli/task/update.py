"""Change a task's title, description, place or limits.

Its state is changed by `done`, `fail`, `reset`, `retry`, `block` and `unblock`.
"""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_json
from ralph.cli.task.naming import add_task
from ralph.cli.task.options import (
    add_description,
    add_files,
    add_numbers,
    described,
    featured,
    titled,
)

EXAMPLES = """
ralph task update t-4f2a1b --title "Add a health endpoint" --priority -1
ralph task update US-001 -d "GET /health answers 200"
ralph task update t-4f2a1b --parent t-0c11d2
ralph task update t-4f2a1b --no-parent --feature login
ralph task update t-4f2a1b --file src/app.py --file docs/app.md
"""


def arguments(parser: ArgumentParser) -> None:
    add_task(parser)
    parser.add_argument("--title", metavar="TEXT", help="a new title")
    add_description(parser)
    add_numbers(parser)
    parent = parser.add_mutually_exclusive_group()
    parent.add_argument("--parent", metavar="TASK", help="make it a part of this task")
    parent.add_argument("--no-parent", action="store_true", help="make it stand on its own")
    feature = parser.add_mutually_exclusive_group()
    feature.add_argument("--feature", metavar="FEATURE", help="put it into a feature; made if new")
    feature.add_argument("--no-feature", action="store_true", help="take it out of its feature")
    files = parser.add_mutually_exclusive_group()
    add_files(files, "; in the place of those before")
    files.add_argument("--no-files", action="store_true", help="it names no files any more")
    change = parser.add_mutually_exclusive_group()
    change.add_argument(
        "--change",
        dest="needs_change",
        action="store_true",
        default=None,
        help="it is not done until something in the tree has changed",
    )
    change.add_argument(
        "--no-change",
        dest="needs_change",
        action="store_false",
        help="it may be done without any change in the tree",
    )
    add_json(parser, "print the whole task as JSON")


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_store
    from ralph.cli.task.telling import tell
    from ralph.core.errors import UsageError
    from ralph.core.named_files import named
    from ralph.core.task import Edit

    fields: dict[str, object] = {}
    if args.title is not None:
        fields["title"] = titled(args.title)
    if args.description is not None:
        fields["description"] = described(args.description)
    for name in ("priority", "max_retries", "needs_change"):
        if getattr(args, name) is not None:
            fields[name] = getattr(args, name)
    if args.files or args.no_files:
        fields["files"] = named(args.files or ())
    if args.no_parent:
        fields["parent_id"] = None
    if args.no_feature:
        fields["feature_id"] = None
    if not (fields or args.parent or args.feature is not None):
        raise UsageError("nothing was said about what to change", hint="ralph task update --help")
    with the_store() as store:
        task = store.find(args.task)
        if args.parent:
            fields["parent_id"] = store.find(args.parent).id
        if args.feature is not None:
            fields["feature_id"] = store.add_feature(featured(args.feature)).id
        task = store.edit_task(task.id, Edit(**fields))  # type: ignore[arg-type]
        tell(store, [task], as_json=args.json)
    return 0
