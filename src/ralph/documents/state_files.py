"""State files for other programs: written from the store, never read back.

A worker's failures in a row in `failures.json` are those that its breaker counts. `metrics.json`
counts every refused claim as well.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from ralph.core import events
from ralph.core.breaker import Breaker
from ralph.core.ids import TaskId, WorkerId
from ralph.core.json_text import NOT_JSON
from ralph.core.memory import Memory
from ralph.core.session_output import MARGIN, OVERHEAD, ContextUsage
from ralph.core.settings import BreakerSection
from ralph.core.task import Task, TaskStatus
from ralph.core.times import without_fraction

STATE: Final = ".ralph/state.json"
PLAN: Final = ".ralph/implementation_plan.json"
SESSIONS: Final = ".ralph/sessions.jsonl"
PROGRESS: Final = ".ralph/progress.txt"
FAILURES: Final = ".ralph/failures.json"
METRICS: Final = ".ralph/metrics.json"
PATHS: Final = (STATE, PLAN, SESSIONS, PROGRESS, FAILURES, METRICS)
FIRST: Final = "teammate-1"

ARCHIVED: Final = ("session_ended", "session_handed_over")
"""The events that become a line of `sessions.jsonl`."""
STATUS_NAMES: Final = {
    TaskStatus.PENDING: "pending",
    TaskStatus.IN_PROGRESS: "in_progress",
    TaskStatus.DONE: "complete",
    TaskStatus.BLOCKED: "blocked",
    TaskStatus.FAILED: "blocked",
}
"""A task's status in the plan. A failed task waits for a person, like a blocked one."""
ENTRY: Final = re.compile(rb"^\[[^\]\n]*\] m-(\d+) ", re.MULTILINE)
"""The beginning of an entry in `progress.txt`; its text is indented."""
FRESH_PROGRESS: Final = "# What sessions have learned\n"


class RunStateFile(msgspec.Struct, frozen=True, kw_only=True):
    phase: str = "building"
    iterations: int = 0
    session: str = ""
    """The session that runs, or the last one."""
    cost_usd: float | None = 0.0
    """None if the cost of a session is unknown."""
    breaker: Breaker = Breaker()
    limits: BreakerSection = BreakerSection()
    max_cost_usd: float = 0.0
    context: ContextUsage = ContextUsage()


def state_file(state: RunStateFile) -> bytes:
    breaker, context = state.breaker, state.context
    values = {
        "current_phase": state.phase,
        "iteration_count": state.iterations,
        "session_id": state.session,
        "total_cost_usd": None if state.cost_usd is None else round(state.cost_usd, 6),
        "circuit_breaker": {
            "max_consecutive_failures": state.limits.failures,
            "max_stagnation_iterations": state.limits.stagnation,
            "max_cost_usd": state.max_cost_usd,
            "state": breaker.state.value,
            "failure_count": breaker.failures,
            "stagnation_count": breaker.stagnation,
            "last_failure_reason": breaker.reason,
        },
        "context_budget": {
            "total_capacity": context.capacity,
            "system_prompt_allocation": OVERHEAD,
            "safety_margin": MARGIN,
            "current_usage": context.used,
            "tool_results_tokens": context.from_tools,
        },
    }
    return _json(values)


def phase_in(text: str) -> str:
    """The phase in an earlier `state.json`, otherwise the usual one."""
    try:
        found = msgspec.json.decode(text.encode("utf-8", "replace"))
    except NOT_JSON:
        return RunStateFile().phase
    phase = found.get("current_phase") if isinstance(found, dict) else None
    return phase if isinstance(phase, str) else RunStateFile().phase


def plan_entry(task: Task, name: str, blockers: Iterable[str]) -> bytes:
    values: dict[str, Any] = {
        "id": name,
        "title": task.title,
        "description": task.description or task.title,
        "priority": task.priority,
        "status": STATUS_NAMES[task.status],
        "dependencies": list(blockers),
    }
    if STATUS_NAMES[task.status] == "blocked" and task.reason:
        values["reason"] = task.reason
    return msgspec.json.encode(values)


def plan_file(entries: Iterable[bytes]) -> Iterable[bytes]:
    yield b'{\n  "tasks": ['
    between = b"\n    "
    for entry in entries:
        yield between + entry
        between = b",\n    "
    yield b"\n  ]\n}\n"


