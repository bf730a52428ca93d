"""Run gates: each with its environment, output and result."""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.core.errors import CannotWrite
from ralph.core.events import GateEnded, GateStarted
from ralph.core.gate_output import coverage_percent, decisive_lines
from ralph.core.gates import Gate, GateEvidence, GateResult, compare_with_baseline
from ralph.core.ids import TaskId
from ralph.core.process_exit import ProcessExit, was_killed
from ralph.core.session_ending import EndingKind
from ralph.engine.control import tick
from ralph.engine.run_context import RunContext
from ralph.engine.sandboxed_process import SandboxedExecutor
from ralph.engine.tampering import withdraw_protected
from ralph.files import remove_tree
from ralph.ports.executor import Command, Interrupted, Timeouts

FIRST_PORT: Final = 20_000
PORTS: Final = 100
"""For each worker. They end below those that systems hand out by themselves."""
SLOTS: Final = 120
TEMPORARY: Final = ("TMPDIR", "TMP", "TEMP")
TAIL_BYTES: Final = 64 * 1024
EMPTY_CHECKOUT: Final = (
    'folder=$(mktemp -d) && cd "$folder" && { git init -q; exec /bin/sh -c "$1"; }',
    "empty-checkout",
)
"""Arguments of `sh -c` before a gate's command: they run it in a repository without files."""
EMPTY_CHECKOUT_S: Final = 60.0
"""A gate that takes longer there does not pass."""


class GateProcess(msgspec.Struct, frozen=True, kw_only=True):
    """How the gates of one run are started."""

    processes: SandboxedExecutor
    env: Mapping[str, str]
    slot: str
    timeout_s: float
    log: str
    """The common beginning of the log files' names."""
    tick: Callable[[TaskId | None], EndingKind | None] = lambda _: None
    """Called at least twice a second with the task whose work is checked."""

    def run(self, gate: Gate, checkout: str, task: TaskId | None = None) -> GateResult:
        exit_, output = self._start(gate, checkout, task)
        if exit_.stop is None and was_killed(exit_.code):
            # By the system when memory was short, or by a person. The second time it is a result.
            self.processes.warn(
                f"gate {gate.name} was killed from outside; it runs once more", task
            )
            exit_, output = self._start(gate, checkout, task)
        if exit_.stop is EndingKind.INTERRUPTED:
            raise Interrupted
        return replace(_result(gate, exit_, output), log=self._log(gate))

    def passes_when_empty(self, gate: Gate, checkout: str) -> bool:
        """Return whether the gate also passes in a repository without files."""
        exit_, output = self._start(gate, checkout, None, is_empty=True)
        return _result(gate, exit_, output).passed

    def _log(self, gate: Gate, suffix: str = "") -> str:
        return f"{self.log}.gate-{_file_name(gate.name)}{suffix}.log"

    def _start(
        self, gate: Gate, checkout: str, task: TaskId | None, *, is_empty: bool = False
    ) -> tuple[ProcessExit, str]:
        tail = _Tail(lambda: self.tick(task))
        log = self._log(gate, ".empty" if is_empty else "")
        with suppress(OSError):
            os.makedirs(os.path.dirname(log), exist_ok=True)
        is_sandboxed = self.processes.checkout_sandbox.is_active
        limit_s = min(EMPTY_CHECKOUT_S, self.timeout_s) if is_empty else self.timeout_s
        with gate_environment(self.env, self.slot, is_sandboxed=is_sandboxed) as env:
            wrapper = EMPTY_CHECKOUT if is_empty else ()
            argv = ("/bin/sh", "-c", *wrapper, gate.command)
            exit_ = self.processes.run(
                Command(argv=argv, cwd=checkout, env=env, keeps_branches=True),
                log=log,
                timeouts=Timeouts(hard_s=limit_s),
                listener=tail,
                task=task,
            )
        return exit_, "\n".join(filter(None, (tail.text(), exit_.stderr[-2000:].rstrip())))


class _Tail:
    """An `OutputListener` that keeps the last lines."""

    has_result = False
    is_busy = False

    def __init__(self, tick: Callable[[], EndingKind | None]) -> None:
        self.tick = tick
        self.bytes = b""

    def output(self, block: bytes) -> None:
        self.bytes = (self.bytes + block)[-TAIL_BYTES:]

    def text(self) -> str:
        return self.bytes.decode("utf-8", "replace").rstrip()


def _result(gate: Gate, exit_: ProcessExit, output: str) -> GateResult:
    passed = exit_.code == 0 and exit_.stop is None
    too_low = _below_minimum(gate, output) if passed else ""
    return GateResult(
        name=gate.name,
        passed=passed and not too_low,
        code=None if exit_.stop is not None else exit_.code,
        duration_s=round(exit_.duration_s, 3),
        output=too_low or ("" if passed else "\n".join(decisive_lines(output))),
    )


