"""Bring in tasks from a file: all of them or none.

A PRD (`.md`), `prd.json`, `implementation_plan.json`, a folder of code tasks (`*.code-task.md`) and
the issues that `gh issue list --json number,title,body,labels,state,url` prints are understood.
What was brought in before is left as it is. `--github` calls `gh` itself.

Else it is JSON lines, one task a line. A line needs a title and may have id, alias, description,
status, parent_id, feature, priority, max_retries, needs_change, files that it will modify, and
blockers, a list of ids or aliases in the file or in the project. What `ralph task export` writes is
understood; a task that was in progress is pending.
"""

import os
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
    from ralph.workflows.pipeline import Pipeline

EXAMPLES = """
ralph task import tasks.jsonl
ralph task import tasks.jsonl --skip-existing
ralph task import prd.json --dry-run
ralph task import .ralph/specs/shop
ralph task import --github
echo '{"title": "Write tests", "blockers": ["US-001"]}' | ralph task import -
"""

PAGE = 20_000
LARGEST = 256 * 1024 * 1024
"""Bytes of a file: also of a device, which has no end."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="a file, a folder of code tasks, or -"
    )
    parser.add_argument("--github", action="store_true", help="the open issues, asked of `gh`")
    parser.add_argument("--dry-run", action="store_true", help="show them, and add nothing")
    parser.add_argument(
        "--skip-existing", action="store_true", help="leave out tasks that are there already"
    )
    add_json(parser, "print how many were added and skipped as JSON")


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project
    from ralph.core.errors import UsageError
    from ralph.core.safe_text import one_line

    if args.file is None and not args.github:
        raise UsageError(
            "a file or --github says what to bring in", hint="ralph task import --help"
        )
    if args.file is not None and args.github:
        raise UsageError(
            f"--github calls `gh` itself, so {one_line(args.file, 100)} is not read",
            hint="leave out --github: what gh printed is known as such wherever it comes from",
        )
    added, skipped = import_file(
        the_project(), args.file, skip_existing=args.skip_existing, preview=args.dry_run
    )
    if args.json:
        from ralph.cli.as_json import show

        show({"added": added, "skipped": skipped})
    else:
        would = "would add" if args.dry_run else "added"
        print(f"{would} {added}" + (f", skipped {skipped}" if skipped else ""))
    return 0


def import_file(
    project: "Project", name: str | None, *, skip_existing: bool = False, preview: bool = False
) -> tuple[int, int]:
    """Add the tasks of a file; return how many were added and how many skipped."""
    from io import BytesIO

    from msgspec.structs import replace

    from ralph.cli.opening import the_store
    from ralph.documents.foreign_tasks import read_foreign
    from ralph.documents.task_lines import read
    from ralph.documents.task_names import drafts

    data = b""
    if name is not None and os.path.isdir(name):
        foreign: list[Numbered] | None = _code_tasks(name)
    else:
        data = _issues(project) if name is None else _content(name)
        shown = "what gh prints" if name is None else "standard input" if name == "-" else name
        foreign = read_foreign(data, shown, _feature(project, name))
    found = read(BytesIO(data)) if foreign is None else foreign
    # Whoever brings in a document again wants what is new in it.
    skip_existing = skip_existing or foreign is not None
    retries = project.loaded.config.execution.max_retries
    with the_store(project) as store:
        names: dict[str | None, str] = {one.id: one.name for one in store.features()}
        found = [_in_feature(one, names) for one in found]
        stored = _stored(store, names)
        new = _new(found, stored, skip=skip_existing)
        made = drafts(new, stored, fresh=_fresh_ids(stored, found), max_retries=retries)
        if preview:
            _show(new)
            return len(new), len(found) - len(new)
        # Features are made last: they stay, whatever is wrong with the tasks.
        wanted = dict.fromkeys(one.task.feature for one in new if one.task.feature is not None)
        features = {name: store.add_feature(name).id for name in wanted}
        _follow_from_now_on(store, project, name, data)
        added = store.add_many(
            [
                replace(draft, feature_id=features[one.task.feature]) if one.task.feature else draft
                for one, draft in zip(new, made, strict=True)
            ]
        )
    return added, len(found) - len(new)


def _code_tasks(name: str) -> "list[Numbered]":
    """All in a folder and below it."""
    from ralph.adapters.library.folder import FolderLibrary
    from ralph.core.errors import Missing
    from ralph.documents.code_tasks.compiling import as_lines, compiled
    from ralph.documents.code_tasks.reading import SUFFIX, read_code_task
    from ralph.documents.encoded import decode
    from ralph.documents.goal_files import goal_of
    from ralph.workflows.code_tasks import code_task_paths

    folder = os.path.realpath(name)
    library = FolderLibrary(folder)
    contents = {path: library.content(path) for path in code_task_paths(library, ".")}
    tasks = [
        read_code_task(path.removeprefix("./"), decode(content).text, ".")
        for path, content in contents.items()
        if content is not None
    ]
    if not tasks:
        raise Missing(f"there are no code tasks in {name}", hint=f"their names end with {SUFFIX}")
    return as_lines(compiled(tasks), goal_of(folder))


def _content(name: str) -> bytes:
    from ralph.core.errors import Missing, UnusableData

    try:
        if name == "-":
            data = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with open(name, "rb") as file:
                data = file.read(LARGEST + 1)
    except OSError as error:
        raise Missing(f"cannot read {name}: {error.strerror}") from error
    if len(data) > LARGEST:
        raise UnusableData(f"{name} is larger than {LARGEST >> 20} MB", hint="import it in parts")
    return data


def _issues(project: "Project") -> bytes:
    """What `gh` says."""
    from ralph.adapters.executor.clock import SystemClock
    from ralph.adapters.executor.processes import Processes
    from ralph.core.errors import RalphError, Unavailable
    from ralph.wiring.programs import outside
    from ralph.wiring.walls import ground_of

    fields = "number,title,body,labels,state,url"
    argv = ["gh", "issue", "list", "--limit", "1000", "--json", fields]
    executor = Processes(SystemClock())
    try:
        # Not one that a session has put on the PATH: it would have all that the person may do.
        done = outside(ground_of(project), executor).capture(argv, cwd=project.root)
    except RalphError as error:
        hint = "install gh, or pipe what it prints elsewhere: ralph task import -"
        raise Unavailable(f"gh cannot be started: {error}", hint=hint) from error
    finally:
        executor.close()
    if done.code != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise Unavailable(f"gh fails: {said[0] if said else done.code}", hint="gh auth login")
    return done.stdout


def _feature(project: "Project", name: str | None) -> str:
    """Which feature the stories of a file belong to: the one that `ralph build` knows them by."""
    if name is None or name == "-":
        return "prd"
    pipeline = _pipeline(project, name)
    return pipeline.feature if pipeline else os.path.splitext(os.path.basename(name))[0]


def _pipeline(project: "Project", name: str) -> "Pipeline | None":
    """Whose PRD the file is; None where it is none of this project."""
    from ralph.core.errors import UsageError
    from ralph.workflows.pipeline import pipeline_of

    if not name.lower().endswith((".md", ".markdown")):
        return None
    try:
        path = os.path.abspath(name)
        return pipeline_of(project.root, project.loaded.variables, prd=path)
    except UsageError:
        return None


def _follow_from_now_on(store: "Store", project: "Project", name: str | None, data: bytes) -> None:
    """What differs from it in the PRD later is a person's doing, or a session's while one works."""
    from ralph.ports.papers import Paper
    from ralph.wiring.project import open_library
    from ralph.workflows.minding import note
    from ralph.workflows.stories import Stories

    pipeline = _pipeline(project, name or "")
    if not data or pipeline is None or store.paper(pipeline.prd) is not None:
        return
    stories = Stories(
        store=store,
        library=open_library(project),
        path=pipeline.prd,
        feature=store.add_feature(pipeline.feature),
        max_retries=project.loaded.config.execution.max_retries,
    )
    note(store, stories, project.root)
    store.keep_paper(Paper(path=pipeline.prd, content=data))


def _show(new: "list[Numbered]") -> None:
    from ralph.core.safe_text import one_line

    for _, task in new:
        print(
            f"{task.status.value:<11} {task.alias or task.id or '':<12} {one_line(task.title, 70)}"
        )


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
    from ralph.core.ids import task_id

    taken = stored.ids | {one.task.id for one in found if one.task.id}

    def fresh() -> "TaskId":
        digits = 6
        while (made := task_id(os.urandom(digits).hex()[:digits])) in taken:
            digits += 1
        taken.add(made)
        return made

    return fresh
