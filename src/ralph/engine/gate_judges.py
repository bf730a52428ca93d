"""Part of step 4: does a gate pass because the files changed by which it judges?"""

import os
import posixpath
from typing import Final

from msgspec.structs import replace

from ralph.core.gates import Evidence, Gate, GateResult, judge_changed, weigh
from ralph.core.ids import TaskId
from ralph.core.snapshot import Snapshot
from ralph.documents.judge_files import Seen, is_same_judge, judge_files
from ralph.engine.gates import run_at
from ralph.engine.kit import Kit

LINKS: Final = 5
"""Symbolic links that lead to one another."""


def check_judges(
    kit: Kit, task: TaskId, base: Snapshot, after: Snapshot, results: tuple[GateResult, ...]
) -> tuple[GateResult, ...]:
    """The results, with what each is worth: a gate whose files the task has changed is run again
    with those files as they were before."""
    if base.same_as(after) or weigh(kit.baseline, results)[0] is Evidence.BROKEN:
        return results
    gates = {gate.name: gate for gate in kit.settings.gates}
    return tuple(
        _checked(kit, task, gates[one.name], one, base=base, after=after)
        if one.passed and one.name in gates
        else one
        for one in results
    )


def _checked(
    kit: Kit, task: TaskId, gate: Gate, result: GateResult, *, base: Snapshot, after: Snapshot
) -> GateResult:
    changed = _changed(kit, gate, base, after)
    if not changed:
        return result
    mixed = kit.workspace.with_files_of(base, after, changed)
    with kit.checkouts.of(kit.workspace, mixed, f"judge-{task}") as place:
        before = run_at(kit, gate, place)
    checked = replace(result, changed=changed, proves=before.passed)
    kit.warn(judge_changed(checked), task)
    return checked


def _changed(kit: Kit, gate: Gate, base: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """The files by which a gate judges, and which are not what they were."""
    workspace = kit.workspace
    top = workspace.path.removesuffix(f"/{workspace.prefix.strip('/')}")
    changed = workspace.changes(base, after).files
    judges = judge_files(
        gate.command, top, workspace.prefix.strip("/"), _Before(kit, top, base, frozenset(changed))
    )
    found = [path for path in changed if path in judges.programs or path in judges.settings]
    if not found:
        return ()
    old, new = workspace.contents(base, found), workspace.contents(after, found)
    # A program that was not there before is what the task was to make.
    there = [path for path in found if path in old or path in judges.settings]
    return tuple(path for path in there if not _is_same(path, old, new))


class _Before:
    """Reads files as they were before the task: what was not changed is still on disk."""

    def __init__(self, kit: Kit, top: str, base: Snapshot, changed: frozenset[str]) -> None:
        self.kit, self.top, self.base, self.changed = kit, top, base, changed
        self.library = kit.library_at(top) if kit.library_at is not None else kit.library

    def __call__(self, path: str) -> Seen | None:
        for _ in range(LINKS):
            if path not in self.changed:
                path = self._real(path)
            if path not in self.changed:
                text = self.library.read(path).text
                return Seen(path, text) if text is not None else None
            data = self.kit.workspace.contents(self.base, [path]).get(path)
            if data is None:
                return None
            text = data.decode("utf-8", "replace")
            # That is how git stores a link; a file of one line that is a path is none of a judge.
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), text))
            if "\n" in text or not (target in self.changed or self.library.exists(target)):
                return Seen(path, text)
            path = target
        return None

    def _real(self, path: str) -> str:
        top = os.path.realpath(self.top)
        return os.path.relpath(os.path.realpath(os.path.join(top, path)), top)


def _is_same(path: str, old: dict[str, bytes], new: dict[str, bytes]) -> bool:
    return is_same_judge(path, old.get(path, b""), new.get(path, b""))
