"""Part of step 4: does a gate pass because the files changed by which it judges?"""

import os
import posixpath
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from ralph.core.gates import Evidence, Gate, GateResult, judge_changed, weigh
from ralph.core.moment import epoch
from ralph.core.snapshot import Snapshot
from ralph.documents.judge_files import Seen, is_same_judge, judge_files
from ralph.engine.gates import run_at
from ralph.engine.kit import Kit
from ralph.ports.history import Session
from ralph.ports.library import Library

LINKS: Final = 5
"""Symbolic links that lead to one another."""
TRIES: Final = 20
"""Attempts of a task whose beginning counts."""
TICK_S: Final = 0.02
"""The times of files may lag behind the clock so far."""


def check_judges(
    kit: Kit, session: Session, base: Snapshot, results: tuple[GateResult, ...]
) -> tuple[GateResult, ...]:
    """The results, with what each is worth: a gate whose files the task has changed is run again
    with those files as they were before."""
    after = session.after
    if after is None or weigh(kit.baseline, results)[0] is Evidence.BROKEN:
        return results
    gates = {gate.name: gate for gate in kit.settings.gates}
    checked = []
    for result in results:
        gate = gates.get(result.name)
        if gate is not None and result.passed:
            changed, written = _changed(kit, gate, session, base, after)
            proves = not written and (not changed or _passes(kit, gate, session, base, changed))
            checked.append(replace(result, changed=(*changed, *written), proves=proves))
        else:
            checked.append(result)
    for said in filter(None, map(judge_changed, checked)):
        kit.warn(said, session.task_id)
    return tuple(checked)


def _passes(
    kit: Kit, gate: Gate, session: Session, base: Snapshot, changed: tuple[str, ...]
) -> bool:
    """Does it pass with those files as they were before the task?"""
    assert session.after is not None
    mixed = kit.workspace.with_files_of(base, session.after, changed)
    with kit.checkouts.of(kit.workspace, mixed, f"judge-{session.task_id}") as place:
        return run_at(kit, gate, place).passed


def _changed(
    kit: Kit, gate: Gate, session: Session, base: Snapshot, after: Snapshot
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files by which a gate judges, and which are not what they were before the task: those
    that git knows, and those that it ignores."""
    workspace = kit.workspace
    top = workspace.path.removesuffix(f"/{workspace.prefix.strip('/')}")
    changed = workspace.changes(base, after).files
    look = _Before(kit, top, base, frozenset(changed))
    judges = judge_files(gate.command, top, workspace.prefix.strip("/"), look)
    found = [path for path in changed if path in judges.programs or path in judges.settings]
    old = workspace.contents(base, found) if found else {}
    new = workspace.contents(after, found) if found else {}
    # A program that was not there before is what the task was to make.
    there = [path for path in found if path in old or path in judges.settings]
    differing = [path for path in there if not _is_same(path, old, new)]
    return tuple(differing), _rewritten(kit, session, base, top, judges.programs - {*changed})


def _rewritten(
    kit: Kit, session: Session, base: Snapshot, top: str, programs: frozenset[str]
) -> tuple[str, ...]:
    """Programs that git does not know, such as `.venv/bin/pytest`, and that were written while a
    session worked on the task. What a gate builds and runs is written after the session."""
    tries = kit.store.sessions(task=session.task_id, limit=TRIES)
    begun = min(one.started_at for one in (session, *tries))
    first, last = epoch(begun) - TICK_S, epoch(session.ended_at or begun)
    found = []
    for path in sorted(programs):
        with suppress(OSError):
            whole = os.path.join(top, path)
            times = [os.stat(whole).st_ctime, os.lstat(whole).st_ctime]
            if any(first <= time <= last for time in times) and os.path.isfile(whole):
                found.append(path)
    known = kit.workspace.contents(base, found) if found else {}
    texts = [path for path in found if path not in known and _library(kit, top).read(path).text]
    return tuple(texts)


class _Before:
    """Reads files as they were before the task: what was not changed is still on disk."""

    def __init__(self, kit: Kit, top: str, base: Snapshot, changed: frozenset[str]) -> None:
        self.kit, self.top, self.base, self.changed = kit, top, base, changed
        self.library = _library(kit, top)

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


def _library(kit: Kit, top: str) -> Library:
    """The files of the checkout in which the session worked."""
    return kit.library_at(top) if kit.library_at is not None else kit.library
