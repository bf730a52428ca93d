"""Delete a feature: its tasks, everything below them, and its documents."""

import sys
from argparse import ArgumentParser, Namespace

from ralph.cli.feature.options import add_name
from ralph.cli.parser import add_yes

EXAMPLES = """
ralph feature delete login
ralph feature delete login --yes --keep-documents
"""


def arguments(parser: ArgumentParser) -> None:
    add_name(parser)
    parser.add_argument(
        "--keep-documents", action="store_true", help="leave its spec and its plan where they are"
    )
    add_yes(parser)


def run(args: Namespace) -> int:
    from ralph.cli.confirm import make_sure
    from ralph.cli.opening import the_project, the_store
    from ralph.core.errors import UsageError
    from ralph.core.safe_text import one_line
    from ralph.core.target import OneFeature
    from ralph.workflows.errand import errands_of
    from ralph.workflows.feature import Features

    project = the_project()
    with the_store(project) as store:
        features = Features(store=store, root=project.root)
        feature = features.find(args.name)
        counts = store.counts(OneFeature(feature.id, feature.name))
        if counts.in_progress and not args.yes:
            raise UsageError(
                f"a task of {one_line(feature.name)} is in progress, so deleting it stops the"
                " running session",
                hint="add --yes if you mean it",
            )
        documents = [] if args.keep_documents else features.documents(feature)
        for path in documents:
            print(one_line(path), file=sys.stderr)
        tasks = "1 task" if counts.total == 1 else f"{counts.total} tasks"
        files = f" and {len(documents)} of its documents" if documents else ""
        make_sure(args, f"deleting {one_line(feature.name)}, {tasks}{files}")
        gone = store.delete_feature(feature.id)
        for task in errands_of(store, feature.name):
            store.delete_task(task)
        if documents:
            features.remove_documents(feature)
    print(f"deleted {one_line(feature.name)} and {len(gone)} of its tasks")
    return 0
