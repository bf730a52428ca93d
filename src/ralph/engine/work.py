"""What becomes of the work in the checkout: committed when it counts, kept aside when not."""

from ralph.core.errors import RalphError
from ralph.core.events import WorkCommitted, WorkSaved
from ralph.core.ids import TaskId
from ralph.core.safe_text import one_line
from ralph.core.snapshot import Snapshot
from ralph.core.task import Task
from ralph.engine.kit import Kit


def commit_work(kit: Kit, task: Task, base: Snapshot, after: Snapshot) -> None:
    """Commit what an accepted attempt has left uncommitted."""
    if kit.settings.commit == "none" or not after.dirty:
        return
    done = kit.workspace.commit(base, after, _message(kit, task), kit.kept)
    kit.snapshot = None
    if done.commit is not None:
        kit.commits += 1
        kit.record(WorkCommitted(task_id=task.id, commit=done.commit, files=len(done.files)))
    if done.leftovers:
        names = ", ".join(one_line(path, 60) for path in done.leftovers[:5])
        kit.warn(
            f"not committed, since a person's own changes are in the same files: {names}", task.id
        )


def _message(kit: Kit, task: Task) -> str:
    title = one_line(task.title, 72)
    return f"{title}\n\nRalph-Task: {task.id}\nRalph-Run: {kit.settings.run_id}\n"


def set_aside(kit: Kit, task: TaskId, attempt: int, base: Snapshot) -> None:
    """Keep a task's work under a ref and bring the checkout back to where the task began."""
    ref = f"refs/ralph/{task}/{attempt}"
    kit.snapshot = None
    try:
        changed = not kit.workspace.snapshot().same_as(base)
        if changed:
            kit.workspace.save(ref, f"Unfinished work on {task}, attempt {attempt}\n")
            kit.workspace.restore(base)
    except RalphError as error:
        # Better a tree that is not clean than work that is lost.
        kit.warn(f"the work of {task} stays in the checkout: {error}", task)
        return
    if changed:
        kit.record(WorkSaved(task_id=task, ref=ref))
    kit.store.forget_base(task)
