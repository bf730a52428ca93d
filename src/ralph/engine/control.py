"""What people say to a running loop, heard at every tick."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Final

from ralph.core.ending import Stop
from ralph.core.errors import NoSuchTask, RalphError
from ralph.core.events import RunPaused, RunResumed, RunWaiting
from ralph.core.ids import TaskId
from ralph.core.moment import iso
from ralph.core.task import Task
from ralph.core.transitions import Blocked
from ralph.engine.kit import Kit
from ralph.engine.recovery import look_around
from ralph.ports.history import Word

ABORT: Final = ".ralph/ABORT"
"""While it is there, nothing begins."""
SKIPPED = "skipped by a person"
STOPPED = "stopped by a person"
LONG_S = 10.0
"""Long enough for a person to change something."""


def refuse_while_aborted(kit: Kit) -> None:
    """Before anything is recorded: a person has stopped all work, and has not said otherwise."""
    if kit.library.exists(ABORT):
        raise RalphError(f"{ABORT} is there, so no run starts", hint=f"rm {ABORT}")


def heed_abort(kit: Kit) -> bool:
    """Has a person stopped all work meanwhile? Then the run is to end."""
    is_there = kit.library.exists(ABORT)
    if is_there:
        kit.stopping = kit.stopping or f"{ABORT} is there; `rm {ABORT}` lets runs start again"
    return is_there


def listen(kit: Kit, running: TaskId | None) -> Stop | None:
    """Take what was asked since the last look. A reason means: end the session at once."""
    stop: Stop | None = None
    if running is None:
        heed_abort(kit)
    for control in kit.store.take_controls(kit.address):
        match control.word:
            case Word.PAUSE:
                _pause(kit, running)
            case Word.RESUME if kit.paused:
                kit.paused = False
            case Word.RESUME:
                # A person says that there is quota again; they know better.
                kit.store.lift_limits()
                kit.hurry = True
            case Word.STOP:
                kit.stopping = STOPPED
            case Word.STOP_NOW:
                kit.stopping = STOPPED
                kit.stop_now = True
                stop = Stop.INTERRUPTED
            case Word.HAND_OFF:
                _hand_off(kit, control.task_id, running)
            case Word.SKIP:
                why = control.reason or SKIPPED
                if control.task_id is not None and control.task_id == running:
                    kit.skipped[control.task_id] = why
                    stop = Stop.INTERRUPTED
                elif control.task_id is not None:
                    block(kit, control.task_id, why)
    return stop


def _pause(kit: Kit, running: TaskId | None) -> None:
    kit.paused = True
    # In a team the lead has said so, once for all.
    if running is not None and kit.trunk is None:
        kit.warn("the run will pause after this session")


def _hand_off(kit: Kit, whose: TaskId | None, running: TaskId | None) -> None:
    if whose not in (None, running):
        return  # another worker's
    kit.memo.is_wanted = kit.memo.is_at_work
    if not kit.memo.is_at_work:
        # Between two tasks, or while the work is judged: a fresh session comes anyway.
        kit.warn("no session is at work that could hand over")


def block(kit: Kit, task: TaskId, why: str) -> None:
    """Take a task that nobody works on out of the run."""
    try:
        kit.store.apply(task, [Blocked(why)])
    except RalphError as error:
        # It was settled or deleted in the meantime: nothing is left to skip.
        kit.warn(f"cannot skip: {error}", task)


def wait_while_paused(kit: Kit) -> None:
    """Hold still until someone resumes or stops the run, or a signal comes."""
    if not kit.paused or kit.stopping:
        return
    run = kit.settings.run_id
    kit.record(RunPaused(run_id=run, reason="paused by a person; `ralph resume` goes on"))
    with _minding_edits(kit):
        while kit.paused and not kit.stopping and not kit.interrupted():
            kit.executor.sleep(60.0, lambda: _tick(kit))
    if not kit.paused:
        kit.record(RunResumed(run_id=run))


def show_wait(kit: Kit, why: str, seconds: float) -> None:
    """Tell people what the run waits for, and for how long at most."""
    until = iso(kit.clock.now() + seconds)
    kit.record(RunWaiting(run_id=kit.settings.run_id, reason=why, until=until))


def is_called_off(kit: Kit) -> bool:
    """Asked again and again while a person's own command prepares a checkout."""
    kit.look_after()
    return bool(kit.interrupted() or kit.stop_now)


def ask_person(kit: Kit, task: Task) -> bool:
    """A person has stopped the session of this task: may the run go on, and with what guidance?

    Where nobody can be asked, the signal was meant for the run.
    """
    if kit.person is None:
        return False
    kit.hurry = False
    with _minding_edits(kit):
        words = kit.person.guidance(task, lambda: _tick(kit, pause_ends=False))
    if words:
        # Deleted meanwhile: nobody is left to be guided.
        with suppress(NoSuchTask):
            kit.store.inject(words, task.id)
    kit.publish()
    # `ralph resume` and `ralph stop` are answers as well.
    return words is not None or kit.hurry or kit.stopping is not None


@contextmanager
def _minding_edits(kit: Kit) -> Iterator[None]:
    """A person may use the time to edit, and that is theirs, not the next session's work. Not in a
    team: there a task's checkout is nobody's but its worker's, and gone when the task is over."""
    if kit.trunk is not None:
        yield
        return
    before = kit.take_snapshot()
    yield
    kit.snapshot = None
    if not kit.take_snapshot().same_as(before):
        look_around(kit)


def wait(kit: Kit, seconds: float, is_over: Callable[[], bool] = lambda: False) -> None:
    """Let time pass, unless someone wants something.

    `is_over`: what is waited for has come, or is wanted no more.
    """
    kit.hurry = False
    if seconds > 0:
        with _minding_edits(kit) if seconds > LONG_S else nullcontext():
            kit.executor.sleep(seconds, lambda: _tick(kit, pause_ends=False) or is_over())


def _tick(kit: Kit, *, pause_ends: bool = True) -> bool:
    listen(kit, None)
    kit.look_after()
    kit.publish()
    kit.sink.tick()
    goes_on = not kit.paused if pause_ends else kit.hurry
    return bool(kit.interrupted() or kit.stopping or goes_on)
