"""Commit the work of an accepted attempt, or save it under a ref and reset the checkout."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from shlex import quote
from typing import Final

from ralph.core.errors import ClaimLost, RalphError, TemporaryFailure
from ralph.core.events import WorkCommitted, WorkSaved
from ralph.core.ids import TaskId, kept_ref
from ralph.core.safe_text import first_few_paths, one_line
from ralph.core.snapshot import Snapshot
from ralph.core.task import Task
from ralph.engine.run_context import RunContext
from ralph.engine.run_state import EndedAttempt, UnfinishedWork
from ralph.ports.workspace import LikelySecret

SHOWN: Final = 5
"""How many files a warning names."""


def warn_about_user_changes(
    ctx: RunContext, task: TaskId, before: Snapshot, after: Snapshot, files: Iterable[str]
) -> None:
    """Warn about what a session did to the user's changes, and say how to restore them."""
    theirs = ctx.checkout.kept.intersection(before.dirty)
    changed = sorted(theirs.intersection(files))
    committed = sorted(theirs - {*changed, *after.dirty})
    if changed:
        places = " ".join(quote(f":/{path}") for path in changed[:SHOWN] if path.isprintable())
        ctx.log.warn(
            f"the session changed files that you have not committed: {first_few_paths(changed)};"
            f" `git restore --source={before.tree} -- {places}` brings yours back",
            task,
        )
    if committed:
        ctx.log.warn(f"the session committed changes of yours: {first_few_paths(committed)}", task)


def remove_user_changes_from_commits(
    ctx: RunContext, task: TaskId, before: Snapshot | None
) -> bool:
    """Remove the user's changes from the session's commits; return whether there were any."""
    if before is None:
        return False
    try:
        taken = ctx.workspace.remove_from_commits(
            before, ctx.checkout.kept.intersection(before.dirty)
        )
    except RalphError as error:
        ctx.log.warn(f"its commits are left as they are: {error}", task)
        return False
    # Others are files that Ralph writes meanwhile, which are not worth a warning.
    if yours := [path for path in taken if path in ctx.checkout.kept]:
        ctx.log.warn(
            f"the session committed changes of yours: {first_few_paths(yours)}; they are taken out"
            " of its commits, and in the tree as before",
            task,
        )
    return bool(taken)


def move_work_to_branch(ctx: RunContext, attempt: EndedAttempt) -> None:
    """Move accepted work to the branch where the task began, if the session has left that branch.

    Otherwise the next tasks would go on elsewhere, and a person would look for them in vain.
    """
    task, base, after = attempt.task.id, attempt.base, attempt.after
    if not base.branch or after.branch == base.branch:
        return
    ctx.checkout.changed()
    left = f"branch {after.branch}" if after.branch else "no branch"
    if ctx.workspace.return_to(base.branch):
        ctx.log.warn(f"the session went to {left}; its work is on {base.branch} now", task)
    else:
        # A person may have switched in the middle of it: their branch is not for us to move.
        ctx.log.warn(
            f"the checkout is on {left} now, and so is the work; {base.branch} stays", task
        )


def warn_about_secrets(ctx: RunContext, attempt: EndedAttempt) -> None:
    for one in ctx.workspace.committed_secrets(attempt.base, attempt.after):
        ctx.log.warn(
            f"the session has committed {one_line(one.path, 120)}, but {one.why};"
            " take it out of the history before you push",
            attempt.task.id,
        )


def commit_work(ctx: RunContext, attempt: EndedAttempt) -> None:
    """Commit what an accepted attempt has left uncommitted."""
    task, base, after, own = attempt.task, attempt.base, attempt.after, ctx.own_documents
    if ctx.settings.config.git.commit == "none" or not (after.dirty or own):
        return
    done = ctx.workspace.commit(base, after, commit_message(ctx, task), ctx.checkout.kept, own)
    ctx.checkout.committed(after, done.after)
    if done.commit is not None:
        ctx.state.count_commits(1)
        event = WorkCommitted(task_id=task.id, commit=done.commit, files=len(done.files))
        ctx.store.sessions.add_commit(attempt.session.id, done.commit, attempt.claim, event)
        ctx.log.publish()
        if base.branch and done.branch not in ("", base.branch):
            ctx.log.warn(f"it was committed on branch {done.branch}, not on {base.branch}", task.id)
    if done.leftovers:
        ctx.log.warn(
            "not committed, since a person's own changes are in the same files:"
            f" {first_few_paths(done.leftovers)}",
            task.id,
        )
    for one in done.likely_secrets:
        # A document is looked at again with every story: once is enough to hear of it.
        if one.path not in ctx.checkout.kept:
            ctx.log.warn(secret_warning(one), task.id)
    ctx.checkout.withhold_secrets([one.path for one in done.likely_secrets])


def secret_warning(one: LikelySecret) -> str:
    return (
        f"{one_line(one.path, 120)} is not committed: {one.why}; ignore it, or commit it yourself"
    )


def commit_message(ctx: RunContext, task: Task) -> str:
    # A story is known by its id as well.
    name = f"{task.alias}: " if task.alias and task.feature_id else ""
    title = one_line(name + task.title, 72)
    return f"{title}\n\n{trailers(ctx, task.id)}\n"


def trailers(ctx: RunContext, task: TaskId) -> str:
    return f"Ralph-Task: {task}\nRalph-Run: {ctx.settings.run_id}"


def save_and_reset(ctx: RunContext, left: UnfinishedWork) -> None:
    """Save a task's work under a ref, and reset the checkout to where the task began."""
    task, base = left.task, left.base
    ref = kept_ref(task, left.attempt)
    ctx.checkout.changed()
    try:
        now = ctx.workspace.snapshot()
        changed = not now.same_as(base)
        if changed:
            ctx.workspace.save(ref, f"Unfinished work on {task}, attempt {left.attempt}\n")
            with _documents_stay(ctx):
                ctx.workspace.restore(base)
    except TemporaryFailure:
        raise  # the next run does it; until then no other task begins in what this one has left
    except RalphError as error:
        # Better a tree that is not clean than work that is lost.
        ctx.log.warn(f"the work of {task} stays in the checkout: {error}", task)
        return
    if changed:
        ctx.log.record(WorkSaved(task_id=task, ref=ref))
    if ctx.merge_branch is None:
        _report_commits(ctx, task, base, now, ref)
    ctx.memory_file.clear(task)
    # If another worker holds the task by now, it knows what it began with.
    with suppress(ClaimLost):
        ctx.store.claims.forget_base(task, None)


def _report_commits(ctx: RunContext, task: TaskId, base: Snapshot, now: Snapshot, ref: str) -> None:
    kept = ctx.workspace.with_user_commits(base, now)
    branch = kept.branch or "the branch"
    if kept.head != base.head:
        ctx.log.warn(
            f"{branch} stays where you have taken it meanwhile, with what the session had committed"
            f" before: `git log {base.head[:10]}..{kept.head[:10]}` lists it",
            task,
        )
    if ctx.workspace.changes(kept, now).commits:
        ctx.log.warn(
            f"the commits made during the task are off {branch}: `git log {kept.head[:10]}..{ref}`"
            " lists them",
            task,
        )


@contextmanager
def _documents_stay(ctx: RunContext) -> Iterator[None]:
    """A PRD belongs to all its stories, and to the person: it does not go back with one of them."""
    before = {path: ctx.project_files.read_bytes(path) for path in ctx.document.paths}
    yield
    for path, content in before.items():
        if content is not None and ctx.project_files.read_bytes(path) != content:
            ctx.project_files.write(path, content)
