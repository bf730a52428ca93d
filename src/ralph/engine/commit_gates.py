"""Part of step 4: do the gates pass on what will be committed, without the rest of the checkout?

They run where the session worked, among ignored files, likely secrets that are withheld and a
person's own changes. Where there is such a thing, they run again in a fresh checkout.
"""

from typing import Final

from msgspec.structs import replace

from ralph.core.gates import Gate, GateEvidence, GateResult, compare_with_baseline
from ralph.core.session_ending import EndingKind
from ralph.core.snapshot import Snapshot
from ralph.core.times import from_iso
from ralph.engine.crash_recovery import is_in_this_checkout
from ralph.engine.gate_changes import files_changed_by_gates
from ralph.engine.gates import run_gate
from ralph.engine.run_context import RunContext
from ralph.engine.run_state import EndedAttempt
from ralph.ports.workspace import Preview
from ralph.store.sessions import Session

LOOKED_AT: Final = 200
"""Sessions whose files are distinguished from a person's."""


def preview(ctx: RunContext, attempt: EndedAttempt) -> Preview:
    """What the commit of the work will hold."""
    if ctx.settings.config.git.commit == "none":
        return Preview(at=attempt.after)
    known = {one.id: one for one in ctx.store.sessions.select(limit=LOOKED_AT)}
    times = [
        (from_iso(one.started_at), _ended_at(ctx, one))
        for one in (known | {attempt.session.id: attempt.session}).values()
        if one.ended_at and is_in_this_checkout(ctx, one)
    ]
    run = ctx.store.runs.get(ctx.settings.run_id)
    found = ctx.workspace.preview(
        attempt.base,
        attempt.after,
        ctx.checkout.kept,
        ctx.own_documents,
        times=times,
        **({"began": from_iso(run.started_at)} if run is not None else {}),
    )
    # The sandbox keeps empty folders where sessions may not write: each would cost a second look.
    is_protected = ctx.checkout_sandbox.is_protected
    missing = (
        path
        for path in found.missing
        if not (path.endswith("/") and is_protected(path.rstrip("/")))
    )
    return replace(found, missing=tuple(missing))


def _ended_at(ctx: RunContext, session: Session) -> float:
    """Of one whose worker died it is known when that was seen last: it may have gone on since."""
    is_lost = session.ending is not None and session.ending.ended is EndingKind.LOST
    return from_iso(session.ended_at or "") + (ctx.settings.lease_s if is_lost else 0.0)


class CommitGates:
    """The gates of one attempt, asked again where the commit will not be what they saw."""

    def __init__(self, ctx: RunContext, attempt: EndedAttempt) -> None:
        """Before the gates run: what they write themselves is not the session's."""
        self.ctx, self.attempt = ctx, attempt
        self.preview = preview(ctx, attempt)

    def check(self, results: tuple[GateResult, ...]) -> tuple[GateResult, ...]:
        """The results; one that passes only with what the commit lacks does not pass."""
        if compare_with_baseline(self.ctx.state.baseline, results)[0] is GateEvidence.BROKEN:
            return results
        changed = files_changed_by_gates(self.ctx, self.attempt.after)
        missing = tuple(dict.fromkeys((*self.preview.missing, *changed)))
        if not missing:
            return results
        gates = {gate.name: gate for gate in self.ctx.settings.gates.commands}
        passed = [gates[one.name] for one in results if one.passed and one.name in gates]
        # A gate that writes files must not do so for the next one.
        groups = [[gate] for gate in passed] if changed else [passed]
        failed: dict[str, GateResult] = {}
        for group in groups:
            failed |= self._failing(group, self.preview.at, ())
        found = {
            name: replace(result, missing=missing)
            for name, result in failed.items()
            if self._is_to_blame(gates[name], missing)
        }
        return tuple(found.get(one.name, one) for one in results)

    def _is_to_blame(self, gate: Gate, missing: tuple[str, ...]) -> bool:
        """Does it pass as soon as the rest is there, and did it pass before the task without?
        Otherwise it needs something that a fresh checkout does not have."""
        red = {one.name for one in self.ctx.state.baseline if not one.passed}
        is_to_blame = not self._failing([gate], self.attempt.after, missing) and (
            gate.name in red or not self._failing([gate], Snapshot(head=self.attempt.base.head), ())
        )
        if not is_to_blame:
            self.ctx.log.warn_once(
                f"gate {gate.name} fails in a fresh checkout for other reasons than this work, so"
                " it cannot tell what a commit lacks; [workspace] setup prepares such checkouts"
            )
        return is_to_blame

    def _failing(
        self, gates: list[Gate], at: Snapshot, copies: tuple[str, ...]
    ) -> dict[str, GateResult]:
        """Those that do not pass in a fresh checkout of that state."""
        links, dependencies = self.preview.environment, self.preview.dependencies
        failed = self._failing_with(links, gates, at, copies)
        if failed and links != dependencies:
            # What a gate builds it cannot write through a link; without, it is built again.
            again = [gate for gate in gates if gate.name in failed]
            failed = self._failing_with(dependencies, again, at, copies)
        return failed

    def _failing_with(
        self, links: tuple[str, ...], gates: list[Gate], at: Snapshot, copies: tuple[str, ...]
    ) -> dict[str, GateResult]:
        ctx, name = self.ctx, f"commit-{self.attempt.task.id}"
        with ctx.checkouts.checkout_of(
            ctx.workspace, at, name, links=links, copies=copies
        ) as place:
            results = [run_gate(ctx, gate, place) for gate in gates]
        return {one.name: one for one in results if not one.passed}