def archive_line(recorded: events.RecordedEvent) -> bytes:
    head = {"seq": recorded.seq, "time": recorded.time, "run_id": recorded.run_id}
    return msgspec.json.encode(head | msgspec.to_builtins(recorded.event)) + b"\n"


def last_archived(tail: bytes) -> int:
    """The number of the last line of `sessions.jsonl`, from its end; 0 if there is none."""
    for line in reversed(tail.splitlines()):
        try:
            found = msgspec.json.decode(line)
        except NOT_JSON:
            continue
        if isinstance(found, dict) and isinstance(found.get("seq"), int):
            return int(found["seq"])
    return 0


def learned_entry(memory: Memory) -> bytes:
    tags = f" ({', '.join(memory.tags)})" if memory.tags else ""
    title = f"{memory.title}{tags}".strip()
    head = f"[{memory.created_at}] m-{memory.id} {memory.task_id} {title}".rstrip()
    body = "".join(f"  {line}\n" for line in memory.text.strip().splitlines())
    return f"\n{head}\n{body}".encode("utf-8", "replace")


def last_learned(tail: bytes) -> int:
    """The number of the last entry of `progress.txt`, from its end; 0 if there is none."""
    found = ENTRY.findall(tail)
    return int(found[-1]) if found else 0


class TeamTally:
    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._slots: dict[WorkerId, str] = {}
        self._holders: dict[TaskId, str] = {}
        self._shares: dict[str, dict[str, int]] = {}
        self._updated = ""

    def fold(self, recorded: events.RecordedEvent) -> bool:
        """Add one event. Returns whether it changes the files."""
        match recorded.event:
            case events.RunStarted(worker=worker):
                self._begin()
                self._slots[worker] = FIRST
            case events.WorkerJoined(worker=worker, slot=slot):
                self._slots[worker] = slot
                self._share_of(slot)
            case events.TaskClaimed(task_id=task, worker=worker) if worker in self._slots:
                self._holders[task] = self._slots[worker]
                # The breaker may have changed with the session before.
                return bool(self._shares)
            case events.TaskClaimed(task_id=task):
                # Claimed by a person, or for a teammate of another team.
                self._holders.pop(task, None)
                return False
            case events.TaskDone(task_id=task) if task in self._holders:
                self._share_of(self._holders.pop(task))["completed"] += 1
            case (
                events.TaskRejected(task_id=task)
                | events.TaskStruck(task_id=task)
                | events.TaskFailed(task_id=task)
            ) if task in self._holders:
                self._share_of(self._holders.pop(task))["failed"] += 1
            case events.TeammateJudged(slot=slot, passed=passed):
                self._share_of(slot)["completed" if passed else "failed"] += 1
            case events.BreakerOpened() | events.BreakerClosed() | events.RunEnded():
                return bool(self._shares)
            case _:
                return False
        self._updated = recorded.time
        return True

    def _share_of(self, slot: str) -> dict[str, int]:
        return self._shares.setdefault(slot, {"completed": 0, "failed": 0})

    def files(self, breakers: Mapping[str, Breaker]) -> dict[str, bytes]:
        return {FAILURES: _json(self.failures(breakers)), METRICS: _json(self.metrics())}

    def failures(self, breakers: Mapping[str, Breaker]) -> dict[str, int]:
        """The failures in a row of each worker, as its breaker counts them."""
        return {
            slot: breakers[slot].failures if slot in breakers else 0
            for slot in sorted(self._shares, key=slot_order)
        }

    def metrics(self) -> dict[str, object]:
        shares = {slot: self._shares[slot] for slot in sorted(self._shares, key=slot_order)}
        completed = sum(share["completed"] for share in shares.values())
        failed = sum(share["failed"] for share in shares.values())
        return {
            "total_tasks": completed + failed,
            "successful_tasks": completed,
            "failed_tasks": failed,
            "last_updated": without_fraction(self._updated),
            "per_teammate": shares,
        }


def slot_order(slot: str) -> tuple[int, str]:
    """A key to sort by: `teammate-2` comes before `teammate-10`."""
    number = slot.rpartition("-")[2]
    return (int(number) if number.isdecimal() and len(number) < 10 else 0, slot)


def _json(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
