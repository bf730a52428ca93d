"""Commands that steer runs and take work back: pause, stop, skip, inject, undo and the like."""

import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from ralph.cli.command import command, flag, option
from ralph.cli.options import NO_SANDBOX, TASK, YES, json_option, settings_of
from ralph.cli.output import print_answer, task_row
from ralph.cli.project_access import project_with_store
from ralph.cli.prompts import confirm, text_of
from ralph.core.breaker import Breaker, BreakerCause
from ralph.core.errors import RalphError, UsageError
from ralph.core.events import BreakerClosed
from ralph.core.safe_text import one_line
from ralph.core.task import Task, TaskStatus
from ralph.core.transitions import Blocked
from ralph.store.messages import ControlWord
from ralph.wiring.processes import live_runs
from ralph.wiring.project import open_project_files

if TYPE_CHECKING:
    from ralph.workflows.undo import UndoPlan


def _send(word: ControlWord, done: str, name: str | None = None) -> None:
    """Send a control word to every live run, about one task in progress if it is named."""
    with project_with_store() as (_, store):
        task = store.tasks.find(name) if name is not None else None
        runs = live_runs(store)
        if not runs:
            raise RalphError("no run is at work", hint="ralph run starts one")
        if task is not None and task.status is not TaskStatus.IN_PROGRESS:
            raise UsageError(f"task {task.id} is {task.status}, so no session is at work on it")
        for run in runs:
            store.messages.send_control(run.id, word, task.id if task is not None else None)
    for run in runs:
        print(f"run {run.id} {done}")


@command()
def pause(_: Namespace) -> None:
    """Pause the run after the current session.

    It keeps its place: `ralph resume` goes on.

    examples:
      ralph pause
    """
    _send(ControlWord.PAUSE, "will pause after its session; `ralph resume` goes on")


@command()
def resume(_: Namespace) -> None:
    """Resume a run that is paused or waits for a usage limit.

    Agents that are out of quota are tried again at once.

    examples:
      ralph resume
    """
    _send(ControlWord.RESUME, "goes on")


@command(flag("--now", "stop the session too; its task is released and uses no retry"))
def stop(args: Namespace) -> None:
    """Stop the run after the current session, or at once.

    examples:
      ralph stop
      ralph stop --now
    """
    now = ControlWord.STOP_NOW, "stops its session and ends"
    _send(*(now if args.now else (ControlWord.STOP, "will end after its session")))


@command(TASK, option("-r", "--reason", "TEXT", "why it is skipped", default=""))
def skip(args: Namespace) -> None:
    """Skip a task: block it and stop its session.

    `ralph task unblock` undoes it.

    examples:
      ralph session skip t-4f2a1b
      ralph session skip US-003 -r "not needed before the release"
    """
    reason = args.reason.strip()
    with project_with_store() as (_, store):
        task = store.tasks.find(args.task)
        holders = []
        if task.status is TaskStatus.IN_PROGRESS:
            holders = [one for one in live_runs(store) if one.worker == task.claimed_by]
        for holder in holders:
            # Only the run itself can stop the session; it blocks the task then.
            store.messages.send_control(holder.id, ControlWord.SKIP, task.id, reason)
        if not holders:
            store.tasks.apply(task.id, [Blocked(reason or "skipped by a person")])
    if holders:
        print(f"{task.id}: run {holders[0].id} stops its session and leaves it out")
    else:
        print(f"{task.id}: blocked; `ralph task unblock {task.id}` brings it back")


@command(option("task", "TASK", "whose session; default: every one", nargs="?"))
def hand_off(args: Namespace) -> None:
    """Hand off the current task to a fresh session.

    The current session is asked to write its state into `MEMORY.md` and to end. If it does not
    within `[context] wrap_up`, Ralph ends it and writes the notes. The attempt is the same: this
    costs neither a retry nor a strike. Ralph does it without a command when a context is nearly
    full.

    Without a task, every running session hands over; in a team those of all workers.

    examples:
      ralph session handoff
      ralph session handoff t-4f2a1b      only the session of this task
    """
    whose = "its session" if args.task is None else f"the session of {args.task}"
    _send(ControlWord.HAND_OFF, f"lets {whose} hand over to a fresh one", args.task)


