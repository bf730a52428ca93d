"""What changed in files while gates ran: undone where the gates did it, left where a person did."""

from collections.abc import Callable

from ralph.core.ids import TaskId
from ralph.core.safe_text import first_few_paths
from ralph.core.snapshot import Snapshot
from ralph.engine.gates import run_gate
from ralph.engine.run_context import RunContext
from ralph.ports.workspace import Preview


def files_changed_by_gates(ctx: RunContext, before: Snapshot) -> list[str]:
    """Files that were there before the gates ran, and are not as they were."""
    now = ctx.checkout.snapshot()
    if now.same_as(before) or ctx.settings.config.git.commit == "none":
        return []
    there = {*before.dirty, *ctx.workspace.uncommitted()} - ctx.own_documents
    return [path for path in ctx.workspace.changes(before, now).files if path in there]


def undo_gate_changes(
    ctx: RunContext,
    before: Snapshot,
    preview: Callable[[], Preview],
    task: TaskId | None = None,
) -> None:
    """Restore the files that gates have changed: they would neither be committed nor be a user's,
    and so keep the next tasks from committing theirs."""
    changed = [
        path for path in files_changed_by_gates(ctx, before) if path not in ctx.checkout.kept
    ]
    if not changed:
        return
    # Nobody else works in a private checkout.
    is_private = ctx.merge_branch is not None
    by_gates = changed if is_private else _made_again(ctx, before, changed, preview(), task)
    ctx.checkout.changed()
    if by_gates:
        ref = f"refs/ralph/kept/{task or 'baseline'}/gates"
        ctx.workspace.save(ref, "With what gates have changed\n")
        ctx.workspace.restore_files(before, by_gates)
        ctx.checkout.changed()
        ctx.log.warn(
            f"gates changed {first_few_paths(by_gates)}, which is undone: gates only check"
            f" ({ref} has the changes)",
            task,
        )
    if others := [path for path in changed if path not in by_gates]:
        ctx.log.warn(
            f"{first_few_paths(others)} changed while gates ran, not by the gates alone: that stays"
            " as it is, and is not committed",
            task,
        )


def _made_again(
    ctx: RunContext, before: Snapshot, changed: list[str], preview: Preview, task: TaskId | None
) -> list[str]:
    """Those that the gates bring to the same bytes in a fresh checkout, where nobody else writes.
    A person may have edited the others meanwhile, and what they wrote is not for us to remove."""
    left, made = changed, list[str]()
    for links in dict.fromkeys((preview.environment, preview.dependencies)):
        if not left:
            break
        name = f"gates-{task or 'baseline'}"
        with ctx.checkouts.checkout_of(ctx.workspace, before, name, links=links) as place:
            for gate in ctx.settings.gates.commands:
                run_gate(ctx, gate, place)
            same = ctx.workspace.same_files(place, left)
        made += same
        left = [path for path in left if path not in same]
    return made
