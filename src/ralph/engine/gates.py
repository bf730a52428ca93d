"""Running the gates in the checkout, against a baseline."""

import contextlib
import os

from ralph.core.ending import Exit, Stop
from ralph.core.errors import Unavailable
from ralph.core.events import BaselineTaken, GateEnded, GateStarted
from ralph.core.gates import Gate, GateResult
from ralph.core.ids import TaskId
from ralph.core.temporary import KILLED
from ralph.documents.coverage import percent
from ralph.engine.control import listen
from ralph.engine.enclosed import run_enclosed
from ralph.engine.gate_room import gate_room
from ralph.engine.kit import Kit
from ralph.ports.executor import Command, Interrupted, Timeouts

TAIL_BYTES = 8 * 1024
TAIL_LINES = 40


class _Tail:
    """A `Listener` that keeps the last lines."""

    has_result = False
    is_busy = False

    def __init__(self, kit: Kit, running: TaskId | None) -> None:
        self.kit = kit
        self.running = running
        self.bytes = b""

    def output(self, block: bytes) -> None:
        self.bytes = (self.bytes + block)[-TAIL_BYTES:]

    def tick(self) -> Stop | None:
        kit = self.kit
        if kit.interrupted():
            return Stop.INTERRUPTED
        kit.look_after()
        stop = listen(kit, self.running)
        kit.publish()
        kit.sink.tick()
        return stop

    def lines(self) -> str:
        return "\n".join(self.bytes.decode("utf-8", "replace").splitlines()[-TAIL_LINES:])


def take_baseline(kit: Kit) -> None:
    """Learn what is red already, before anyone has done anything.

    Not while unfinished work lies in the checkout: then the baseline before it still holds, and a
    gate that has none must pass.
    """
    if kit.unfinished is not None:
        remember(kit, ())
        return
    results = tuple(_run(kit, gate, None) for gate in kit.settings.gates)
    take_for_baseline(kit, results)
    # Gates may drop files; those are nobody's work.
    kit.snapshot = None


def take_for_baseline(kit: Kit, results: tuple[GateResult, ...]) -> None:
    """What the gates say before any work; one that cannot run at all is an error."""
    for result in results:
        if result.cannot_run:
            how = "does not end in time" if result.code is None else f"exits with {result.code}"
            raise Unavailable(
                f"gate {result.name} cannot run: it {how} before any work is done",
                hint=_last_line(result) or "try its command by hand, then mend [gates]",
            )
    remember(kit, results)
    kit.record(
        BaselineTaken(
            run_id=kit.settings.run_id,
            red=tuple(r.name for r in results if not r.passed),
            green=tuple(r.name for r in results if r.passed),
        )
    )


def remember(kit: Kit, results: tuple[GateResult, ...]) -> None:
    """From now on this is what the next attempt is compared with."""
    known = {result.name: result for result in kit.baseline}
    known.update({result.name: result for result in results})
    kit.baseline = tuple(known.values())
    kit.store.save_baseline(kit.settings.run_id, kit.baseline)


def last_baseline(kit: Kit) -> tuple[GateResult, ...]:
    """What it is for the whole run by now: others may have renewed it."""
    run = kit.store.run(kit.settings.run_id)
    return run.baseline if run is not None else ()


def run_gates(kit: Kit, task: TaskId) -> tuple[GateResult, ...]:
    """In order; one that was green and is red now ends it, since the verdict is clear."""
    red = {result.name for result in kit.baseline if not result.passed}
    results: list[GateResult] = []
    for gate in kit.settings.gates:
        result = _run(kit, gate, task)
        results.append(result)
        if not result.passed and gate.name not in red:
            break
    kit.snapshot = None
    return tuple(results)


def run_at(kit: Kit, gate: Gate, checkout: str) -> GateResult:
    """One gate, elsewhere than where the run works."""
    return _run(kit, gate, None, checkout)


def _run(kit: Kit, gate: Gate, task: TaskId | None, checkout: str = "") -> GateResult:
    kit.record(GateStarted(task_id=task, name=gate.name))
    exit_, tail = _try(kit, gate, task, checkout)
    if exit_.stop is None and exit_.code in KILLED:
        # By the system, when memory was short, or by a person. The second time it is the gate's.
        kit.warn(f"gate {gate.name} was killed from outside; it runs once more", task)
        exit_, tail = _try(kit, gate, task, checkout)
    if exit_.stop is Stop.INTERRUPTED:
        raise Interrupted
    timed_out = exit_.stop is not None
    said = "\n".join(filter(None, (tail.lines(), exit_.stderr[-2000:].rstrip())))
    passed = exit_.code == 0 and not timed_out
    short = too_little(gate, said) if passed else ""
    result = GateResult(
        name=gate.name,
        passed=passed and not short,
        code=None if timed_out else exit_.code,
        duration_s=round(exit_.duration_s, 3),
        output="\n".join(filter(None, (said, short))),
    )
    kit.record(
        GateEnded(
            task_id=task,
            name=gate.name,
            passed=result.passed,
            code=result.code,
            duration_s=result.duration_s,
        )
    )
    return result


def _try(kit: Kit, gate: Gate, task: TaskId | None, checkout: str) -> tuple[Exit, _Tail]:
    tail = _Tail(kit, task)
    log = f"{kit.files}.gate-{_file_name(gate.name)}.log"
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(log), exist_ok=True)
    with gate_room(kit.env, kit.settings.seat, is_walled=kit.wall.stands) as env:
        exit_ = run_enclosed(
            kit,
            Command(
                argv=("/bin/sh", "-c", gate.command),
                cwd=checkout or kit.workspace.path,
                env=env,
            ),
            log=log,
            timeouts=Timeouts(hard_s=kit.settings.gate_timeout_s),
            listener=tail,
            task=task,
        )
    return exit_, tail


def too_little(gate: Gate, said: str) -> str:
    """Why a gate that passes by its exit code does not by what it measures."""
    if not gate.minimum:
        return ""
    share = percent(said)
    if share is None:
        return f"it prints no percentage, and at least {gate.minimum:g} % coverage is asked for"
    if share < gate.minimum:
        return f"coverage is {share:g} %, and at least {gate.minimum:g} % is asked for"
    return ""


def _file_name(name: str) -> str:
    return "".join(char if char.isalnum() or char in "-_" else "-" for char in name)[:40]


def _last_line(result: GateResult) -> str:
    lines = result.output.strip().splitlines()
    return lines[-1][:200] if lines else ""
