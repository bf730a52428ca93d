"""Commands that list private checkouts, and clear away what is needed no more."""

import sys
from argparse import Namespace

import msgspec

from ralph.cli.command import command, flag, option
from ralph.cli.options import JSON, NO_SANDBOX, YES, json_option, settings_of
from ralph.cli.output import format_local, print_json, print_list
from ralph.cli.project_access import open_project, project_with_store
from ralph.cli.prompts import confirm
from ralph.config.project import Project
from ralph.core.errors import Busy, Missing
from ralph.core.ids import TaskId
from ralph.core.resource_limits import format_size
from ralph.core.retention import RetainedFiles
from ralph.core.safe_text import one_line
from ralph.core.task import OPEN, TaskStatus
from ralph.core.times import to_iso
from ralph.store.store import Store
from ralph.ui.formatting import count_text
from ralph.wiring.git_access import found_checkouts, open_task_checkouts
from ralph.wiring.project import open_store
from ralph.wiring.retention import removable_files, remove_files


class CheckoutRow(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    kind: str
    path: str
    since: str
    size_bytes: int
    in_use: bool
    task: str | None
    status: str | None
    title: str

    @property
    def is_unneeded(self) -> bool:
        """Whether its task is settled, or a crash has left it."""
        if self.in_use or self.kind == "broken":
            return False
        return self.kind != "task" or self.status is None or TaskStatus(self.status) not in OPEN


def _checkouts(store: Store, project: Project) -> list[CheckoutRow]:
    rows = []
    for found in found_checkouts(project):
        task = store.tasks.get(TaskId(found.name)) if found.kind == "task" else None
        row = CheckoutRow(
            name=found.name,
            kind=found.kind,
            path=found.path,
            since=to_iso(found.since_s),
            size_bytes=found.size_bytes,
            in_use=found.in_use,
            task=task.id if task else None,
            status=task.status.value if task else None,
            title=task.title if task else "",
        )
        rows.append(row)
    return rows


@command(JSON)
def list_checkouts(args: Namespace) -> None:
    """List the private checkouts with their tasks, ages and sizes.

    examples:
      ralph workspace list
      ralph workspace list --json | jq -r .[].path
    """
    with project_with_store() as (project, store):
        found = _checkouts(store, project)

    def row(one: CheckoutRow) -> tuple[str, ...]:
        since, size = format_local(one.since), format_size(one.size_bytes)
        return one.name, one.status or one.kind, since, size, one.title

    headers = ("NAME", "STATUS", "SINCE", "SIZE", "TITLE")
    none = "no private checkouts; several workers have one for each task"
    print_list(args, project, found, headers, row, none=none)
    if found and not args.json:
        print(f"{format_size(sum(one.size_bytes for one in found))} in all")


@command(option("names", "NAME", "as `ralph workspace list` has them", nargs="*"), NO_SANDBOX, YES)
def clean_checkouts(args: Namespace) -> None:
    """Remove private checkouts of finished tasks and of crashes.

    Work that is neither merged nor saved is kept under refs/ralph/kept/ first. Name checkouts to
    remove just these, whatever the state of their tasks. A broken one is removed only by name: its
    files are saved nowhere else.

    examples:
      ralph workspace clean
      ralph workspace clean t-4f2a1b --yes
    """
    project = open_project(settings_of(args))
    with open_task_checkouts(project) as checkouts:
        with open_store(project) as store:
            gone = _chosen(_checkouts(store, project), args.names)
        if not gone:
            print("nothing to remove")
            return
        if not args.yes:
            lines = [f"  {one.name}  {format_size(one.size_bytes)}  {one.title}" for one in gone]
            print("removed, with their work saved:", *lines, sep="\n", file=sys.stderr)
        confirm(args, f"removing {count_text(len(gone), 'checkout')}")
        for one in gone:
            if one.kind == "task":
                checkouts.close(TaskId(one.name))
            else:
                checkouts.remove_folder(one.name)
        checkouts.remove_leftovers()
    size = format_size(sum(one.size_bytes for one in gone))
    print(f"removed {', '.join(one.name for one in gone)}: {size}")


def _chosen(found: list[CheckoutRow], names: list[str]) -> list[CheckoutRow]:
    if not names:
        return [one for one in found if one.is_unneeded]
    known = {one.name: one for one in found}
    for name in names:
        if name not in known:
            hint = "`ralph workspace list` names what there is"
            raise Missing(f"there is no checkout {name}", hint=hint)
        if known[name].in_use:
            raise Busy(f"another process works in {name}", hint="wait for it")
    return [known[name] for name in dict.fromkeys(names)]


@command(
    flag("-n", "--dry-run", "show what would be removed, and remove nothing"),
    YES,
    json_option("print an array of what is removed, each with name, paths and bytes"),
)
def clean(args: Namespace) -> None:
    """Remove logs and other records of sessions that are older or larger than [retention] allows.

    Every run does the same when it ends. Records of open tasks and running runs stay, and so does
    all work: commits, refs/ralph, backups. `ralph workspace clean` removes checkouts.

    examples:
      ralph clean --dry-run
    """
    with project_with_store() as (project, store):
        gone = removable_files(project, store)
        size = format_size(sum(one.bytes for one in gone))
        what = f"the files of {count_text(len(gone), 'session')}: {size}"
        if not args.dry_run and gone:
            if not args.yes:
                print(*map(_line, gone), sep="\n", file=sys.stderr)
            confirm(args, f"removing {what}")
            remove_files(project, gone)
    if args.json:
        print_json(gone)
    elif not gone:
        print("nothing to remove")
    elif args.dry_run:
        print(*map(_line, gone), f"would remove {what}", sep="\n")
    else:
        print(f"removed {what}")


def _line(one: RetainedFiles) -> str:
    failed = "  failed attempt" if one.is_failed else ""
    changed = format_local(to_iso(one.changed_at))
    return f"  {one_line(one.name, 80)}  {changed}  {format_size(one.bytes)}{failed}"
