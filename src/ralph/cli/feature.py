"""Commands about features: from an idea to tasks (spec, plan, build), list, show, delete."""

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from shlex import quote

from msgspec.structs import asdict

from ralph.cli.command import command, exclusive, flag, option
from ralph.cli.options import FEATURE, JSON, SESSION, YES, settings_of
from ralph.cli.output import (
    TerminalStyle,
    field_lines,
    format_local,
    print_json,
    print_json_array,
    print_table,
)
from ralph.cli.project_access import open_project, open_run, planning_target, project_with_store
from ralph.cli.prompts import (
    can_ask,
    confirm,
    is_alone,
    nothing_written,
    read_text,
    run_interactive,
)
from ralph.cli.task.list import print_tree
from ralph.core.cost import CostSummary
from ralph.core.errors import UsageError
from ralph.core.ids import TaskId
from ralph.core.run import OneFeature
from ralph.core.safe_text import one_line
from ralph.core.task import Feature, FeatureStatus, Task
from ralph.documents.feature_prompts import FeatureDocument, interactive_document_prompt
from ralph.store.claims import Counts
from ralph.store.costs import CostFilter
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from ralph.ui.formatting import count_text
from ralph.wiring.project import Project, open_store
from ralph.workflows.feature import FeatureWorkflow
from ralph.workflows.planning_task import PlanningTask, planning_tasks_of, run_planning_task
from ralph.workflows.synced_documents import sync_documents

MakePlanningTask = Callable[[FeatureWorkflow, Feature], PlanningTask]
REQUEST = (
    exclusive(
        option("--request", "TEXT", "what is wanted; - reads standard input"),
        option("--file", "FILE", "the same from a file"),
    ),
    flag("-y", "--yes", "do not ask; a session does it alone"),
)


@contextmanager
def open_features(project: Project) -> Iterator[FeatureWorkflow]:
    with open_store(project) as store:
        yield FeatureWorkflow(store=store, root=project.root)


@command(FEATURE, *REQUEST, *SESSION)
def spec(args: Namespace) -> int:
    """Write the specification of a feature, in an interactive session with an agent.

    The agent takes over the terminal, asks, and writes `.ralph/features/FEATURE/spec.md`; where
    there is one already, it goes on from it. With `--yes`, or without a terminal, a session writes
    it alone from what `--request`, `--file` or standard input says.

    examples:
      ralph feature spec login
      ralph feature spec login --agent claude --model opus
      ralph feature spec login --yes --request "sign in with a link that is sent by mail"
      ralph feature spec login --yes --file idea.md
    """
    project = open_project(settings_of(args))
    return _print_next(project, args, _write(project, args, FeatureDocument.SPEC, _request(args)))


@command(FEATURE, *REQUEST, *SESSION)
def plan(args: Namespace) -> int:
    """Plan how a feature is built, in an interactive session with an agent.

    It needs the spec. The agent takes over the terminal and writes
    `.ralph/features/FEATURE/plan.md`; where there is one already, it goes on from it. With `--yes`,
    or without a terminal, a session writes it alone.

    examples:
      ralph feature plan login
      ralph feature plan login --yes
      ralph feature plan login --yes --request "start with the mail queue"
    """
    project = open_project(settings_of(args))
    return _print_next(project, args, _write(project, args, FeatureDocument.PLAN, _request(args)))


@command(FEATURE, *SESSION)
def build(args: Namespace) -> int:
    """Break a feature down into tasks.

    It needs the spec and the plan. A session reads both and adds tasks, and what each has to wait
    for, below a root task; nothing is built yet. The root is blocked until all of them exist.

    examples:
      ralph feature build login
      ralph feature build login --model opus
    """
    project = open_project(settings_of(args))
    return _print_next(project, args, _add_tasks(project, args))


@command(FEATURE, *REQUEST, *SESSION)
def create(args: Namespace) -> int:
    """Take a feature from an idea to its tasks: spec, plan and build in a row.

    A step whose result exists is left out, so it continues where it stopped. With `--yes`, or
    without a terminal, sessions do all three alone.

    examples:
      ralph feature create login
      ralph feature create login --yes --request "sign in with a link that is sent by mail"
      ralph feature create login --yes --file idea.md
    """
    project = open_project(settings_of(args))
    # Once there is a spec, it says what is wanted.
    for document in FeatureDocument:
        request = _request(args) if document is FeatureDocument.SPEC else ""
        feature = _feature(project, args, FeatureWorkflow.open)
        is_missing = getattr(feature, f"{document}_path") is None
        if is_missing and (code := _write(project, args, document, request)):
            return code
    return _print_next(project, args, _add_tasks(project, args))


