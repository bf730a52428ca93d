"""Between rows and values. Values that are more than a word are stored as JSON."""

from typing import Any

import msgspec

from ralph.adapters.store.database import Row
from ralph.core.ending import Ending
from ralph.core.gates import GateResult
from ralph.core.json_text import decode, encode
from ralph.core.memory import Memory, MemoryKind
from ralph.core.named_files import in_order
from ralph.core.outcome import Outcome
from ralph.core.sections import Given
from ralph.core.snapshot import Snapshot
from ralph.core.task import Feature, FeatureStatus, Status, Task, TaskType
from ralph.core.tool_uses import ToolUses
from ralph.core.tried import Judged, Tried
from ralph.ports.crew import Member, Owner
from ralph.ports.history import Mark, Run, Session

STATUSES = {status.value: status for status in Status}
TYPES = {kind.value: kind for kind in TaskType}


def task_of(row: Row) -> Task:
    """A row of the `{task}` columns. Written out, since it is read more often than any other."""
    return Task(
        id=row[0],
        title=row[1],
        description=row[2],
        status=STATUSES[row[3]],
        parent_id=row[4],
        feature_id=row[5],
        task_type=TYPES[row[6]],
        priority=row[7],
        retry_count=row[8],
        max_retries=row[9],
        strikes=row[10],
        attempt=row[11],
        verification_status=row[12],
        claimed_by=row[13],
        alias=row[14],
        needs_change=row[15] == 1,
        reason=row[16],
        created_at=row[17],
        updated_at=row[18],
        # Hardly any task names files, and this runs for every one.
        files=() if row[19] == "[]" else in_order(decode(row[19], list[str])),
        review=row[20],
    )


def feature_of(row: Row) -> Feature:
    """A row of `features`."""
    id_, name, spec_path, plan_path, status, created_at, updated_at = row
    return Feature(
        id=id_,
        name=name,
        spec_path=spec_path,
        plan_path=plan_path,
        status=FeatureStatus(status),
        created_at=created_at,
        updated_at=updated_at,
    )


def owner_of(row: Row) -> Owner | None:
    """The five owner columns of a worker; None for a worker that never joined."""
    host, boot_id, pid_namespace, pid, pid_start = row
    if host is None:
        return None
    return Owner(
        host=host, boot_id=boot_id, pid_namespace=pid_namespace, pid=pid, pid_start=pid_start
    )


def member_of(row: Row) -> Member:
    """A row of the query `crew`."""
    owner = owner_of(row[3:])
    assert owner is not None
    return Member(worker=row[0], run_id=row[1], seat=row[2], owner=owner)


def run_of(row: Row) -> Run:
    """A row of `runs`."""
    id_, worker, target, agent, checkout, started_at, sandbox, *rest = row
    ended_at, outcome, reason, baseline = rest
    return Run(
        id=id_,
        worker=worker,
        target=target,
        agent=agent,
        checkout=checkout,
        sandbox=sandbox,
        started_at=started_at,
        ended_at=ended_at,
        outcome=None if outcome is None else Outcome(outcome),
        reason=reason,
        baseline=msgspec.json.decode(baseline, type=tuple[GateResult, ...]),
    )


def session_of(row: Row) -> Session:
    """A row of `sessions`."""
    return Session(
        id=row[0],
        task_id=row[1],
        attempt=row[2],
        run_id=row[3],
        worker=row[4],
        agent=row[5],
        model=row[6],
        tier=row[7],
        strategy=row[8],
        log=row[9],
        started_at=row[10],
        ended_at=row[11],
        mark=Mark(row[12]),
        before=snapshot_of(row[13]),
        after=snapshot_of(row[14]),
        ending=None if row[15] is None else msgspec.json.decode(row[15], type=Ending),
        told=row[16],
        gates=msgspec.json.decode(row[17], type=tuple[GateResult, ...]),
        commits=msgspec.json.decode(row[18], type=tuple[str, ...]),
        duration_s=row[19],
        verdict=row[20],
        judged=None if row[21] is None else Judged(row[21]),
        given=msgspec.json.decode(row[22], type=tuple[Given, ...]),
        checkout=row[23],
        tools=ToolUses(tokens=row[24], errors=row[25], last_error=row[26]),
    )


def memory_of(row: Row) -> Memory:
    """A row of the `{memory}` columns."""
    id_, kind, task_id, attempt, title, tags, text, created_at = row
    return Memory(
        id=id_,
        kind=MemoryKind(kind),
        task_id=task_id,
        attempt=attempt,
        title=title,
        tags=tuple(tag for tag in tags.split(",") if tag),
        text=text,
        created_at=created_at,
    )


class _Said(msgspec.Struct):
    """The part of an ending that is wanted where there are many of them."""

    message: str = ""


def tried_of(row: Row) -> Tried:
    """A row of the query `tried`."""
    task_id, attempt, run_id, word, ended_at, strategy, tier, ending, verdict, log = row
    said = _Said() if ending is None else msgspec.json.decode(ending, type=_Said)
    return Tried(
        task_id=task_id,
        attempt=attempt,
        run_id=run_id,
        judged=Judged(word),
        ended_at=ended_at or "",
        strategy=strategy,
        tier=tier,
        message=said.message,
        notes=tuple(filter(None, (verdict, log))),
    )


def snapshot_of(text: str | None) -> Snapshot | None:
    """A snapshot, where there is one."""
    if text is None:
        return None
    snapshot: Snapshot = decode(text, Snapshot)
    return snapshot


def as_json(value: Any) -> str | None:
    """Any value as text that `sqlite3` shows readably; None stays NULL."""
    return None if value is None else encode(value).decode()


def row_of(session: Session) -> dict[str, Any]:
    """The columns of a session."""
    return {
        "id": session.id,
        "task_id": session.task_id,
        "attempt": session.attempt,
        "run_id": session.run_id,
        "worker": session.worker,
        "agent": session.agent,
        "model": session.model,
        "tier": session.tier,
        "strategy": session.strategy,
        "checkout": session.checkout,
        "log": session.log,
        "started_at": session.started_at,
        "ended_at": session.ended_at,
        "mark": session.mark.value,
        "before": as_json(session.before),
        "after": as_json(session.after),
        "ending": as_json(session.ending),
        "resets_at": session.ending.resets_at if session.ending else None,
        "told": session.told,
        "gates": as_json(session.gates),
        "commits": as_json(session.commits),
        "duration_s": session.duration_s,
        "verdict": session.verdict,
        "judged": session.judged.value if session.judged else None,
        "given": as_json(session.given),
    }
