"""Handle the user's requests to a running run: pause, resume, stop, skip, hand off."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Final

from ralph.core.errors import NoSuchTask, RalphError
from ralph.core.events import RunPaused, RunResumed, RunWaiting
from ralph.core.ids import TaskId
from ralph.core.run import STOPPED, WaitKind
from ralph.core.session_ending import EndingKind
from ralph.core.task import Task
from ralph.core.times import to_iso
from ralph.core.transitions import Blocked
from ralph.engine.crash_recovery import find_unfinished_work
from ralph.engine.run_context import RunContext
from ralph.store.messages import ControlWord

ABORT: Final = ".ralph/ABORT"
"""While it is there, nothing begins."""
SKIPPED = "skipped by a person"
ASKS = "it asks at its terminal how to go on"
LONG_S = 10.0
"""Long enough for a person to change something."""


def refuse_if_abort_file(ctx: RunContext) -> None:
    """Raise an error before anything is recorded, if the abort file exists."""
    if ctx.project_files.exists(ABORT):
        raise RalphError(f"{ABORT} is there, so no run starts", hint=f"rm {ABORT}")


def check_abort_file(ctx: RunContext, *, now: bool = False) -> None:
    """End the run if the abort file exists."""
    if ctx.project_files.exists(ABORT):
        why = f"{ABORT} is there; `rm {ABORT}` lets runs start again"
        ctx.controls.stop(ctx.controls.stopping or why, now=now)


def handle_controls(ctx: RunContext, running: TaskId | None) -> EndingKind | None:
    """Handle the requests since the last call; return a reason to stop the session at once."""
    stop: EndingKind | None = None
    if running is None:
        check_abort_file(ctx)
    for control in ctx.store.messages.take_controls(ctx.address):
        match control.word:
            case ControlWord.PAUSE:
                _pause(ctx, running)
            case ControlWord.RESUME if ctx.controls.paused:
                ctx.controls.resume()
            case ControlWord.RESUME:
                # A person says that there is quota again; they know better.
                ctx.store.sessions.clear_usage_limits()
                ctx.controls.end_wait()
            case ControlWord.STOP:
                ctx.controls.stop(STOPPED)
            case ControlWord.STOP_NOW:
                ctx.controls.stop(STOPPED, now=True)
                stop = EndingKind.INTERRUPTED
            case ControlWord.HAND_OFF:
                _hand_off(ctx, control.task_id, running)
            case ControlWord.SKIP:
                why = control.reason or SKIPPED
                if control.task_id is not None and control.task_id == running:
                    ctx.controls.skip(control.task_id, why)
                    stop = EndingKind.INTERRUPTED
                elif control.task_id is not None:
                    block_task(ctx, control.task_id, why)
    return stop


def tick(ctx: RunContext, running: TaskId | None) -> EndingKind | None:
    """Called again and again while something runs; return a reason to stop it at once."""
    if ctx.interrupted():
        ctx.log.sink.tick()
        return EndingKind.INTERRUPTED
    ctx.beat()
    stop = handle_controls(ctx, running)
    ctx.log.publish()
    ctx.log.sink.tick()
    return stop


def _pause(ctx: RunContext, running: TaskId | None) -> None:
    ctx.controls.pause()
    # In a team the lead has said so, once for all.
    if running is not None and ctx.merge_branch is None:
        ctx.log.warn("the run will pause after this session")


def _hand_off(ctx: RunContext, whose: TaskId | None, running: TaskId | None) -> None:
    if whose not in (None, running):
        return  # another worker's
    if not ctx.memory_file.ask():
        # Between two tasks, or while the work is judged: a fresh session comes anyway.
        ctx.log.warn("no session is at work that could hand over")


def block_task(ctx: RunContext, task: TaskId, why: str) -> None:
    """Block a task that no worker holds."""
    try:
        ctx.store.tasks.apply(task, [Blocked(why)])
    except RalphError as error:
        # It was settled or deleted in the meantime: nothing is left to skip.
        ctx.log.warn(f"cannot skip: {error}", task)


def wait_while_paused(ctx: RunContext) -> None:
    """Wait until the run is resumed or stopped, or a signal comes."""
    if not ctx.controls.paused or ctx.controls.stopping:
        return
    run = ctx.settings.run_id
    ctx.log.record(RunPaused(run_id=run, reason="by a person; `ralph resume` goes on"))
    with _keeping_user_edits(ctx):
        while ctx.controls.paused and not ctx.controls.stopping and not ctx.interrupted():
            ctx.executor.sleep(60.0, lambda: _tick(ctx))
    if not ctx.controls.paused:
        ctx.log.record(RunResumed(run_id=run))


def show_wait(ctx: RunContext, why: str, seconds: float, kind: WaitKind = WaitKind.OTHER) -> None:
    until = to_iso(ctx.clock.now() + seconds)
    ctx.log.record(RunWaiting(run_id=ctx.settings.run_id, reason=why, until=until, kind=kind))


def is_cancelled(ctx: RunContext) -> bool:
    """Whether the setup of a checkout must stop; asked while the user's command runs."""
    ctx.beat()
    return bool(ctx.interrupted() or ctx.controls.stop_now)


def ask_user_guidance(ctx: RunContext, task: Task) -> bool:
    """Ask the user, who stopped the session of this task, how the run goes on, if it does.
    Without a terminal, the signal was meant for the run."""
    if ctx.user_prompt is None:
        return False
    ctx.controls.begin_wait()
    run = ctx.settings.run_id
    ctx.log.record(RunPaused(run_id=run, reason=ASKS, kind=WaitKind.ANSWER))
    with _keeping_user_edits(ctx):
        words = ctx.user_prompt.ask_guidance(task, lambda: _tick(ctx, pause_ends=False))
    if words:
        # It may be deleted by now.
        with suppress(NoSuchTask):
            ctx.store.messages.add_guidance(words, task.id)
    # `ralph resume` and `ralph stop` are answers as well.
    goes_on = words is not None or ctx.controls.hurry or ctx.controls.stopping is not None
    if goes_on:
        ctx.log.record(RunResumed(run_id=run))
    ctx.log.publish()
    return goes_on


@contextmanager
def _keeping_user_edits(ctx: RunContext) -> Iterator[None]:
    """A person may use the time to edit, and that is theirs, not the next session's work. Not in a
    team: there a task's checkout is its worker's alone, and gone when the task is over."""
    if ctx.merge_branch is not None:
        yield
        return
    before = ctx.checkout.snapshot()
    yield
    ctx.checkout.changed()
    if not ctx.checkout.snapshot().same_as(before):
        find_unfinished_work(ctx)


def wait(ctx: RunContext, seconds: float, is_over: Callable[[], bool] = lambda: False) -> None:
    """Wait, unless a request comes.

    `is_over`: what is waited for has come, or is wanted no more.
    """
    ctx.controls.begin_wait()
    if seconds > 0:
        with _keeping_user_edits(ctx) if seconds > LONG_S else nullcontext():
            ctx.executor.sleep(seconds, lambda: _tick(ctx, pause_ends=False) or is_over())


def _tick(ctx: RunContext, *, pause_ends: bool = True) -> bool:
    tick(ctx, None)
    goes_on = not ctx.controls.paused if pause_ends else ctx.controls.hurry
    return bool(ctx.interrupted() or ctx.controls.stopping or goes_on)
