"""Find the gates of a project, and run them once outside of a run."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from shutil import which

import msgspec

from ralph.core.gates import Gate, GateResult
from ralph.core.times import parse_duration
from ralph.documents.gate_commands import cannot_fail
from ralph.documents.project_stack import (
    LOOKED_AT,
    Preparation,
    missing_programs,
    preparation_of,
    suggested_gates,
)
from ralph.engine.gates import GateProcess
from ralph.engine.run_context import MARKER
from ralph.engine.sandboxed_process import SandboxedExecutor
from ralph.files import lock_or_busy
from ralph.wiring.processes import open_executor
from ralph.wiring.project import Project, files_in
from ralph.wiring.project_sandbox import session_environment
from ralph.wiring.run_settings import usable_gates
from ralph.wiring.sandbox import open_sandbox_or_none

PATIENCE_S = 6 * 3600.0
"""Teammates of one checkout wait for each other: their gates would disturb each other."""


class GateDiscovery(msgspec.Struct, frozen=True, kw_only=True):
    gates: dict[str, str]
    """What the project's files suggest and whose programs are installed."""
    missing: dict[str, list[str]]
    """Programs that are not installed, and the gates that they keep from being suggested."""
    preparation: Preparation
    """How a private checkout is prepared for the gates."""


def find_gates(root: str) -> GateDiscovery:
    project_files = files_in(root)
    texts = {name: project_files.read(name).text for name in LOOKED_AT}
    files = {name: text for name, text in texts.items() if text is not None}
    has_program = program_finder(root, None)
    gates = suggested_gates(files, has_program)
    return GateDiscovery(
        gates=gates,
        missing=missing_programs(files, has_program),
        preparation=preparation_of(files, gates),
    )


def program_finder(root: str, path: str | None) -> Callable[[str], bool]:
    """A function that says whether a program is installed, on the PATH or in the project. A
    name with a folder is looked for from the project's root."""

    def has_program(name: str) -> bool:
        if os.sep in name:
            return os.access(os.path.join(root, name), os.X_OK)
        own = os.path.join(root, "node_modules", ".bin", name)
        return which(name, path=path) is not None or os.path.exists(own)

    return has_program


def first_failure(project: Project, slot: str) -> GateResult | None:
    """Run the gates in order, in the sandbox; return the first failure."""
    gates = usable_gates(project)
    if not gates:
        return None
    with (
        lock_or_busy(os.path.join(project.state, "gates.lock"), PATIENCE_S),
        gate_process(project, slot) as process,
    ):
        results = (process.run(gate, project.root) for gate in gates)
        return next((result for result in results if not result.passed), None)


def passing_when_empty(project: Project) -> list[str]:
    """The names of the gates that pass in an empty checkout as well."""
    with gate_process(project, "") as process:
        return [
            gate.name
            for gate in usable_gates(project)
            if process.passes_when_empty(gate, project.root)
        ]


def try_gates(project: Project, gates: Mapping[str, str]) -> Iterator[GateResult]:
    """Run each gate that can fail once, in the sandbox unless the settings say otherwise."""
    commands = {name: command for name, command in gates.items() if not cannot_fail(command)}
    if not commands:
        return
    with gate_process(project, "") as process:
        for name, command in commands.items():
            yield process.run(Gate(name=name, command=command), project.root)


@contextmanager
def gate_process(project: Project, slot: str) -> Iterator[GateProcess]:
    """How gates are started outside of a run."""
    with (
        open_executor() as executor,
        open_sandbox_or_none(project, executor) as checkout_sandbox,
    ):
        env, _ = session_environment(project)
        hook = f"hook-{os.getpid()}"
        yield GateProcess(
            processes=SandboxedExecutor(executor=executor, checkout_sandbox=checkout_sandbox),
            env={**env, MARKER: hook},
            slot=slot,
            timeout_s=parse_duration(project.config.timeouts.gate),
            log=os.path.join(project.runs_dir, hook),
        )
