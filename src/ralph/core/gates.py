"""What the gates say, and what it is worth beside the baseline."""

from enum import StrEnum

import msgspec

from ralph.core.safe_text import one_line


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
    """Its last lines."""
    changed: tuple[str, ...] = ()
    """Files by which it judges, and which the task has changed."""
    proves: bool = True
    """False when it passes only with those files as they are now."""

    @property
    def cannot_run(self) -> bool:
        """Not found, not executable, out of time, or killed: it says nothing about the work."""
        return self.code in (None, 126, 127)


class Evidence(StrEnum):
    """What the gates prove about an attempt."""

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
    """Does one pass that failed before, whatever the others do?"""
    was_red = {result.name for result in baseline if not result.passed}
    return any(one.passed and one.proves and one.name in was_red for one in now)


def weigh(
    baseline: tuple[GateResult, ...], now: tuple[GateResult, ...]
) -> tuple[Evidence, GateResult | None]:
    """Compare with the baseline; also the gate that decided it.

    A gate without a baseline counts as green before: it must pass.
    """
    if not now:
        return Evidence.NO_GATES, None
    was_red = {result.name for result in baseline if not result.passed}
    for result in now:
        if not result.passed and result.name not in was_red:
            return Evidence.BROKEN, result
    for result in now:
        if not result.passed or not result.proves:
            return Evidence.NONE, result
    improved = next((result for result in now if result.name in was_red), None)
    return (Evidence.IMPROVED if improved else Evidence.GREEN), improved


def judge_changed(result: GateResult) -> str:
    """What to say about a gate whose files the task has changed; empty if it has not."""
    if not result.changed:
        return ""
    names = ", ".join(one_line(path, 60) for path in result.changed[:5])
    said = f"gate {result.name} judges by {names}, which this task has changed"
    if result.proves:
        return f"{said}; with those as they were before, it passes as well"
    return f"{said}; with those as they were before, it fails in a fresh checkout"
