"""Import tasks from other programs, and export them."""

import os
from argparse import Namespace
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

from msgspec.structs import replace

from ralph.cli.command import command, flag, option
from ralph.cli.options import json_option
from ralph.cli.output import print_answer, print_json_lines, with_blockers
from ralph.cli.project_access import open_project, project_with_store
from ralph.cli.prompts import read_bytes
from ralph.cli.task.list import find_feature
from ralph.core.errors import Missing, RalphError, Unavailable, UsageError
from ralph.core.ids import FeatureId, TaskId, task_id
from ralph.core.safe_text import one_line
from ralph.documents.code_task_file import SUFFIX, as_lines, order_code_tasks, read_code_task
from ralph.documents.feature_files import goal_of
from ralph.documents.task_import import (
    NumberedTask,
    TaskNameIndex,
    read_foreign_tasks,
    read_task_lines,
    resolve_drafts,
    task_to_line,
)
from ralph.documents.text_encoding import decode_text
from ralph.ports.executor import Command
from ralph.store.documents import DocumentSnapshot
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from ralph.wiring.processes import open_executor
from ralph.wiring.project import Project, files_in, open_project_files, open_store
from ralph.wiring.project_sandbox import unsandboxed_runner
from ralph.workflows.code_tasks import code_task_paths
from ralph.workflows.document_tasks import DocumentTasks
from ralph.workflows.prd_document import PrdDocument
from ralph.workflows.story_pipeline import StoryPipeline, pipeline_of
from ralph.workflows.synced_documents import record_document

NAMES_PAGE = 20_000
LARGEST = 256 * 1024 * 1024
LIMIT = "256 MB can be imported at once"


@command(
    option("file", "FILE", "a file, a folder of code tasks, or -", nargs="?"),
    flag("--github", "the open issues, asked of `gh`"),
    flag("--dry-run", "show them, and add nothing"),
    flag("--skip-existing", "leave out tasks that are there already"),
    json_option("print how many were added and skipped as JSON"),
)
def import_tasks(args: Namespace) -> None:
    """Import tasks from a file: all of them or none.

    A PRD (`.md`, or text that begins with a heading), `prd.json`, `implementation_plan.json`, a
    folder of code tasks (`*.code-task.md`) and the issues that
    `gh issue list --json number,title,body,labels,state,url` prints are understood. Tasks that were
    imported before stay as they are. `--github` calls `gh` itself.

    Any other file has JSON lines, one task a line. A line needs a title and may have id, alias,
    description, status, parent_id, feature, priority, max_retries, needs_change, files that it will
    modify, and blockers, a list of ids or aliases in the file or in the project. What `ralph task
    export` writes is understood; a task that was in progress is pending.

    examples:
      ralph task import tasks.jsonl
      ralph task import tasks.jsonl --skip-existing
      ralph task import prd.json --dry-run
      ralph task import .ralph/specs/shop
      ralph task import --github
      echo '{"title": "Write tests", "blockers": ["US-001"]}' | ralph task import -
    """
    if (args.file is None) is not args.github:
        said = "either a file or --github says what to bring in"
        raise UsageError(said, hint="ralph task import --help")
    project = open_project()
    found, data = _read(project, args.file)
    with open_store(project) as store:
        added, skipped = _import(args, project, store, found, data)
    would = "would add" if args.dry_run else "added"
    text = f"{would} {added}" + (f", skipped {skipped}" if skipped else "")
    print_answer(args, {"added": added, "skipped": skipped}, text)


def _import(
    args: Namespace, project: Project, store: Store, found: list[NumberedTask] | None, data: bytes
) -> tuple[int, int]:
    """Add the tasks of a file; return how many were added and how many skipped."""
    # Importing a document again brings in what is new in it.
    skips_existing = args.skip_existing or found is not None
    if found is None:
        found = read_task_lines(BytesIO(data))
    names: dict[str | None, str] = {one.id: one.name for one in store.features.all()}
    found = [_with_feature_name(one, names) for one in found]
    stored = _stored_names(store, names)
    new = _new_tasks(found, stored, skips_existing=skips_existing)
    drafts = resolve_drafts(
        new,
        stored,
        fresh=_new_ids(stored, found),
        max_retries=project.config.execution.max_retries,
    )
    if args.dry_run:
        for _, task in new:
            name = task.alias or task.id or ""
            print(f"{task.status.value:<11} {name:<12} {one_line(task.title, 70)}")
        return len(new), len(found) - len(new)
    wanted = dict.fromkeys(one.task.feature for one in new if one.task.feature is not None)

    def add() -> int:
        features = {name: store.features.add(name).id for name in wanted}
        if data and args.file is not None:
            _record_prd(store, project, args.file, data)
        return store.tasks.add_many(
            [
                replace(draft, feature_id=features[one.task.feature]) if one.task.feature else draft
                for one, draft in zip(new, drafts, strict=True)
            ]
        )

    # In one transaction: without the tasks there are no features either.
    return store.db.write(add), len(found) - len(new)


