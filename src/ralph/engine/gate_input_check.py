"""Part of step 4: detect gates that pass only because the task changed the gate's own files."""

import os
import posixpath
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from ralph.core.gates import (
    Gate,
    GateEvidence,
    GateResult,
    compare_with_baseline,
    gate_inputs_changed,
)
from ralph.core.snapshot import Snapshot
from ralph.core.times import from_iso
from ralph.documents.gate_inputs import FileRead, gate_inputs
from ralph.documents.gate_settings import has_same_gate_settings
from ralph.engine.gates import run_gate
from ralph.engine.run_context import RunContext
from ralph.engine.run_state import EndedAttempt

LINKS: Final = 5
"""How many symbolic links in a row are followed."""
TRIES: Final = 20
"""How many attempts of a task are considered."""
TICK_S: Final = 0.02
"""File times may be this much older than the clock."""


def check_gate_inputs(
    ctx: RunContext, attempt: EndedAttempt, results: tuple[GateResult, ...]
) -> tuple[GateResult, ...]:
    """Mark the passes that prove nothing: each gate whose own files the task has changed runs again
    with those files as they were before."""
    if compare_with_baseline(ctx.state.baseline, results)[0] is GateEvidence.BROKEN:
        return results
    gates = {gate.name: gate for gate in ctx.settings.gates.commands}
    checked = []
    for result in results:
        gate = gates.get(result.name)
        if gate is not None and result.passed:
            changed, written = _changed(ctx, gate, attempt)
            proves = not written and (not changed or _passes(ctx, gate, attempt, changed))
            checked.append(replace(result, changed=(*changed, *written), proves=proves))
        else:
            checked.append(result)
    for warning in filter(None, map(gate_inputs_changed, checked)):
        ctx.log.warn(warning, attempt.task.id)
    return tuple(checked)


def _passes(ctx: RunContext, gate: Gate, attempt: EndedAttempt, changed: tuple[str, ...]) -> bool:
    """Whether the gate passes with those files as they were before the task."""
    mixed = ctx.workspace.with_files_of(attempt.base, attempt.after, changed)
    with ctx.checkouts.checkout_of(ctx.workspace, mixed, f"judge-{attempt.task.id}") as place:
        return run_gate(ctx, gate, place).passed


def _changed(
    ctx: RunContext, gate: Gate, attempt: EndedAttempt
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The gate's own files that the task has changed: known to git, and ignored ones."""
    workspace, base, after = ctx.workspace, attempt.base, attempt.after
    top = ctx.top
    changed = workspace.changes(base, after).files
    read_before = _FilesBefore(ctx, top, base, frozenset(changed))
    path = ctx.env.get("PATH", "")
    inputs = gate_inputs(gate.command, top, workspace.prefix.strip("/"), read_before, path)
    settings = {path for path in changed if inputs.has_settings_in(path)}
    found = [path for path in changed if inputs.runs(path) or path in settings]
    old = workspace.file_contents(base, found) if found else {}
    new = workspace.file_contents(after, found) if found else {}
    # A program that did not exist before is what the task was to make.
    existed = [path for path in found if path in old or path in settings]
    differing = [
        path
        for path in existed
        if not has_same_gate_settings(path, old.get(path, b""), new.get(path, b""))
    ]
    programs = inputs.programs - {*changed}
    return tuple(differing), _rewritten_programs(ctx, attempt, top, programs)


def _rewritten_programs(
    ctx: RunContext, attempt: EndedAttempt, top: str, programs: frozenset[str]
) -> tuple[str, ...]:
    """Programs that git does not know, such as `.venv/bin/pytest`, and that were written while a
    session worked on the task. What a gate builds and runs is written after the session."""
    session = attempt.session
    tries = ctx.store.sessions.select(task=session.task_id, limit=TRIES)
    begun = min(one.started_at for one in (session, *tries))
    first, last = from_iso(begun) - TICK_S, from_iso(session.ended_at or begun)
    found = []
    for path in sorted(programs):
        with suppress(OSError):
            whole = os.path.join(top, path)
            times = [os.stat(whole).st_ctime, os.lstat(whole).st_ctime]
            if any(first <= time <= last for time in times) and os.path.isfile(whole):
                found.append(path)
    known = ctx.workspace.file_contents(attempt.base, found) if found else {}
    texts = [
        path for path in found if path not in known and ctx.project_files_at(top).read(path).text
    ]
    return tuple(texts)


class _FilesBefore:
    """Reads files as they were before the task. Those that were not changed are read from disk."""

    def __init__(self, ctx: RunContext, top: str, base: Snapshot, changed: frozenset[str]) -> None:
        self.ctx, self.top, self.base, self.changed = ctx, top, base, changed
        self.project_files = ctx.project_files_at(top)

    def __call__(self, path: str) -> FileRead | None:
        for _ in range(LINKS):
            if path not in self.changed:
                path = self._real(path)
            if path not in self.changed:
                text = self.project_files.read(path).text
                return FileRead(path, text) if text is not None else None
            data = self.ctx.workspace.file_contents(self.base, [path]).get(path)
            if data is None:
                return None
            text = data.decode("utf-8", "replace")
            # git stores a link as a file with one line: the path to which it leads.
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), text))
            if "\n" in text or not (target in self.changed or self.project_files.exists(target)):
                return FileRead(path, text)
            path = target
        return None

    def _real(self, path: str) -> str:
        top = os.path.realpath(self.top)
        return os.path.relpath(os.path.realpath(os.path.join(top, path)), top)
