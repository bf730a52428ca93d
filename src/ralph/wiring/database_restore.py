"""Restore a lost database from a backup, or start with an empty one."""

import os
from contextlib import ExitStack, closing

import msgspec

from ralph.adapters.executor.own_process import is_alive
from ralph.adapters.sqlite.backups import Backup
from ralph.adapters.sqlite.database import open_sqlite_store
from ralph.adapters.workspace.locks import CheckoutLock
from ralph.core.errors import Busy, RalphError, UsageError
from ralph.core.task import TaskStatus
from ralph.core.times import from_iso, to_iso
from ralph.git_layout import find_layout, top_of
from ralph.wiring.git_access import open_branch_history
from ralph.wiring.project import Project, backups_of, open_store

MARGIN_S = 86_400.0
"""Clocks differ: a commit may look older than the copy that does not know it."""


class LandedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task whose work is on the branch, while the restored database has it open."""

    task_id: str
    commit: str
    status: str
    """Empty for a task that the copy does not know."""


class RestoreResult(msgspec.Struct, frozen=True, kw_only=True):
    backup: Backup
    aside: str
    """Where the damaged file is now; empty where there was none."""
    landed: list[LandedTask]


def restore_database(project: Project, backup: str | None) -> RestoreResult:
    """Put a copy in the place of the database, while no run is at work."""
    _refuse_server(project)
    with open_branch_history(project) as past:
        _refuse_while_in_use(project)
        chosen, aside = backups_of(project).restore(project.database, backup)
        with open_store(project) as store:
            landed = past.landed_tasks(to_iso(from_iso(chosen.made_at) - MARGIN_S))
            known = {task: store.tasks.get(task) for task in landed}
    return RestoreResult(
        backup=chosen,
        aside=aside,
        landed=[
            LandedTask(task_id=task, commit=commit, status=found.status.value if found else "")
            for task, commit in landed.items()
            if (found := known[task]) is None or found.status is not TaskStatus.DONE
        ],
    )


def _refuse_server(project: Project) -> None:
    if project.store_address:
        raise UsageError(
            f"the tasks are in {project.store_name}, which Ralph does not replace",
            hint="the administrator of the server has its backups",
        )


def _refuse_while_in_use(project: Project) -> None:
    """A run of another checkout may use it, too. A database that cannot be opened has no users."""
    if not os.path.isfile(project.database) or not os.path.getsize(project.database):
        return
    try:
        with closing(open_sqlite_store(project.database)) as store:
            runs = store.runs.live()
    except RalphError:
        return
    for run, owner in runs:
        if is_alive(owner) is True:
            raise Busy(f"run {run.id} is at work with it", hint="`ralph stop` ends the run first")


def new_database(project: Project) -> str:
    """Make an empty database, and expect no more; return where what is left of the old one is."""
    _refuse_server(project)
    with ExitStack() as stack:
        if top := top_of(project.root):
            stack.enter_context(CheckoutLock(find_layout(top).git_dir, "init"))
        _refuse_while_in_use(project)
        backups = backups_of(project)
        backups.forget()
        aside = backups.move_aside(project.database)
        # Made here: other files still show that there was one.
        open_sqlite_store(project.database).close()
        return aside