def _below_minimum(gate: Gate, output: str) -> str:
    """Why a gate that exits with 0 does not pass by what it measures."""
    if not gate.minimum:
        return ""
    share = coverage_percent(output)
    if share is None:
        return f"it prints no percentage, and at least {gate.minimum:g} % coverage is asked for"
    if share < gate.minimum:
        return f"coverage is {share:g} %, and at least {gate.minimum:g} % is asked for"
    return ""


def _file_name(name: str) -> str:
    return "".join(char if char.isalnum() or char in "-_" else "-" for char in name)[:40]


def port_base(slot: str) -> int:
    """The first port of a worker: `teammate-1` begins at 20000, the next one a hundred further."""
    number = slot.rpartition("-")[2]
    return FIRST_PORT + PORTS * ((int(number) - 1) % SLOTS if number.isdecimal() else 0)


@contextmanager
def gate_environment(
    inherited: Mapping[str, str], slot: str, *, is_sandboxed: bool
) -> Iterator[Mapping[str, str]]:
    """The environment of one gate. A sandbox has temporary files of its own anyway."""
    env = {
        **inherited,
        "RALPH_SLOT": slot,
        "RALPH_PORT_BASE": str(port_base(slot)),
        "RALPH_PORT_COUNT": str(PORTS),
    }
    if is_sandboxed:
        yield env
        return
    try:
        folder = tempfile.mkdtemp(prefix="ralph-gate-", dir=inherited.get("TMPDIR") or None)
    except OSError as error:
        raise CannotWrite(
            f"no folder for a gate's temporary files can be made: {error.strerror}",
            hint="free some space, or set TMPDIR to another folder",
        ) from error
    try:
        yield {**env, **dict.fromkeys(TEMPORARY, folder)}
    finally:
        # What a gate has made unremovable stays in the folder for temporary files.
        with suppress(OSError):
            remove_tree(folder)


# The gates of a run


def run_gates(ctx: RunContext, task: TaskId) -> tuple[GateResult, ...]:
    """Run the gates in order; stop at the first one that was green and is red now."""
    before = ctx.checkout.snapshot()
    red = {result.name for result in ctx.state.baseline if not result.passed}
    results: list[GateResult] = []
    for gate in ctx.settings.gates.commands:
        result = run_gate(ctx, gate, task=task)
        results.append(result)
        if not result.passed and gate.name not in red:
            break
    ctx.checkout.changed()
    withdraw_protected(ctx, task, before, ctx.checkout.snapshot())
    return tuple(results)


def run_gate(
    ctx: RunContext, gate: Gate, checkout: str = "", task: TaskId | None = None
) -> GateResult:
    """Run one gate in the run's checkout, or in another one; record it."""
    ctx.log.record(GateStarted(task_id=task, name=gate.name))
    result = gate_process(ctx).run(gate, checkout or ctx.workspace.path, task)
    ctx.log.record(
        GateEnded(
            task_id=task,
            name=gate.name,
            passed=result.passed,
            code=result.code,
            duration_s=result.duration_s,
        )
    )
    return result


def gate_process(ctx: RunContext) -> GateProcess:
    return GateProcess(
        processes=ctx.processes,
        env=ctx.env,
        slot=ctx.settings.slot,
        timeout_s=ctx.settings.gates.timeout_s,
        log=ctx.files,
        tick=lambda task: tick(ctx, task),
    )


def run_gates_with_blame(ctx: RunContext, task: TaskId, at: str) -> tuple[GateResult, ...]:
    """Run the gates on work that is based on a commit. A gate that already fails there is not the
    work's fault: it becomes part of the baseline, and the other gates run as well."""
    while True:
        results = run_gates(ctx, task)
        evidence, decisive = compare_with_baseline(ctx.state.baseline, results)
        if evidence is not GateEvidence.BROKEN or not _fails_already(ctx, task, decisive, at):
            return results


def _fails_already(ctx: RunContext, task: TaskId, broken: GateResult | None, at: str) -> bool:
    """Checked only where people have committed: what the team merges has passed."""
    if broken is None or ctx.merge_branch is None or not ctx.merge_branch.changed_by_people(at):
        return False
    gate = next(one for one in ctx.settings.gates.commands if one.name == broken.name)
    with ctx.merge_branch.temporary_checkout(f"baseline-{task}", at) as place:
        before = run_gate(ctx, gate, place)
    if before.passed:
        return False
    ctx.log.warn(f"gate {gate.name} fails at {at[:10]}, with what was committed there by hand")
    ctx.state.update_baseline([before])
    return True
