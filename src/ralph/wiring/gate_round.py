"""All gates, once, outside of a run: for whoever asks whether the tree is good as it is."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from ralph.adapters.executor.clock import SystemClock
from ralph.adapters.executor.processes import Processes
from ralph.adapters.sandbox.wall import NoWall
from ralph.core.duration import seconds
from ralph.core.ending import Stop
from ralph.core.errors import Unavailable
from ralph.core.gates import Gate, GateResult
from ralph.engine.gate_room import gate_room
from ralph.engine.gates import TAIL_BYTES, TAIL_LINES, too_little
from ralph.engine.kit import MARKER
from ralph.files import lock_or_busy
from ralph.ports.executor import Command, Timeouts
from ralph.ports.sandbox import Wall
from ralph.wiring.project import Project
from ralph.wiring.settings import honest_gates
from ralph.wiring.walls import an_enclosure, ground_of, session_environment

PATIENCE_S = 6 * 3600.0
"""Teammates of one checkout wait for each other: their gates would disturb each other."""


def first_failure(project: Project, seat: str) -> GateResult | None:
    """Run them in their order, behind the wall; the first that fails, None where all pass."""
    gates = honest_gates(project)
    if not gates:
        return None
    os.makedirs(project.runs_dir, exist_ok=True)
    with (
        lock_or_busy(os.path.join(project.state, "gates.lock"), PATIENCE_S),
        _place(project) as place,
    ):
        for gate in gates:
            result = _run(project, place, gate, seat)
            if not result.passed:
                return result
    return None


class _Place(NamedTuple):
    """Where gates run."""

    wall: Wall
    executor: Processes
    env: Mapping[str, str]


@contextmanager
def _place(project: Project) -> Iterator[_Place]:
    if project.loaded.config.sandbox.mode != "off":
        with an_enclosure(ground_of(project), None) as found:
            yield _Place(found.wall, found.executor, found.env)
        return
    executor = Processes(SystemClock())
    try:
        env, _ = session_environment(project.loaded, os.environ, ())
        yield _Place(NoWall(), executor, env)
    finally:
        executor.close()


class _Tail:
    """A `Listener` that keeps the last lines."""

    has_result = False
    is_busy = False

    def __init__(self) -> None:
        self.bytes = b""

    def output(self, block: bytes) -> None:
        self.bytes = (self.bytes + block)[-TAIL_BYTES:]

    def tick(self) -> Stop | None:
        return None

    def lines(self) -> str:
        return "\n".join(self.bytes.decode("utf-8", "replace").splitlines()[-TAIL_LINES:])


def _run(project: Project, place: _Place, gate: Gate, seat: str) -> GateResult:
    tail = _Tail()
    wall = place.wall
    with gate_room(place.env, seat, is_walled=wall.stands) as env:
        command = Command(
            argv=("/bin/sh", "-c", gate.command),
            cwd=project.root,
            env={**env, MARKER: f"hook-{os.getpid()}"},
        )
        with wall.around(command) as inside:
            exit_ = place.executor.run(
                inside.command,
                log=os.path.join(project.runs_dir, f"hook-{os.getpid()}.log"),
                timeouts=Timeouts(hard_s=seconds(project.loaded.config.timeouts.gate)),
                listener=tail,
            )
            has_started = inside.has_started
    if not has_started and exit_.code is not None and exit_.stop is None:
        why = wall.has_failed(exit_) or f"exit code {exit_.code}"
        raise Unavailable(f"the sandbox cannot be built: {why}", hint="ralph doctor")
    said = "\n".join(filter(None, (tail.lines(), exit_.stderr[-2000:].rstrip())))
    passed = exit_.code == 0 and exit_.stop is None
    short = too_little(gate, said) if passed else ""
    return GateResult(
        name=gate.name,
        passed=passed and not short,
        code=None if exit_.stop is not None else exit_.code,
        duration_s=round(exit_.duration_s, 3),
        output="\n".join(filter(None, (said, short))),
    )