@command(
    option("message", "MESSAGE", "what to say; - reads standard input"),
    option("--task", "TASK", "only for sessions of this task"),
)
def inject(args: Namespace) -> None:
    """Give guidance to the next session without stopping the current one.

    examples:
      ralph session inject "use the fixture in tests/data, do not write a new one"
      ralph session inject --task t-4f2a1b "the API changed, see docs/api.md"
    """
    message = text_of(args.message).strip()
    if not message:
        raise UsageError("the message is empty")
    with project_with_store() as (_, store):
        task = store.tasks.find(args.task) if args.task else None
        store.messages.add_guidance(message, task.id if task else None)
        is_running = bool(live_runs(store))
    whose = f"the next session of {task.id}" if task else "the next session"
    print(f"{whose} will be told" + ("" if is_running else "; no run is at work now"))


@command(option("slot", "WORKER", "whose; default: all", nargs="?"))
def reset_breaker(args: Namespace) -> None:
    """Close the breaker and forget the failures so far.

    A run whose sessions only fail opens its breaker and stops. `ralph status` says why. A new
    `ralph run` tries a single session; this command forgets the failures.

    examples:
      ralph breaker reset                 every worker's
      ralph breaker reset teammate-2      this one's
    """
    from ralph.workflows.claude_team_hooks import write_team_state_files

    with project_with_store() as (project, store):
        known = store.breakers.all()
        if args.slot is not None and args.slot not in known:
            names = ", ".join(known) or "none so far"
            raise UsageError(
                f"no worker {one_line(args.slot, 60)} has counted anything", hint=f"known: {names}"
            )
        wanted = [args.slot] if args.slot else known
        counting = [slot for slot in wanted if known[slot] != Breaker(at=known[slot].at)]
        for slot in counting:
            store.breakers.save(slot, Breaker(), BreakerClosed(slot=slot, by="by a person"))
            print(f"{slot}: {_closed_text(known[slot])}")
        if counting:
            write_team_state_files(store, open_project_files(project))
    if not counting:
        print("closed already, and nothing was counted")


def _closed_text(was: Breaker) -> str:
    if was.cause is BreakerCause.BUDGET:
        return f"closed; a limit that is still spent opens it again: {was.reason}"
    return "was closed, its failures are forgotten" if was.is_closed else "closed"


@command(
    TASK,
    option("-r", "--reason", "TEXT", "why; its next session gets it", default=""),
    NO_SANDBOX,
    YES,
    json_option("print what was done as JSON"),
)
def undo(args: Namespace) -> None:
    """Revert a task's commits, and reopen the task and all that builds on it.

    A new commit undoes its commits; the history stays. Tasks that build on it keep their commits
    and are done again. If later changes conflict, nothing changes.

    examples:
      ralph undo t-4f2a1b
      ralph undo US-003 --yes -r "it broke the export"
    """
    from ralph.wiring.git_access import open_branch_history
    from ralph.workflows.undo import plan_undo, undo

    with (
        project_with_store(settings_of(args)) as (project, store),
        open_branch_history(project) as history,
    ):
        plan = plan_undo(store, history, args.task)
        if not args.yes:
            print("\n".join(_lines(plan)), file=sys.stderr)
        confirm(args, f"undoing {plan.task.id}")
        done = undo(store, history, plan, args.reason.strip())
    what = f"taken back by {done.commit[:10]}" if done.commit else "nothing was left to take back"
    count = len(done.reopened)
    are = "task is" if count == 1 else "tasks are"
    print_answer(args, done, f"{plan.task.id}: {what}; {count} {are} open again")


def _lines(plan: "UndoPlan") -> list[str]:
    def rows(tasks: list[Task]) -> list[str]:
        return [f"  {task_row(task)}" for task in tasks]

    commits = [f"  {commit.id[:10]}  {one_line(commit.subject, 72)}" for commit in plan.commits]
    lines = ["taken back:", *(commits or ["  nothing: no commit of it is on this branch"])]
    lines += ["open again:", *rows([plan.task, *plan.below])]
    if plan.after:
        lines += ["open again, since they build on it; their commits stay:", *rows(plan.after)]
    return lines