def _request(args: Namespace) -> str:
    """The request: an option, a file, or a standard input that is not a terminal."""
    if args.file is not None:
        return read_text(args.file)
    if args.request == "-" or (args.request is None and not can_ask()):
        return read_text("-")
    return (args.request or "").strip()


def _feature(
    project: Project, args: Namespace, find: Callable[[FeatureWorkflow, str], Feature]
) -> Feature:
    with open_features(project) as features:
        return find(features, args.name)


def _write(project: Project, args: Namespace, document: FeatureDocument, request: str) -> int:
    """Write the spec or the plan, in a session alone or together with the person."""
    if document is FeatureDocument.PLAN:
        with open_features(project) as features:
            features.require_spec(features.find(args.name))
    if is_alone(args):
        return _run_alone(
            project, args, lambda them, feature: them.document_task(feature, document, request)
        )
    return _run_together(project, args.name, request, document)


def _add_tasks(project: Project, args: Namespace) -> int:
    with open_features(project) as features:
        feature = features.find(args.name)
        root = features.decomposed_root(feature)
        if root is not None:
            print(f"{one_line(feature.name)} is broken down into tasks already")
            _print_tasks(args, project, features.store, root)
            print()
            return 0
        features.require_plan(feature)
    code = _run_alone(project, args, lambda them, feature: them.build_task(feature))
    if code == 0:
        with open_features(project) as features:
            root = features.release(features.find(args.name))
            _print_tasks(args, project, features.store, root)
        print()
    return code


def _run_alone(project: Project, args: Namespace, make: MakePlanningTask) -> int:
    args.json = False
    with open_features(project) as features, features.open_first_step(args.name) as feature:
        planned = make(features, feature)
    with open_run(project, args, planning_target(project, planned), planned.command) as ctx:
        features = FeatureWorkflow(store=ctx.store, root=project.root)
        synced = sync_documents(ctx, project.config.execution.max_retries)
        ended = run_planning_task(synced, make(features, features.open(args.name)))
        features.open(args.name)
    return ended.exit_code


def _run_together(project: Project, name: str, request: str, document: FeatureDocument) -> int:
    """Run an interactive session that writes a document."""
    with open_features(project) as features:
        facts = features.facts_of(features.open(name), request)
    code = run_interactive(project, partial(interactive_document_prompt, facts, document))
    with open_features(project) as features:
        feature = features.open(name)
    path = getattr(feature, f"{document}_path")
    if path is None:
        said = f"no {document} was written: there is no {facts.paths[document]}"
        raise nothing_written(code, said, f"ralph feature {document} {quote(name)} goes on")
    print(f"{document}: {one_line(path)}")
    return 0


def _print_next(project: Project, args: Namespace, code: int) -> int:
    """After a step that ended well, print where the feature is and what follows."""
    if code == 0:
        feature = _feature(project, args, FeatureWorkflow.find)
        print(f"{one_line(feature.name)} is {feature.status.value}")
        print(f"next: {_next_step(feature)}")
    return code


def _next_step(feature: Feature) -> str:
    name = quote(feature.name)
    if feature.status in (FeatureStatus.DRAFT, FeatureStatus.PLANNED):
        if feature.spec_path is None:
            return f"ralph feature spec {name}"
        if feature.plan_path is None:
            return f"ralph feature plan {name}"
    match feature.status:
        case FeatureStatus.DONE:
            return "nothing, all of its tasks are done"
        case FeatureStatus.FAILED:
            return f"ralph task list --feature {name} --status failed"
        case FeatureStatus.DRAFT | FeatureStatus.PLANNED:
            return f"ralph feature build {name}"
        case FeatureStatus.READY | FeatureStatus.RUNNING:
            return f"ralph run {name}"


