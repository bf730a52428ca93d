"""Remove old records as `[retention]` says."""

import os
import time
from functools import cache

import msgspec

from ralph.adapters.project_files.run_files import (
    group_of,
    remove,
    removed_from,
    run_of,
    session_files_in,
)
from ralph.config.project import Project
from ralph.core.ids import RunId, TaskId
from ralph.core.retention import RetainedFiles, RetentionLimits, files_to_remove
from ralph.core.task import OPEN, TaskStatus
from ralph.store.store import Store

MIB = 1 << 20


def removable_files(project: Project, store: Store) -> list[RetainedFiles]:
    """The files of sessions that are too old, too many or too large, and what was moved aside long
    ago. Never what an open task, or a run at work, may still need."""
    set_ = project.config.retention
    limits = RetentionLimits(
        days=set_.days,
        failed_days=set_.failed_days,
        count=set_.sessions,
        bytes=set_.megabytes * MIB,
    )
    now = time.time()
    found = list(session_files_in(project.runs_dir))
    planted = session_files_in(os.path.join(project.temp, "planted"), starts=("",))
    aside = [msgspec.structs.replace(one, is_failed=True) for one in planted]
    old = files_to_remove(aside, RetentionLimits(failed_days=limits.failed_days), now)
    soonest = min((days for days in (limits.days, limits.failed_days) if days), default=0)
    # Without asking the store for anything: at the end of most runs there is nothing to do.
    if not files_to_remove(found, msgspec.structs.replace(limits, days=soonest), now):
        return old
    return [*files_to_remove(_judged(found, store), limits, now), *old]


def remove_files(project: Project, files: list[RetainedFiles]) -> None:
    """Remove files of sessions, and remember that they were removed."""
    if files:
        remove(files, project.runs_dir)


def was_removed(path: str) -> bool:
    """Whether a file of a session was removed for its age or size."""
    folder, name = os.path.split(path)
    return group_of(name) in removed_from(folder)


def _judged(found: list[RetainedFiles], store: Store) -> list[RetainedFiles]:
    """The same, with what the store knows about their sessions."""
    live = {run.id for run, _ in store.runs.live()}

    @cache
    def status(task: TaskId) -> tuple[TaskStatus | None, int]:
        one = store.tasks.get(task)
        return (None, 0) if one is None else (one.status, one.attempt)

    @cache
    def of_run(run: RunId) -> dict[str, tuple[bool, bool]]:
        known = {}
        for session in store.sessions.select(run=run):
            now, attempt = status(session.task_id)
            counted = now is TaskStatus.DONE and session.attempt == attempt
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
