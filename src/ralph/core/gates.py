"""The results of gates, compared with the baseline."""

from enum import StrEnum

import msgspec

from ralph.core.safe_text import first_few_paths


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """A command that must pass."""

    name: str
    command: str
    minimum: float = 0.0
    """Percent of coverage that it must report; 0: its exit code is all that counts."""


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """One gate, run once."""

    name: str
    passed: bool
    code: int | None = None
    """None when it was ended by its timeout."""
    duration_s: float = 0.0
    output: str = ""
    """The lines that say why it failed."""
    log: str = ""
    """The file with its whole output."""
    changed: tuple[str, ...] = ()
    """Files by which it judges, and which the task has changed."""
    proves: bool = True
    """False when it passes only with those files as they are now."""
    missing: tuple[str, ...] = ()
    """What it passes with, and does not pass without: the commit would not have it."""

    @property
    def cannot_run(self) -> bool:
        """Not found, not executable, out of time, or killed: it says nothing about the work."""
        return self.code in (None, 126, 127)


class GateEvidence(StrEnum):
    GREEN = "green"
    """All pass, as before."""
    IMPROVED = "improved"
    """All that passed still pass, and one that failed passes now."""
    NONE = "none"
    """One failed before and fails now, or passes by files that were changed: nothing is proved."""
    BROKEN = "broken"
    """One that passed fails now."""
    NO_GATES = "no_gates"


def improved(baseline: tuple[GateResult, ...], now: tuple[GateResult, ...]) -> bool:
    was_red = {result.name for result in baseline if not result.passed}
    return any(one.passed and one.proves and one.name in was_red for one in now)


def compare_with_baseline(
    baseline: tuple[GateResult, ...], now: tuple[GateResult, ...]
) -> tuple[GateEvidence, GateResult | None]:
    """Compare gate results with the baseline; also return the gate that decided.

    A gate without a baseline counts as green before: it must pass.
    """
    if not now:
        return GateEvidence.NO_GATES, None
    was_red = {result.name for result in baseline if not result.passed}
    for result in now:
        if not result.passed and (result.name not in was_red or result.missing):
            return GateEvidence.BROKEN, result
    for result in now:
        if not result.passed or not result.proves:
            return GateEvidence.NONE, result
    improved = next((result for result in now if result.name in was_red), None)
    return (GateEvidence.IMPROVED if improved else GateEvidence.GREEN), improved


def gate_inputs_changed(result: GateResult) -> str:
    """Describe a gate whose input files were changed by the task; empty if none were."""
    if not result.changed:
        return ""
    outcome = "passes as well" if result.proves else "fails in a fresh checkout"
    return (
        f"gate {result.name} judges by {first_few_paths(result.changed)}, which this task has"
        f" changed; with those as they were before, it {outcome}"
    )
