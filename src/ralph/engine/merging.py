"""Part of step 5 in a team: accepted work becomes part of the branch, one piece at a time."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Final

import msgspec

from ralph.core.errors import Busy, NoSuchTask, TemporaryFailure
from ralph.core.events import GatesWeighed, WorkSaved
from ralph.core.gates import Evidence, GateResult, weigh
from ralph.core.ids import TaskId
from ralph.core.merging import conflict_in_words
from ralph.core.snapshot import Snapshot
from ralph.core.task import Task
from ralph.core.team_events import MergeBegun, MergeQueued, WorkMerged
from ralph.core.transitions import Accepted, Conflicted, Rejected
from ralph.core.tried import Judged
from ralph.core.verdict import Verdict, on_gates
from ralph.engine.blaming import ask_gates
from ralph.engine.control import listen
from ralph.engine.gates import last_baseline, remember
from ralph.engine.kit import Kit
from ralph.engine.work import commit_message, trailers
from ralph.ports.claims import Claim
from ralph.ports.executor import Interrupted
from ralph.ports.history import Mark, Session
from ralph.ports.trunk import Conflict, Trunk

QUEUE_S: Final = 0.2
"""How often one who waits asks whether it is its turn."""
TRIES: Final = 5
OVERTAKEN: Final = 3
"""Tries during which others may merge."""
LOOKED_AT: Final = 10
FREE_CONFLICTS: Final = 8
"""Of the sessions that are looked at."""
NAMED: Final = 5
"""Other tasks that a conflict names."""


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """What became of accepted work."""

    refused: Verdict | None = None
    """Instead of the verdict that let it come so far."""
    base: Snapshot | None = None
    """What refused work is based on now."""
    events: tuple[WorkMerged, ...] = ()
    """None where there was nothing to merge."""


def merge(kit: Kit, trunk: Trunk, claim: Claim, session: Session) -> Merged:
    """Save it, rebase on the tip, gates again if that has moved, fast-forward. Killed anywhere, it
    is done again from the beginning, or found to be done."""
    if session.mark is not Mark.COMMITTED:
        trunk.keep(claim.task.id)
        kit.store.mark_session(session.id, Mark.COMMITTED)
    for attempt in range(1, TRIES + 1):
        _clear(kit, claim.task.id)
        # Others merge while the gates run; whoever was overtaken too often makes them wait.
        turn = _turn(kit, trunk, claim)
        whole, end = (nullcontext(), turn) if attempt <= OVERTAKEN else (turn, nullcontext())
        with whole:
            try:
                return _merge(kit, trunk, claim.task, session, end)
            except (Busy, TemporaryFailure):
                # A person has committed to the branch just now, and again, and again; or a git
                # was killed, and what it left is undone.
                if attempt == TRIES:
                    raise
    raise AssertionError


def _merge(
    kit: Kit,
    trunk: Trunk,
    claimed: Task,
    session: Session,
    turn: AbstractContextManager[None],
) -> Merged:
    task = claimed.id
    if trunk.is_merged(task):
        remember(kit, tuple(one for one in _said(kit, session) if one.passed))
        return _in_the_branch(kit, trunk, task)
    base = kit.store.base(task)
    message = "" if kit.settings.keep_steps else commit_message(kit, claimed)
    rebased = trunk.rebase(task, trailers(kit, task), message)
    kit.snapshot = None
    if rebased.conflict is not None:
        return Merged(refused=_conflicted(kit, session, rebased.conflict))
    now = kit.workspace.snapshot()
    onto = Snapshot(head=rebased.tip, branch=now.branch)
    is_moved = base is None or base.head != rebased.tip
    refused, results = _gated(kit, session, rebased.tip, is_moved=is_moved)
    if refused is not None:
        return Merged(refused=refused, base=onto)
    # From here on nobody has to ask the gates again, though Ralph should die now.
    kit.store.move_base(task, onto)
    kit.store.rename_commits(session.id, kit.workspace.changes(onto, now).commits)
    with turn:
        trunk.advance(task, rebased.tip)
        if results:
            remember(kit, results)
    return _in_the_branch(kit, trunk, task)


def _in_the_branch(kit: Kit, trunk: Trunk, task: TaskId) -> Merged:
    head, base = kit.workspace.snapshot().head, kit.store.base(task)
    if base is not None and base.head == head:
        return Merged()
    return Merged(events=(WorkMerged(task_id=task, branch=trunk.branch, commit=head),))


def _clear(kit: Kit, task: TaskId) -> None:
    """What is not committed by now is nobody's work: reports of gates, likely secrets. A rebase
    needs it out of the way."""
    now = kit.workspace.snapshot()
    if not now.dirty:
        return
    ref = f"refs/ralph/kept/{task}/left"
    kit.workspace.save(ref, f"Left uncommitted by {task}\n")
    kit.workspace.restore(Snapshot(head=now.head, branch=now.branch))
    kit.snapshot = None
    kit.record(WorkSaved(task_id=task, ref=ref))


@contextmanager
def _turn(kit: Kit, trunk: Trunk, claim: Claim) -> Iterator[None]:
    """Wait for the right to move the branch; a signal, or the loss of the claim, ends that."""
    task, is_told = claim.task.id, False
    while True:
        with trunk.turn() as is_ours:
            if is_ours:
                kit.record(MergeBegun(task_id=task))
                yield
                return
        if not is_told:
            kit.record(MergeQueued(task_id=task))
            is_told = True
        kit.executor.sleep(QUEUE_S, lambda: _is_called_off(kit, claim))
        if _is_called_off(kit, claim):
            raise Interrupted


def _is_called_off(kit: Kit, claim: Claim) -> bool:
    kit.look_after()
    stop = listen(kit, claim.task.id)
    kit.publish()
    return bool(stop or kit.interrupted() or kit.stop_now or not kit.store.holds(claim))


def _gated(
    kit: Kit, session: Session, tip: str, *, is_moved: bool
) -> tuple[Verdict | None, tuple[GateResult, ...]]:
    """What the gates say on top of what others have done; a verdict if that is no."""
    if not kit.settings.gates:
        return None, ()
    task = session.task_id
    # What is green there by now stays green, whatever it was when the task began.
    kit.baseline = last_baseline(kit)
    alone = _said(kit, session)
    is_asked = is_moved or weigh(kit.baseline, alone)[0] is Evidence.BROKEN
    results = ask_gates(kit, task, tip) if is_asked else alone
    evidence, decisive = weigh(kit.baseline, results)
    verdict = on_gates(evidence, decisive)
    if is_asked:
        kit.record(GatesWeighed(task_id=task, evidence=evidence))
    if isinstance(verdict.transition, Accepted):
        if is_asked:
            kit.store.mark_session(session.id, Mark.COMMITTED, results)
            _clear(kit, task)
        return None, results
    why = f"{verdict.message}, once it is on top of what others have merged"
    if any(one.passed for one in alone if decisive and one.name == decisive.name):
        return _outdated(kit, session, why), results
    return msgspec.structs.replace(verdict, message=why), results


def _said(kit: Kit, session: Session) -> tuple[GateResult, ...]:
    """By the gates, about this work as it is."""
    judged = kit.store.session(session.task_id, session.attempt)
    return judged.gates if judged is not None else ()


def _conflicted(kit: Kit, session: Session, conflict: Conflict) -> Verdict:
    why = conflict_in_words(conflict.files, others(kit, conflict.theirs))
    return _outdated(kit, session, why)


def _outdated(kit: Kit, session: Session, why: str) -> Verdict:
    """What was good by itself does not fit what others have merged: that costs the task nothing,
    unless it happens again and again."""
    before = [one.judged for one in last_sessions(kit, session.task_id)]
    is_free = before.count(Judged.CONFLICT) < FREE_CONFLICTS
    return Verdict(transition=Conflicted(why) if is_free else Rejected(why), message=why)


def last_sessions(kit: Kit, task: TaskId) -> list[Session]:
    """Those that say how the task's next one begins, the newest first."""
    return kit.store.sessions(task=task, limit=LOOKED_AT)[::-1]


def others(kit: Kit, tasks: tuple[TaskId, ...]) -> list[Task]:
    """Those of them that still exist."""
    found = []
    for task in tasks[:NAMED]:
        with suppress(NoSuchTask):
            found.append(kit.store.find(task))
    return found
