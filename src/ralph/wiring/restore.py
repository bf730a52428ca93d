"""A lost database brought back from a copy, or replaced by an empty one."""

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING

import msgspec

from ralph.core.errors import Busy, NoSuchTask, RalphError
from ralph.core.moment import epoch, iso
from ralph.core.task import Status, Task
from ralph.ports.store import Store
from ralph.wiring.project import Project, backups_of, open_store

if TYPE_CHECKING:
    from ralph.adapters.store.backups import Backup

MARGIN_S = 86_400.0
"""Clocks differ: a commit may look older than the copy that does not know it."""


class Landed(msgspec.Struct, frozen=True, kw_only=True):
    """A task whose work is on the branch, while the restored database has it open."""

    task_id: str
    commit: str
    status: str
    """Empty for a task that the copy does not know."""


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """What was done."""

    backup: "Backup"
    aside: str
    """Where the damaged file is now; empty where there was none."""
    landed: list[Landed]


def restore(project: Project, backup: str | None) -> Restored:
    """Put a copy in the place of the database, while no run is at work."""
    from ralph.wiring.past import the_past

    with the_past(project) as past:
        _refuse_while_in_use(project)
        chosen, aside = backups_of(project).restore(project.database, backup)
        store = open_store(project)
        try:
            landed = past.landed(iso(epoch(chosen.made_at) - MARGIN_S))
            known = {task: _find(store, task) for task in landed}
        finally:
            store.close()
    return Restored(
        backup=chosen,
        aside=aside,
        landed=[
            Landed(task_id=task, commit=commit, status=found.status.value if found else "")
            for task, commit in landed.items()
            if (found := known[task]) is None or found.status is not Status.DONE
        ],
    )


def _find(store: Store, task: str) -> Task | None:
    try:
        return store.find(task)
    except NoSuchTask:
        return None


def _refuse_while_in_use(project: Project) -> None:
    """A run of another checkout may use it, too. A database that cannot be opened has no users."""
    from ralph.adapters.executor.clock import SystemClock
    from ralph.adapters.executor.identity import is_alive
    from ralph.adapters.store.sqlite import SqliteStore

    if not os.path.isfile(project.database) or not os.path.getsize(project.database):
        return
    try:
        store = SqliteStore.open(project.database, SystemClock())
    except RalphError:
        return
    try:
        runs = store.live_runs()
    except RalphError:
        return
    finally:
        store.close()
    for run, owner in runs:
        if is_alive(owner) is True:
            raise Busy(f"run {run.id} is at work with it", hint="`ralph stop` ends the run first")


def start_anew(project: Project) -> str:
    """Make an empty database, and expect no more; return where what is left of the old one is."""
    from ralph.adapters.executor.clock import SystemClock
    from ralph.adapters.store.sqlite import SqliteStore
    from ralph.adapters.workspace.layout import layout, top_of
    from ralph.adapters.workspace.lock import CheckoutLock

    with ExitStack() as stack:
        if top := top_of(project.root):
            stack.enter_context(CheckoutLock(layout(top).git_dir, "init"))
        _refuse_while_in_use(project)
        backups = backups_of(project)
        backups.forget()
        aside = backups.move_aside(project.database)
        # Made here: other files still show that there was one.
        SqliteStore.open(project.database, SystemClock()).close()
        return aside
