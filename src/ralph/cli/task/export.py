"""Write tasks as JSON lines, one task a line, for `ralph task import`."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ralph.core.ids import FeatureId
    from ralph.ports.store import Store

EXAMPLES = """
ralph task export > tasks.jsonl
ralph task export --feature login | ralph -C ../other task import -
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--feature", metavar="FEATURE", help="only tasks of this feature")


def run(args: Namespace) -> int:
    from ralph.cli.as_json import show_lines
    from ralph.cli.opening import the_store
    from ralph.core.errors import Missing

    with the_store() as store:
        feature = store.feature(args.feature) if args.feature else None
        if args.feature and feature is None:
            raise Missing(f"there is no feature {args.feature}", hint="ralph feature list")
        show_lines(_lines(store, feature.id if feature else None))
    return 0


def _lines(store: "Store", feature: "FeatureId | None") -> Iterator[dict[str, Any]]:
    from ralph.cli.as_json import PAGE
    from ralph.documents.task_lines import write
    from ralph.ports.store import Filter

    names = {one.id: one.name for one in store.features()}
    tasks = store.tasks(Filter(feature=feature))
    for start in range(0, len(tasks), PAGE):
        page = tasks[start : start + PAGE]
        blockers = store.blocker_ids([task.id for task in page])
        for task in page:
            name = names.get(task.feature_id) if task.feature_id else None
            yield write(task, blockers.get(task.id, ()), name)
