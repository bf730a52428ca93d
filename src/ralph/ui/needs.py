"""What needs a person: tasks, findings, plans, breakers, logins and pauses, each with the commands
that answer it."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from shlex import quote
from typing import Final

import msgspec

from ralph.core.breaker import Breaker, describe_breaker
from ralph.core.ids import RunId, TaskId
from ralph.core.run import WaitKind
from ralph.core.safe_text import one_line
from ralph.core.session_ending import EndingKind
from ralph.core.task import Task, TaskStatus
from ralph.ports.merge_branch import BranchBehind
from ralph.store.runs import Run
from ralph.store.store import Store
from ralph.ui.formatting import first_line
from ralph.ui.run_view import RunWait

LOOKED_AT: Final = 50
"""Sessions, the newest: whether an agent's login works shows in its last one."""
LOGIN_ENDINGS: Final = (EndingKind.AUTH_EXPIRED, EndingKind.BILLING)


class NeedKind(StrEnum):
    LOGIN = "login"
    BREAKER = "breaker"
    PAUSE = "pause"
    BRANCH = "branch"
    PLAN = "plan"
    FAILED = "failed"
    BLOCKED = "blocked"
    FINDING = "finding"


class NeedAction(StrEnum):
    """What a person can do about it; each is a command of Ralph, or of git where that is said."""

    RETRY = "retry"
    UNBLOCK = "unblock"
    SKIP = "skip"
    LOOK = "look"
    """Read the log, the plan or the review."""
    APPLY = "apply"
    """Bring the kept work back."""
    APPROVE = "approve"
    RESET = "reset"
    RESUME = "resume"
    RUN = "run"
    DISMISS = "dismiss"
    MERGE = "merge"
    """With git, in a shell: it may ask for an editor, or leave conflicts."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    action: NeedAction
    command: str
    """As a person types it."""


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that waits for a person. Its texts are one line each, safe to show."""

    kind: NeedKind
    subject: str
    """A task's name, an agent, a worker, a plan or a run."""
    title: str = ""
    reason: str = ""
    task_id: TaskId | None = None
    run_id: RunId | None = None
    finding: str = ""
    """The finding's name in its task's review, such as F2."""
    since: str = ""
    answers: tuple[Answer, ...] = ()


class WaitingPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A plan that is written and not approved."""

    name: str
    path: str
    approve: str
    """The command that approves it."""


def needs_of(
    store: Store,
    *,
    breakers: Mapping[str, Breaker],
    plans: Sequence[WaitingPlan],
    behind: Sequence[BranchBehind],
    live: Sequence[Run],
    wait: RunWait | None,
    limit: int,
) -> tuple[Need, ...]:
    """What needs a person, what stops everything first; at most `limit` of each kind."""
    return (
        *_logins(store),
        *(_breaker(slot, one) for slot, one in breakers.items()),
        *(_pause(run, wait) for run in live[:1] if wait is not None and _is_pause(wait)),
        *map(_branch, behind[:limit]),
        *map(_plan, plans[:limit]),
        *(_failed(store, one) for one in store.screens.stuck(TaskStatus.FAILED, limit)),
        *map(_blocked, store.screens.stuck(TaskStatus.BLOCKED, limit)),
        *_findings(store, limit),
    )


def _is_pause(wait: RunWait) -> bool:
    return wait.until is None and wait.kind in (WaitKind.PAUSED, WaitKind.ANSWER)


def _logins(store: Store) -> Iterator[Need]:
    for one in store.screens.newest_endings(LOOKED_AT).values():
        if one.ended in LOGIN_ENDINGS:
            yield Need(
                kind=NeedKind.LOGIN,
                subject=one_line(one.agent, 40),
                reason=first_line(one.detail) or one.ended.replace("_", " "),
                since=one.at,
                answers=(_answer(NeedAction.LOOK, "ralph agents list"), _RUN),
            )


def _breaker(slot: str, breaker: Breaker) -> Need:
    return Need(
        kind=NeedKind.BREAKER,
        subject=one_line(slot, 40),
        reason=first_line(describe_breaker(breaker)),
        task_id=breaker.task,
        answers=(_answer(NeedAction.RESET, "ralph breaker reset"),),
    )


def _pause(run: Run, wait: RunWait) -> Need:
    return Need(
        kind=NeedKind.PAUSE,
        subject=run.id,
        reason=wait.reason,
        run_id=run.id,
        answers=(_answer(NeedAction.RESUME, "ralph resume"),),
    )


def _branch(behind: BranchBehind) -> Need:
    return Need(
        kind=NeedKind.BRANCH,
        subject=one_line(behind.branch, 80),
        reason="your branch is behind what was built on it",
        answers=(_answer(NeedAction.MERGE, behind.command),),
    )


def _plan(plan: WaitingPlan) -> Need:
    return Need(
        kind=NeedKind.PLAN,
        subject=one_line(plan.name, 80),
        reason=f"{one_line(plan.path, 200)} waits for your approval",
        answers=(_answer(NeedAction.APPROVE, plan.approve),),
    )


def _failed(store: Store, task: Task) -> Need:
    looks = [_answer(NeedAction.LOOK, f"ralph logs {quote(task.name)}")] if task.attempt else []
    kept = store.events.kept_work(task.id)
    back = [_answer(NeedAction.APPLY, f"ralph task apply {quote(task.name)}")] if kept else []
    retry = _answer(NeedAction.RETRY, f"ralph task retry {quote(task.name)}")
    return _of_task(NeedKind.FAILED, task, *looks, retry, *back)


def _blocked(task: Task) -> Need:
    unblock = _answer(NeedAction.UNBLOCK, f"ralph task unblock {quote(task.name)}")
    return _of_task(NeedKind.BLOCKED, task, unblock)


def _of_task(kind: NeedKind, task: Task, *answers: Answer) -> Need:
    return Need(
        kind=kind,
        subject=one_line(task.name, 40),
        title=one_line(task.title, 300),
        reason=first_line(task.reason),
        task_id=task.id,
        since=task.updated_at,
        answers=answers,
    )


def _findings(store: Store, limit: int) -> Iterator[Need]:
    for one in store.screens.disputes(limit):
        look = f"ralph review list {quote(one.name)}"
        agree = f"ralph task dismiss {quote(one.name)} {quote(one.finding)} agreed"
        yield Need(
            kind=NeedKind.FINDING,
            subject=one_line(one.name, 40),
            title=one_line(one.title, 300),
            reason=f"{one_line(one.finding, 20)} dismissed by {one_line(one.by, 60)}:"
            f" {first_line(one.reason)}",
            task_id=one.task_id,
            finding=one_line(one.finding, 20),
            answers=(_answer(NeedAction.LOOK, look), _answer(NeedAction.DISMISS, agree)),
        )


def _answer(action: NeedAction, command: str) -> Answer:
    return Answer(action=action, command=one_line(command, 200))


_RUN: Final = _answer(NeedAction.RUN, "ralph run")
