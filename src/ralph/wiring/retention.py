"""What of Ralph's own records is no longer kept, by the settings."""

import os
import time
from functools import cache

import msgspec

from ralph.adapters.library.run_files import found_in, group_of, remove, run_of
from ralph.core.errors import NoSuchTask
from ralph.core.ids import RunId, TaskId
from ralph.core.retention import Kept, Limits, going
from ralph.core.task import Status
from ralph.ports.store import Store
from ralph.wiring.project import Project

OPEN = (Status.PENDING, Status.IN_PROGRESS, Status.BLOCKED)
MIB = 1 << 20


def removable(project: Project, store: Store) -> list[Kept]:
    """The files of sessions that are too old, too many or too large, and what was moved aside long
    ago. Never what an open task, or a run at work, may still need."""
    set_ = project.loaded.config.retention
    limits = Limits(
        days=set_.days,
        failed_days=set_.failed_days,
        count=set_.sessions,
        bytes=set_.megabytes * MIB,
    )
    now = time.time()
    found = list(found_in(project.runs_dir))
    aside = [msgspec.structs.replace(one, is_failed=True) for one in found_in(_aside(project))]
    old = going(aside, Limits(failed_days=limits.failed_days), now)
    soonest = min((days for days in (limits.days, limits.failed_days) if days), default=0)
    # Without asking the store for anything: at the end of most runs there is nothing to do.
    if not going(found, msgspec.structs.replace(limits, days=soonest), now):
        return old
    return [*going(_judged(found, store), limits, now), *old]


def clean_up(project: Project, store: Store) -> list[Kept]:
    """Remove them."""
    gone = removable(project, store)
    if gone:
        remove(gone, project.runs_dir)
    return gone


def _aside(project: Project) -> str:
    return os.path.join(project.state, ".tmp", "planted")


def _judged(found: list[Kept], store: Store) -> list[Kept]:
    """The same, with what the store knows about their sessions."""
    live = {run.id for run, _ in store.live_runs()}

    @cache
    def status(task: TaskId) -> tuple[Status | None, int]:
        try:
            one = store.find(task)
        except NoSuchTask:
            return None, 0
        return one.status, one.attempt

    @cache
    def of_run(run: RunId) -> dict[str, tuple[bool, bool]]:
        known = {}
        for session in store.sessions(run=run):
            now, attempt = status(session.task_id)
            counted = now is Status.DONE and session.attempt == attempt
            known[group_of(os.path.basename(session.log))] = (not counted, now in OPEN)
        return known

    judged = []
    for one in found:
        run = RunId(run_of(one.name))
        is_failed, is_needed = of_run(run).get(one.name, (False, False)) if run else (False, False)
        judged.append(
            msgspec.structs.replace(one, is_failed=is_failed, is_needed=is_needed or run in live)
        )
    return judged
