"""What a team does: the task of each worker, the merge queue and the results."""

import os

import msgspec
from msgspec.structs import replace

from ralph.core.breaker import Breaker, describe_breaker
from ralph.core.ids import TaskId
from ralph.core.safe_text import one_line
from ralph.store.runs import Run, SlotResults
from ralph.store.store import Store
from ralph.ui.agent_activity import Activity, ActivityKind
from ralph.ui.run_view import RunView
from ralph.ui.session_stream import MOST_BYTES, FileTail, decode_events, stream_of
from ralph.ui.team_view import TaskProgress, TaskStage


class WorkerOverview(msgspec.Struct, frozen=True, kw_only=True):
    slot: str
    is_present: bool
    task: TaskId | None = None
    name: str = ""
    title: str = ""
    attempt: int = 0
    elapsed_s: float | None = None
    stage: str = ""
    doing: str = ""
    """The last that its session said or did."""
    log: str = ""
    sessions: int = 0
    accepted: int = 0
    rejected: int = 0
    breaker: str = "closed"
    reason: str = ""
    """Why the worker left, or why its breaker is open."""


class TeamOverview(msgspec.Struct, frozen=True, kw_only=True):
    """A team at work, or the results of one whose run has ended."""

    workers: list[WorkerOverview] = []
    merging: str = ""
    """The worker whose work is being merged."""
    queue: list[str] = []
    """Workers whose work waits for that, longest first."""
    merges: int = 0
    conflicts: int = 0
    deaths: int = 0


def read_team(store: Store, root: str, run: Run, run_view: RunView, now: float) -> TeamOverview:
    """Read the state of the team of a run."""
    team, results, breakers = run_view.team, store.workers.results(run.id), store.breakers.all()
    shares = {share.slot: share for share in results.shares}
    workers = []
    for row, task in team.rows():
        share = shares.get(row.name, SlotResults(slot=row.name))
        breaker = breakers.get(row.name, Breaker())
        worker = WorkerOverview(
            slot=row.name,
            is_present=row.worker is not None,
            sessions=share.sessions,
            accepted=share.accepted,
            rejected=share.rejected,
            breaker=breaker.state.value,
            reason=row.left if breaker.is_closed else describe_breaker(breaker),
            stage="" if row.worker is None else "waits" if run_view.wait else "waits for work",
        )
        workers.append(_busy(root, worker, task, now) if task else worker)
    return TeamOverview(
        workers=workers,
        merging=team.merging.worker if team.merging else "",
        queue=[task.worker for task in team.queue],
        merges=results.merges,
        conflicts=results.conflicts,
        deaths=results.deaths,
    )


def _busy(root: str, worker: WorkerOverview, task: TaskProgress, now: float) -> WorkerOverview:
    speaks = task.stage in (TaskStage.WORKING, TaskStage.CHECKING, TaskStage.IN_REVIEW)
    return replace(
        worker,
        task=task.task_id,
        name=task.name,
        title=task.title,
        attempt=task.attempt,
        # Clocks may be set back.
        elapsed_s=None if task.since is None else max(0.0, now - task.since),
        stage=task.doing or task.stage.value,
        doing=last_action(os.path.join(root, task.log)) if speaks and task.log else "",
        log=task.log,
    )


def last_action(log: str) -> str:
    """The last that a session said or did, in one line."""
    activity = Activity()
    for event in decode_events(FileTail(stream_of(log), newest=MOST_BYTES).lines() or b""):
        activity.add(event)
    if not activity.actions:
        return ""
    last = activity.actions[-1]
    is_text = last.kind is ActivityKind.TEXT
    text = last.text.strip().rpartition("\n")[2] if is_text else last.text.strip()
    return " ".join(filter(None, (last.tool, one_line(text, 200))))
