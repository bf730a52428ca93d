"""Bring in tasks from JSON lines, one task a line: all of them or none.

A line needs a title and may have id, alias, description, status, parent_id, feature, priority,
max_retries, needs_change and blockers, a list of ids or aliases in the file or in the project. What
`ralph task export` writes is understood; a task that was in progress is pending.
"""

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.parser import add_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from ralph.core.ids import TaskId
    from ralph.documents.task_lines import Numbered
    from ralph.documents.task_names import Names
    from ralph.ports.store import Store
    from ralph.wiring.project import Project

EXAMPLES = """
ralph task import tasks.jsonl
ralph task import tasks.jsonl --skip-existing
echo '{"title": "Write tests", "blockers": ["US-001"]}' | ralph task import -
"""

PAGE = 20_000


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a file, or - for standard input")
    parser.add_argument(
        "--skip-existing", action="store_true", help="leave out tasks that are there already"
    )
    add_json(parser, "print how many were added and skipped as JSON")


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project

    added, skipped = import_file(the_project(), args.file, skip_existing=args.skip_existing)
    if args.json:
        from ralph.cli.as_json import show

        show({"added": added, "skipped": skipped})
    else:
        print(f"added {added}" + (f", skipped {skipped}" if skipped else ""))
    return 0


def import_file(project: "Project", name: str, *, skip_existing: bool = False) -> tuple[int, int]:
    """Add the tasks of a file; return how many were added and how many skipped."""
    from msgspec.structs import replace

    from ralph.cli.opening import the_store
    from ralph.documents.task_lines import read
    from ralph.documents.task_names import drafts

    found = read(_lines(name))
    retries = project.loaded.config.execution.max_retries
    with the_store(project) as store:
        names: dict[str | None, str] = {one.id: one.name for one in store.features()}
        found = [_in_feature(one, names) for one in found]
        stored = _stored(store, names)
        new = _new(found, stored, skip=skip_existing)
        made = drafts(new, stored, fresh=_fresh_ids(stored, found), max_retries=retries)
        # Features are made last: they stay, whatever is wrong with the tasks.
        wanted = dict.fromkeys(one.task.feature for one in new if one.task.feature is not None)
        features = {name: store.add_feature(name).id for name in wanted}
        added = store.add_many(
            [
                replace(draft, feature_id=features[one.task.feature]) if one.task.feature else draft
                for one, draft in zip(new, made, strict=True)
            ]
        )
    return added, len(found) - len(new)


def _lines(name: str) -> list[bytes]:
    from ralph.core.errors import Missing

    if name == "-":
        return sys.stdin.buffer.readlines()
    try:
        with open(name, "rb") as file:
            return file.readlines()
    except OSError as error:
        raise Missing(f"cannot read {name}: {error.strerror}") from error


def _in_feature(one: "Numbered", names: "dict[str | None, str]") -> "Numbered":
    """A feature goes by its name; an id that this project does not know stands for itself."""
    from msgspec.structs import replace

    task = one.task
    name = task.feature or names.get(task.feature_id) or task.feature_id
    return one._replace(task=replace(task, feature=name))


def _stored(store: "Store", names: "dict[str | None, str]") -> "Names":
    """What the project has already, page by page, so that only names are kept in memory."""
    from ralph.documents.task_names import Names
    from ralph.ports.store import Filter

    stored = Names()
    offset = 0
    while page := store.tasks(Filter(limit=PAGE, offset=offset)):
        for task in page:
            stored.add(task.id, task.alias, names.get(task.feature_id))
        offset += PAGE
    return stored


def _new(found: "list[Numbered]", stored: "Names", *, skip: bool) -> "list[Numbered]":
    from ralph.core.errors import UsageError
    from ralph.core.safe_text import one_line

    there = [one for one in found if stored.has(one.task)]
    if there and not skip:
        names = [f"{one.task.id or one.task.alias} (line {one.number})" for one in there[:10]]
        more = f" and {len(there) - 10} more" if len(there) > 10 else ""
        raise UsageError(
            f"the project has {one_line(', '.join(names))}{more} already",
            hint="--skip-existing leaves them as they are",
        )
    return [one for one in found if not stored.has(one.task)] if there else found


def _fresh_ids(stored: "Names", found: "list[Numbered]") -> "Callable[[], TaskId]":
    """Ids for tasks that only have an alias, so that others can refer to them."""
    import os

    from ralph.core.ids import task_id

    taken = stored.ids | {one.task.id for one in found if one.task.id}

    def fresh() -> "TaskId":
        digits = 6
        while (made := task_id(os.urandom(digits).hex()[:digits])) in taken:
            digits += 1
        taken.add(made)
        return made

    return fresh
