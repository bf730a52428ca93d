"""Teammates that somebody else leads, such as Claude Code's own teams: is a task done, and may one
rest? The gates decide, and the breaker."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec

from ralph.core.breaker import Tolerance, counted, remembered
from ralph.core.errors import RalphError
from ralph.core.gates import GateResult
from ralph.core.ids import TaskId
from ralph.core.limits import Progress
from ralph.core.safe_text import one_line
from ralph.core.target import Everything
from ralph.core.task import Status, Task
from ralph.core.team_events import TeammateJudged
from ralph.engine.control import ABORT
from ralph.ports.clock import Clock
from ralph.ports.library import Library
from ralph.ports.ready import ready_in
from ralph.ports.store import Filter, Store
from ralph.workflows.errand import errands
from ralph.workflows.goal import approved_goals, code_tasks_of

CHOICE: Final = 20
"""Ready tasks among which teammates are spread."""
LOOKED_AT: Final = 10_000


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller gets: 0 is yes, 2 is no, and why."""

    code: int = 0
    said: str = ""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a hook is told."""

    seat: str
    task: str = ""
    """What its team calls the task: a number of its own, or a name that the graph knows."""
    subject: str = ""
    description: str = ""
    cwd: str = ""


def read_asked(payload: Mapping[str, Any]) -> Asked:
    """Whatever is missing is empty; without a name it is the first teammate."""

    def text(key: str) -> str:
        value = payload.get(key)
        return value if isinstance(value, str) else ""

    return Asked(
        seat=one_line(text("teammate_name"), 60).strip() or "teammate-1",
        task=one_line(text("task_id"), 200).strip(),
        subject=one_line(text("task_subject"), 200).strip(),
        description=text("task_description"),
        cwd=text("cwd"),
    )


def task_completed(
    store: Store,
    clock: Clock,
    tolerance: Tolerance,
    asked: Asked,
    first_failure: Callable[[], GateResult | None],
) -> Answer:
    """The gates say whether it is; both is counted for the teammate."""
    failed = first_failure()
    task = _meant(store, asked)
    reason = f"gate {failed.name} fails" if failed is not None else ""
    breaker = remembered(store.breaker(asked.seat), tolerance, clock.now())
    progress = Progress(
        done=failed is None, moved=failed is None, failed=failed is not None, reason=reason
    )
    judged = TeammateJudged(
        seat=asked.seat,
        passed=failed is None,
        subject=asked.subject,
        task_id=task.id if task is not None else None,
        reason=reason,
    )
    name = task.id if task is not None else TaskId("")
    store.save_breaker(asked.seat, counted(breaker, tolerance, name, progress, clock.now()), judged)
    if failed is not None:
        output = failed.output.strip()
        return Answer(code=2, said=f"{reason}: the task is not done yet.\n{output}".rstrip())
    if task is not None and task.status in (Status.PENDING, Status.BLOCKED):
        store.force_done(task.id)
        store.log(task.id, f"{asked.seat} has done it; the gates pass")
    return Answer()


def stamp_goals(
    store: Store, library: Library, clock: Clock, asked: Asked, max_retries: int
) -> None:
    """What was just done is said in the file of its code task, too. A run that is at work does that
    itself; files that cannot be followed now are told of by the next one."""
    if store.live_runs():
        return
    with suppress(RalphError):
        for goal in approved_goals(store, library):
            code_tasks_of(goal, store, clock, max_retries, seat=asked.seat).follow()


def teammate_idle(
    store: Store, clock: Clock, tolerance: Tolerance, asked: Asked, root: str
) -> Answer:
    """It may, when it failed too often, when a person has stopped the team, or when nothing is
    ready."""
    if os.path.lexists(os.path.join(root, ABORT)):
        return Answer()
    breaker = remembered(store.breaker(asked.seat), tolerance, clock.now())
    if not breaker.is_closed:
        return Answer(said=f"{asked.seat} rests: {breaker.why}")
    # Errands are left to the commands that send for them.
    ready = [one for one in ready_in(store, Everything(), CHOICE) if one.id not in errands(store)]
    if not ready:
        return Answer()
    # Each begins to look at another place, so that not all take the first one.
    number = asked.seat.rpartition("-")[2]
    task = ready[(int(number) - 1 if number.isdecimal() else 0) % len(ready)]
    return Answer(
        code=2,
        said=f"There is work left. Next: {task.name} “{one_line(task.title, 120)}”."
        f" `ralph task brief {task.id}` says what is to be done.",
    )


def _meant(store: Store, asked: Asked) -> Task | None:
    """The task of the graph that a team speaks of: by its id, its alias or its title."""
    words = {word.strip(".,:;()[]\"'`“”") for word in (asked.task, *asked.subject.split())}
    found = store.tasks(Filter(limit=LOOKED_AT))
    named = [one for one in found if one.id in words or (one.alias and one.alias in words)]
    titled = [one for one in found if one.title == asked.subject]
    meant = named or titled
    return meant[0] if len(meant) == 1 else None