def _read(project: Project, name: str | None) -> tuple[list[NumberedTask] | None, bytes]:
    """Read a file: its tasks (None for JSON lines) and its bytes."""
    if name is not None and os.path.isdir(name):
        return _code_tasks(name), b""
    if name is None:
        shown, data, feature = "what gh prints", _issues(project), "prd"
    elif name == "-":
        shown, data, feature = "standard input", read_bytes(name, LARGEST, LIMIT), "prd"
    else:
        pipeline = _pipeline(project, name)
        plain = os.path.splitext(os.path.basename(name))[0]
        # The feature by which `ralph story build` knows the stories of the file.
        shown, data = name, read_bytes(name, LARGEST, LIMIT)
        feature = pipeline.feature if pipeline else plain
    return read_foreign_tasks(data, shown, feature), data


def _code_tasks(name: str) -> list[NumberedTask]:
    folder = os.path.realpath(name)
    project_files = files_in(folder)
    tasks = [
        read_code_task(path.removeprefix("./"), decode_text(content).text, ".")
        for path in code_task_paths(project_files, ".")
        if (content := project_files.read_bytes(path)) is not None
    ]
    if not tasks:
        raise Missing(f"there are no code tasks in {name}", hint=f"their names end with {SUFFIX}")
    return as_lines(order_code_tasks(tasks), goal_of(folder))


def _issues(project: Project) -> bytes:
    fields = "number,title,body,labels,state,url"
    argv = ("gh", "issue", "list", "--limit", "1000", "--json", fields)
    try:
        # Not one that a session has put on the PATH: it would have all that the person may do.
        with open_executor() as executor:
            gh = unsandboxed_runner(project, executor)
            done = gh.capture(Command(argv=argv, cwd=project.root, env=os.environ))
    except RalphError as error:
        hint = "install gh, or pipe what it prints elsewhere: ralph task import -"
        raise Unavailable(f"gh cannot be started: {error}", hint=hint) from error
    if done.code != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise Unavailable(f"gh fails: {said[0] if said else done.code}", hint="gh auth login")
    return done.stdout


def _pipeline(project: Project, name: str) -> StoryPipeline | None:
    """The story pipeline whose PRD this file is, if any."""
    if not name.lower().endswith((".md", ".markdown")):
        return None
    try:
        path = os.path.abspath(name)
        return pipeline_of(project.root, project.variables, prd=path)
    except UsageError:
        return None


def _record_prd(store: Store, project: Project, name: str, data: bytes) -> None:
    """Record a PRD as imported: what differs from it later is an edit."""
    pipeline = _pipeline(project, name)
    if pipeline is None or store.documents.get(pipeline.prd) is not None:
        return
    feature = store.features.add(pipeline.feature)
    retries = project.config.execution.max_retries
    tasks = DocumentTasks(store, feature, pipeline.prd, retries)
    stories = PrdDocument(tasks, open_project_files(project))
    record_document(store, stories, project.root)
    store.documents.save(DocumentSnapshot(path=pipeline.prd, content=data))


def _with_feature_name(one: NumberedTask, names: dict[str | None, str]) -> NumberedTask:
    """The task with the name of its feature; an unknown id serves as the name."""
    task = one.task
    name = task.feature or names.get(task.feature_id) or task.feature_id
    return one._replace(task=replace(task, feature=name))


def _stored_names(store: Store, names: dict[str | None, str]) -> TaskNameIndex:
    """The names of the project's tasks, read in pages to save memory."""
    stored = TaskNameIndex()
    offset = 0
    while page := store.tasks.select(TaskFilter(limit=NAMES_PAGE, offset=offset)):
        for task in page:
            stored.add(task.id, task.alias, names.get(task.feature_id))
        offset += NAMES_PAGE
    return stored


def _new_tasks(
    found: list[NumberedTask], stored: TaskNameIndex, *, skips_existing: bool
) -> list[NumberedTask]:
    known = [one for one in found if stored.has(one.task)]
    if known and not skips_existing:
        names = [f"{one.task.id or one.task.alias} (line {one.number})" for one in known[:10]]
        more = f" and {len(known) - 10} more" if len(known) > 10 else ""
        raise UsageError(
            f"the project has {one_line(', '.join(names))}{more} already",
            hint="--skip-existing leaves them as they are",
        )
    return [one for one in found if not stored.has(one.task)] if known else found


def _new_ids(stored: TaskNameIndex, found: list[NumberedTask]) -> Callable[[], TaskId]:
    """A function that makes ids for tasks with only an alias, so that others can refer to them."""
    taken = stored.ids | {one.task.id for one in found if one.task.id}

    def new_id() -> TaskId:
        digits = 6
        while (made := task_id(os.urandom(digits).hex()[:digits])) in taken:
            digits += 1
        taken.add(made)
        return made

    return new_id


@command(option("--feature", "FEATURE", "only tasks of this feature"))
def export(args: Namespace) -> None:
    """Write tasks as JSON lines, one task a line, for `ralph task import`.

    examples:
      ralph task export > tasks.jsonl
      ralph task export --feature login | ralph -C ../other task import -
    """
    with project_with_store() as (_, store):
        feature = find_feature(args, store)
        print_json_lines(_task_lines(store, feature.id if feature else None))


def _task_lines(store: Store, feature: FeatureId | None) -> Iterator[dict[str, Any]]:
    names = {one.id: one.name for one in store.features.all()}
    for task, blockers in with_blockers(store, store.tasks.select(TaskFilter(feature=feature))):
        yield task_to_line(task, blockers, names.get(task.feature_id) if task.feature_id else None)
