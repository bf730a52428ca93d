"""The baseline: what the gates say before any work. Results of attempts are compared with it."""

from ralph.core.errors import Unavailable
from ralph.core.events import BaselineTaken
from ralph.core.gate_output import headline
from ralph.core.gates import GateResult
from ralph.engine.gate_changes import undo_gate_changes
from ralph.engine.gates import gate_process, run_gate
from ralph.engine.run_context import RunContext
from ralph.engine.tampering import withdraw_protected


def take_baseline(ctx: RunContext) -> None:
    """Run the gates before any work, to learn which fail already.

    Not while unfinished work lies in the checkout: then the baseline before it still holds, and a
    gate that has none must pass.
    """
    if ctx.checkout.unfinished is not None:
        save_baseline(ctx, ())
        return
    before = ctx.checkout.snapshot()
    results = tuple(run_gate(ctx, gate) for gate in ctx.settings.gates.commands)
    # Gates may drop files; no task made those.
    ctx.checkout.changed()
    withdraw_protected(ctx, None, before, ctx.checkout.snapshot())
    undo_gate_changes(
        ctx,
        before,
        lambda: ctx.workspace.preview(before, before, ctx.checkout.kept, ctx.own_documents),
    )
    accept_baseline(ctx, results)


def accept_baseline(ctx: RunContext, results: tuple[GateResult, ...]) -> None:
    """Check and store the baseline; a gate that cannot run at all is an error."""
    for result in results:
        if result.cannot_run:
            how = "does not end in time" if result.code is None else f"exits with {result.code}"
            raise Unavailable(
                f"gate {result.name} cannot run: it {how} before any work is done",
                hint=headline(tuple(result.output.splitlines()))
                or "try its command by hand, then fix [gates]",
            )
    _try_in_empty_checkout(ctx, results)
    save_baseline(ctx, results)
    ctx.log.record(
        BaselineTaken(
            run_id=ctx.settings.run_id,
            red=tuple(r.name for r in results if not r.passed),
            green=tuple(r.name for r in results if r.passed),
        )
    )


def passes_when_empty(name: str) -> str:
    """The warning about such a gate."""
    return f"gate {name} passes in an empty checkout, so it may prove nothing"


def _try_in_empty_checkout(ctx: RunContext, results: tuple[GateResult, ...]) -> None:
    """Warn about gates that pass where there is nothing to check. A gate that fails in the
    baseline can fail, and one that an earlier run had in its baseline was tried then."""
    known = {result.name for run in ctx.store.runs.newest() for result in run.baseline}
    new = {result.name for result in results if result.passed} - known
    for gate in ctx.settings.gates.commands:
        if gate.name in new and gate_process(ctx).passes_when_empty(gate, ctx.workspace.path):
            ctx.log.warn(passes_when_empty(gate.name))


def save_baseline(ctx: RunContext, results: tuple[GateResult, ...]) -> None:
    """Store the results with which the next attempt is compared."""
    ctx.state.update_baseline(results)
    ctx.store.runs.save_baseline(ctx.settings.run_id, ctx.state.baseline)


def current_baseline(ctx: RunContext) -> tuple[GateResult, ...]:
    """Return the baseline of the whole run, which other workers may have updated."""
    run = ctx.store.runs.get(ctx.settings.run_id)
    return run.baseline if run is not None else ()
