"""Gates of several workers do not disturb each other."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph.core.gates import Gate
from ralph.core.process_exit import ProcessExit
from ralph.core.run import RunOutcome
from ralph.engine.gates import gate_environment, port_base
from ralph.ports.executor import Command, OutputListener
from tests.engine.world import World

PRINTS = b"TOTAL  40  7  83%\n"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "runs")


def printing(said: bytes) -> Callable[[Command, OutputListener], ProcessExit]:
    def play(_: Command, listener: OutputListener) -> ProcessExit:
        listener.output(said)
        return ProcessExit(code=0)

    return play


def test_every_slot_has_ports_of_its_own() -> None:
    bases = [port_base(f"teammate-{number}") for number in range(1, 101)]
    assert bases[:2] == [20000, 20100]
    assert len(set(bases)) == 100
    assert max(bases) + 100 <= 32768
    assert port_base("odd") == 20000
    with gate_environment({}, "teammate-3", is_sandboxed=True) as env:
        assert "TMPDIR" not in env
        assert (env["RALPH_SLOT"], env["RALPH_PORT_BASE"], env["RALPH_PORT_COUNT"]) == (
            "teammate-3",
            "20200",
            "100",
        )


def test_temporary_files_are_a_gates_own_and_gone_after_it(tmp_path: Path) -> None:
    inherited = {"TMPDIR": str(tmp_path)}
    with (
        gate_environment(inherited, "teammate-1", is_sandboxed=False) as one,
        gate_environment(inherited, "teammate-1", is_sandboxed=False) as two,
    ):
        folders = {env[name] for env in (one, two) for name in ("TMPDIR", "TMP", "TEMP")}
        assert len(folders) == 2
        (Path(one["TMPDIR"]) / "left").mkdir()
        assert all(os.path.dirname(folder) == str(tmp_path) for folder in folders)
    assert not any(map(os.path.exists, folders))


@pytest.mark.parametrize(
    ("said", "outcome", "why"),
    [
        (PRINTS, RunOutcome.COMPLETE_WITH_FAILURES, "coverage is 83 %, and at least 90 % is asked"),
        (b"fine\n", RunOutcome.COMPLETE_WITH_FAILURES, "it prints no percentage"),
        (b"TOTAL 90%\n", RunOutcome.COMPLETE, ""),
    ],
)
def test_coverage_has_a_minimum(world: World, said: bytes, outcome: RunOutcome, why: str) -> None:
    world.gates = (Gate(name="coverage", command="cover", minimum=90),)
    world.executor.gates["cover"] = [printing(b"TOTAL 95%\n"), printing(said)]
    task = world.add(max_retries=0)
    assert world.run(world.works()).outcome is outcome
    assert why in (world.task(task).reason or "")
    if why:
        assert (world.task(task).reason or "").startswith(f"gate coverage fails: {why}")
