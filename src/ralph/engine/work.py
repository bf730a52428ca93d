"""What becomes of the work in the checkout: committed when it counts, kept aside when not."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from shlex import quote
from typing import Final

from msgspec.structs import replace

from ralph.core.errors import RalphError, TemporaryFailure
from ralph.core.events import WorkCommitted, WorkSaved
from ralph.core.ids import SessionId, TaskId
from ralph.core.safe_text import one_line
from ralph.core.snapshot import Snapshot
from ralph.core.task import Task
from ralph.engine.kit import Kit
from ralph.ports.workspace import Withheld

SHOWN: Final = 5
"""How many files a warning names."""


def mind_theirs(
    kit: Kit, task: TaskId, before: Snapshot, after: Snapshot, files: Iterable[str]
) -> None:
    """Say what a session did to a person's uncommitted changes, and how to get them back."""
    theirs = kit.kept.intersection(before.dirty)
    changed = sorted(theirs.intersection(files))
    committed = sorted(theirs - {*changed, *after.dirty})
    if changed:
        places = " ".join(quote(f":/{path}") for path in changed[:SHOWN] if path.isprintable())
        kit.warn(
            f"the session changed files that you have not committed: {some_of(changed)};"
            f" `git restore --source={before.tree} -- {places}` brings yours back",
            task,
        )
    if committed:
        kit.warn(f"the session committed changes of yours: {some_of(committed)}", task)


def take_theirs_out(kit: Kit, task: TaskId, before: Snapshot | None) -> bool:
    """A session that commits all there is commits a person's changes as well: they were promised
    that those are left alone. Have its commits changed?"""
    if before is None:
        return False
    try:
        taken = kit.workspace.take_out(before, kit.kept.intersection(before.dirty))
    except RalphError as error:
        kit.warn(f"its commits are left as they are: {error}", task)
        return False
    if taken:
        kit.warn(
            f"the session committed changes of yours: {some_of(taken)}; they are taken out of its"
            " commits, and in the tree as before",
            task,
        )
    return bool(taken)


def some_of(paths: Sequence[str]) -> str:
    """Files for a warning: a few of them by name."""
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    return ", ".join(one_line(path, 60) for path in paths[:SHOWN]) + more


def bring_back(kit: Kit, task: TaskId, base: Snapshot, after: Snapshot) -> None:
    """Put accepted work on the branch where the task began, if its session has left that one.

    Otherwise the next tasks would go on elsewhere, and a person would look for them in vain.
    """
    if not base.branch or after.branch == base.branch:
        return
    kit.snapshot = None
    # No file changes: the gates have been at it since `after`.
    kit.workspace.restore(replace(kit.workspace.snapshot(), branch=base.branch))
    left = f"branch {after.branch}" if after.branch else "no branch"
    kit.warn(f"the session went to {left}; its work is on {base.branch} now", task)


def mind_secrets(kit: Kit, task: TaskId, base: Snapshot, after: Snapshot) -> None:
    """Say what an agent has committed that it had better not: nothing is pushed yet."""
    for one in kit.workspace.exposed(base, after):
        kit.warn(
            f"the session has committed {one_line(one.path, 120)}, but {one.why};"
            " take it out of the history before you push",
            task,
        )


def commit_work(kit: Kit, task: Task, session: SessionId, base: Snapshot, after: Snapshot) -> None:
    """Commit what an accepted attempt has left uncommitted."""
    own = kit.own
    if kit.settings.commit == "none" or not (after.dirty or own):
        return
    done = kit.workspace.commit(base, after, commit_message(kit, task), kit.kept, own)
    kit.snapshot = None
    if done.commit is not None:
        kit.commits += 1
        event = WorkCommitted(task_id=task.id, commit=done.commit, files=len(done.files))
        kit.store.add_commit(session, done.commit, event)
        kit.publish()
    if done.leftovers:
        kit.warn(
            "not committed, since a person's own changes are in the same files:"
            f" {some_of(done.leftovers)}",
            task.id,
        )
    for one in done.withheld:
        # A document is looked at again with every story: once is enough to hear of it.
        if one.path not in kit.kept:
            kit.warn(not_committed(one), task.id)
    kit.kept |= {one.path for one in done.withheld}
    kit.withheld |= {one.path for one in done.withheld}


def not_committed(one: Withheld) -> str:
    """What to say of a likely secret."""
    return (
        f"{one_line(one.path, 120)} is not committed: {one.why}; ignore it, or commit it yourself"
    )


def commit_message(kit: Kit, task: Task) -> str:
    """The task's title, and the trailers."""
    # A story is known by its id as well.
    name = f"{task.alias}: " if task.alias and task.feature_id else ""
    title = one_line(name + task.title, 72)
    return f"{title}\n\n{trailers(kit, task.id)}\n"


def trailers(kit: Kit, task: TaskId) -> str:
    """By which the history tells whose work it is."""
    return f"Ralph-Task: {task}\nRalph-Run: {kit.settings.run_id}"


def set_aside(kit: Kit, task: TaskId, attempt: int, base: Snapshot) -> None:
    """Keep a task's work under a ref and bring the checkout back to where the task began."""
    ref = f"refs/ralph/{task}/{attempt}"
    kit.snapshot = None
    try:
        changed = not kit.workspace.snapshot().same_as(base)
        if changed:
            kit.workspace.save(ref, f"Unfinished work on {task}, attempt {attempt}\n")
            with _documents_stay(kit):
                kit.workspace.restore(base)
    except TemporaryFailure:
        raise  # the next run does it; until then no other task begins in what this one has left
    except RalphError as error:
        # Better a tree that is not clean than work that is lost.
        kit.warn(f"the work of {task} stays in the checkout: {error}", task)
        return
    if changed:
        kit.record(WorkSaved(task_id=task, ref=ref))
    kit.memo.clear(task)
    kit.store.forget_base(task)


@contextmanager
def _documents_stay(kit: Kit) -> Iterator[None]:
    """A PRD belongs to all its stories, and to the person: it does not go back with one of them."""
    paths = kit.document.paths if kit.document is not None else ()
    before = {path: kit.library.content(path) for path in paths}
    yield
    for path, content in before.items():
        if content is not None and kit.library.content(path) != content:
            kit.library.put(path, content)