def _print_tasks(args: Namespace, project: Project, store: Store, root: Task) -> None:
    """Print counts and the tree of tasks."""
    tasks = store.tasks.subtree(root.id)
    waits = sum(map(len, store.tasks.blocker_ids([task.id for task in tasks]).values()))
    assert root.feature_id is not None
    counts = store.claims.counts(OneFeature(root.feature_id, ""))
    ready = len(store.tasks.select(TaskFilter(feature=root.feature_id, ready=True)))
    parents = {task.parent_id for task in tasks}
    leaves = count_text(sum(task.id not in parents for task in tasks), "task")
    print(f"{leaves}, {count_text(waits, 'dependency')}, {ready} ready, {counts.done} done")
    print()
    print_tree(tasks, TerminalStyle(args, project))


@command(JSON)
def list_features(args: Namespace) -> None:
    """List features and how far their tasks have come.

    examples:
      ralph feature list
    """
    with project_with_store() as (project, store):
        features = [(feature, _counts(store, feature)) for feature in store.features.all()]
    if args.json:
        print_json_array(asdict(one) | {"tasks": counts} for one, counts in features)
    elif not features:
        print("no features; `ralph feature create NAME` makes one")
    else:
        headers = ("ID", "NAME", "STATUS", "DONE", "FAILED", "BLOCKED")
        rows = (
            (one.id, one.name, one.status, f"{n.done}/{n.total}", str(n.failed), str(n.blocked))
            for one, n in features
        )
        print_table(TerminalStyle(args, project), headers, rows)


def _counts(store: Store, feature: Feature) -> Counts:
    return store.claims.counts(OneFeature(feature.id, feature.name))


@command(FEATURE, JSON)
def show(args: Namespace) -> None:
    """Show a feature: its documents, its tasks, what it has cost, and what comes next.

    examples:
      ralph feature show login
    """
    project = open_project()
    with open_features(project) as features:
        store, feature = features.store, features.find(args.name)
        counts = _counts(store, feature)
        roots = _roots(store, feature)
        costs = (store.costs.total(CostFilter(task=root)) for root in roots)
        spent = sum(costs, start=CostSummary())
        tasks = [] if args.json else [task for root in roots for task in store.tasks.subtree(root)]
    if args.json:
        print_json(asdict(feature) | {"tasks": counts, "roots": roots, "spent": spent})
        return
    style = TerminalStyle(args, project)
    done = f"{counts.done} of {counts.total} done, {counts.failed} failed"
    fields = {
        "status": feature.status.value,
        "spec": one_line(feature.spec_path or "none"),
        "plan": one_line(feature.plan_path or "none"),
        "tasks": done if counts.total else "none",
        "cost": str(spent) if spent.sessions else "",
        "created": format_local(feature.created_at),
        "updated": format_local(feature.updated_at),
    }
    print(style.bold(f"{feature.id}  {one_line(feature.name)}"))
    print("\n".join(field_lines(fields)))
    if tasks:
        print()
        print_tree(tasks, style)
    print()
    print(f"next: {_next_step(feature)}")


def _roots(store: Store, feature: Feature) -> list[TaskId]:
    tasks = store.tasks.select(TaskFilter(feature=feature.id))
    known = {task.id for task in tasks}
    return [task.id for task in tasks if task.parent_id not in known]


@command(FEATURE, flag("--keep-documents", "leave its spec and its plan where they are"), YES)
def delete(args: Namespace) -> None:
    """Delete a feature: its tasks, everything below them, and its documents.

    examples:
      ralph feature delete login
      ralph feature delete login --yes --keep-documents
    """
    with open_features(open_project()) as features:
        store, feature = features.store, features.find(args.name)
        counts, name = _counts(store, feature), one_line(feature.name)
        if counts.in_progress and not args.yes:
            raise UsageError(
                f"a task of {name} is in progress, so deleting it stops the running session",
                hint="add --yes if you mean it",
            )
        documents = [] if args.keep_documents else features.documents(feature)
        for path in documents:
            print(one_line(path), file=sys.stderr)
        files = f" and {len(documents)} of its documents" if documents else ""
        confirm(args, f"deleting {name}, {count_text(counts.total, 'task')}{files}")
        gone = store.features.delete(feature.id)
        for task in planning_tasks_of(store, feature.name):
            store.tasks.delete(task)
        if documents:
            features.remove_documents(feature)
    print(f"deleted {name} and {len(gone)} of its tasks")
