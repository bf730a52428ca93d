"""Answer the hooks of Claude Code's own agent teams: the gates and the breaker decide whether a
task is done and whether a teammate may stop."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

import msgspec

from ralph.core.breaker import count_iteration, current_breaker
from ralph.core.errors import RalphError
from ralph.core.events import TeammateJudged
from ralph.core.gates import GateResult
from ralph.core.ids import TaskId
from ralph.core.run import AllTasks, IterationProgress
from ralph.core.safe_text import one_line
from ralph.core.settings import BreakerSection
from ralph.core.task import Task, TaskStatus
from ralph.engine.control import ABORT
from ralph.engine.state_files import team_tally_of
from ralph.ports.clock import Clock
from ralph.ports.project_files import ProjectFiles
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from ralph.workflows.goal import approved_goals, code_tasks_of

CHOICE: Final = 20
"""Ready tasks from which teammates take different ones."""
LOOKED_AT: Final = 10_000


class TeamHookAnswer(NamedTuple):
    """The hook's exit code (0: yes, 2: no) and the reason."""

    code: int = 0
    message: str = ""


class TeamHookCall(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of a team hook. What is missing is empty."""

    slot: str
    task: str = ""
    """The team's own number of the task, or its name in the store."""
    subject: str = ""
    description: str = ""
    cwd: str = ""


def read_hook_call(payload: Mapping[str, Any]) -> TeamHookCall:
    """The call in a hook's payload. Without a name it is that of the first teammate."""

    def text(key: str) -> str:
        value = payload.get(key)
        return value if isinstance(value, str) else ""

    return TeamHookCall(
        slot=one_line(text("teammate_name"), 60).strip() or "teammate-1",
        task=one_line(text("task_id"), 200).strip(),
        subject=one_line(text("task_subject"), 200).strip(),
        description=text("task_description"),
        cwd=text("cwd"),
    )


def task_completed(
    store: Store,
    clock: Clock,
    limits: BreakerSection,
    call: TeamHookCall,
    first_failure: Callable[[], GateResult | None],
) -> TeamHookAnswer:
    """Run the gates to decide whether a task is done, and count the result for the teammate. Gates
    that cannot run count as well: otherwise the teammate could never stop."""
    failed: GateResult | RalphError | None
    try:
        failed = first_failure()
    except RalphError as error:
        failed = error
    task = _find_task(store, call)
    reason = f"gate {failed.name} fails" if isinstance(failed, GateResult) else str(failed or "")
    breaker = current_breaker(store.breakers.get(call.slot), limits, clock.now())
    progress = IterationProgress(
        done=failed is None, moved=failed is None, failed=failed is not None, reason=reason
    )
    judged = TeammateJudged(
        slot=call.slot,
        passed=failed is None,
        subject=call.subject,
        task_id=task.id if task is not None else None,
        reason=reason,
    )
    name = task.id if task is not None else TaskId("")
    store.breakers.save(
        call.slot, count_iteration(breaker, limits, name, progress, clock.now()), judged
    )
    if isinstance(failed, RalphError):
        hint = f" ({failed.hint})" if failed.hint else ""
        return TeamHookAnswer(code=2, message=f"ralph: {reason}{hint}")
    if failed is not None:
        output = failed.output.strip()
        return TeamHookAnswer(
            code=2, message=f"{reason}: the task is not done yet.\n{output}".rstrip()
        )
    if task is not None and task.status in (TaskStatus.PENDING, TaskStatus.BLOCKED):
        store.tasks.force_done(task.id)
        store.tasks.log(task.id, f"{call.slot} has done it; the gates pass")
    return TeamHookAnswer()


def stamp_goals(
    store: Store, project_files: ProjectFiles, clock: Clock, call: TeamHookCall, max_retries: int
) -> None:
    """Write the status into the files of code tasks, unless a run is live, which does that itself.
    The next run reports files that cannot be synced."""
    if store.runs.live():
        return
    with suppress(RalphError):
        for goal in approved_goals(store, project_files):
            code_tasks_of(goal, store, clock, max_retries, slot=call.slot).sync()


def teammate_idle(
    store: Store, clock: Clock, limits: BreakerSection, call: TeamHookCall, root: str
) -> TeamHookAnswer:
    """Let a teammate stop if the team is stopped, it failed too often, or no task is ready."""
    if os.path.lexists(os.path.join(root, ABORT)):
        return TeamHookAnswer()
    breaker = current_breaker(store.breakers.get(call.slot), limits, clock.now())
    if not breaker.is_closed:
        return TeamHookAnswer(message=f"{call.slot} rests: {breaker.why}")
    # Planning tasks belong to their own commands.
    ready = [
        one for one in store.tasks.ready(AllTasks(), CHOICE) if one.id not in store.tasks.planning()
    ]
    if not ready:
        return TeamHookAnswer()
    # Each teammate begins at another place, so that not all take the first task.
    number = call.slot.rpartition("-")[2]
    task = ready[(int(number) - 1 if number.isdecimal() else 0) % len(ready)]
    return TeamHookAnswer(
        code=2,
        message=f"There is work left. Next: {task.name} “{one_line(task.title, 120)}”."
        f" `ralph task brief {task.id}` says what is to be done.",
    )


def _find_task(store: Store, call: TeamHookCall) -> Task | None:
    words = {word.strip(".,:;()[]\"'`“”") for word in (call.task, *call.subject.split())}
    found = store.tasks.select(TaskFilter(limit=LOOKED_AT))
    named = [one for one in found if one.id in words or (one.alias and one.alias in words)]
    titled = [one for one in found if one.title == call.subject]
    meant = named or titled
    return meant[0] if len(meant) == 1 else None


def write_team_state_files(store: Store, project_files: ProjectFiles) -> None:
    for path, content in team_tally_of(store).files(store.breakers.all()).items():
        project_files.write(path, content)
