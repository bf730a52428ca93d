"""Find what a session put into git that only a person may change, and take protected files back.

A sandbox keeps a session from writing protected files, so what is on disk is the person's; but git
writes a tree without any file, and a person's next `git checkout .` would write it to the disk.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from ralph.core.errors import RalphError
from ralph.core.hidden_paths import settings_root
from ralph.core.ids import TaskId
from ralph.core.safe_text import first_few_paths
from ralph.core.snapshot import Snapshot
from ralph.engine.run_context import RunContext


def tampered(ctx: RunContext, base: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """Settings that the session put into git: new ones, wherever they are, and protected ones."""
    found = {*_protected(ctx, base, after)}
    for old, new in _states(base, after):
        is_left = new is after or new.tree or ctx.settings.config.git.commit == "none"
        changed = _changed(ctx, old, new)
        found.update(path for path in changed if _is_planted(ctx, path, is_left=bool(is_left)))
    return tuple(sorted(found))


def withdraw_protected(
    ctx: RunContext, task: TaskId | None, base: Snapshot, after: Snapshot
) -> None:
    """Take protected files back out of the index and off the branch: git would write them to the
    disk, where it, Ralph or an agent obeys them."""
    if (base.head, base.index) == (after.head, after.index):
        return
    try:
        if not (found := _protected(ctx, base, after)):
            return
        ctx.workspace.withdraw(base, found)
    except RalphError as error:
        ctx.log.warn(f"protected files may be staged or committed otherwise: {error}", task)
        return
    ctx.checkout.changed()
    ctx.log.warn(
        f"protected files were put into git: {first_few_paths(found)}; index and branch are as"
        " before, no file has changed, commits that had them are under refs/ralph/",
        task,
    )


def _states(base: Snapshot, after: Snapshot) -> Iterator[tuple[Snapshot, Snapshot]]:
    """What to compare: the files, the commits, what is staged."""
    before, now = Snapshot(head=base.head), Snapshot(head=after.head)
    yield base, after
    if base.head != after.head and (base.tree or after.tree):
        yield before, now
    if after.index and after.index != base.index:
        yield before, replace(now, tree=after.index)


def _changed(ctx: RunContext, old: Snapshot, new: Snapshot) -> tuple[str, ...]:
    return () if old.same_as(new) else ctx.workspace.changes(old, new).files


def _protected(ctx: RunContext, base: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """Protected files that git has otherwise than the disk."""
    found: set[str] = set()
    for old, new in _states(base, after):
        is_disk = new is after and after.tree
        changed = () if is_disk else _changed(ctx, old, new)
        guarded = [path for path in changed if ctx.checkout_sandbox.is_protected(path)]
        if guarded:
            found.update(ctx.workspace.differing_from_disk(new, guarded))
    # What a later commit has undone is still in the history, and a checkout of it writes the file.
    committed = ctx.workspace.committed_paths(base, after)
    if guarded := [path for path in committed if ctx.checkout_sandbox.is_protected(path)]:
        mine = ctx.workspace.differing_from_disk(Snapshot(head=base.head), guarded)
        found.update({*guarded} - {*mine})
    return tuple(sorted(found))


def _is_planted(ctx: RunContext, path: str, *, is_left: bool) -> bool:
    """`is_left`: or else it may be gone from the tree by now, and Ralph commits that."""
    if ctx.checkout_sandbox.may_add(path) or ctx.checkout_sandbox.is_protected(path):
        return False
    project = settings_root(path)
    # Not what a person has made a project meanwhile. An agent's settings are taken off the disk
    # after a session, which says nothing about the commit.
    return project is None or (is_left and not ctx.is_project(project))
