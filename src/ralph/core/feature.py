"""How far a feature has come: kept by Ralph, from its documents and from what becomes of its
tasks."""

import msgspec

from ralph.core.task import FeatureStatus


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """Which kinds of tasks a feature has."""

    pending: bool = False
    in_progress: bool = False
    done: bool = False
    blocked: bool = False
    failed: bool = False
    top_open: bool = False
    """Of those that are part of no other, one is pending or in progress."""
    top_blocked: bool = False
    top_failed: bool = False


def feature_status(work: Work, *, has_plan: bool) -> FeatureStatus:
    """`draft`, `planned` with a plan, `ready` with tasks, `running` once one of them was begun,
    then `done`, or `failed`: also when its root has failed, since what is left cannot run."""
    is_open = work.pending or work.in_progress or work.blocked
    if not is_open:
        if work.failed:
            return FeatureStatus.FAILED
        if work.done:
            return FeatureStatus.DONE
        return _without_tasks(has_plan=has_plan)
    if work.top_failed and not (work.top_open or work.top_blocked or work.in_progress):
        return FeatureStatus.FAILED
    if work.in_progress or work.done or work.failed:
        return FeatureStatus.RUNNING
    # A root that is held back has not got all of its tasks yet.
    is_held = work.top_blocked and not work.top_open
    return _without_tasks(has_plan=has_plan) if is_held else FeatureStatus.READY


def _without_tasks(*, has_plan: bool) -> FeatureStatus:
    return FeatureStatus.PLANNED if has_plan else FeatureStatus.DRAFT
