"""Files that show the state to other programs: drawn from the store, and never read back."""

import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from ralph.core.breaker import Breaker, Tolerance
from ralph.core.context import MARGIN, OVERHEAD, Filling
from ralph.core.events import Recorded
from ralph.core.json_text import NOT_JSON
from ralph.core.memory import Memory
from ralph.core.task import Status, Task

STATE: Final = ".ralph/state.json"
PLAN: Final = ".ralph/implementation_plan.json"
SESSIONS: Final = ".ralph/sessions.jsonl"
PROGRESS: Final = ".ralph/progress.txt"
PATHS: Final = (STATE, PLAN, SESSIONS, PROGRESS)

ARCHIVED: Final = ("session_ended", "session_handed_over")
"""The events that are a line of the archive."""
WORDS: Final = {
    Status.PENDING: "pending",
    Status.IN_PROGRESS: "in_progress",
    Status.DONE: "complete",
    Status.BLOCKED: "blocked",
    Status.FAILED: "blocked",
}
"""What the plan calls a task's state. A task that failed waits for somebody, too."""
ENTRY: Final = re.compile(rb"^\[[^\]\n]*\] m-(\d+) ", re.MULTILINE)
"""How an entry of the progress begins; what it says is indented."""
FRESH_PROGRESS: Final = "# What sessions have learned\n"


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What `state.json` tells."""

    phase: str = "building"
    iterations: int = 0
    session: str = ""
    """At work, or the last that was."""
    cost_usd: float | None = 0.0
    """None when any of it is unknown."""
    breaker: Breaker = Breaker()
    tolerance: Tolerance = Tolerance()
    max_cost_usd: float = 0.0
    context: Filling = Filling()


def state_file(state: State) -> bytes:
    """All of it, for whoever looks."""
    breaker, context = state.breaker, state.context
    told = {
        "current_phase": state.phase,
        "iteration_count": state.iterations,
        "session_id": state.session,
        "total_cost_usd": None if state.cost_usd is None else round(state.cost_usd, 6),
        "circuit_breaker": {
            "max_consecutive_failures": state.tolerance.failures,
            "max_stagnation_iterations": state.tolerance.stagnation,
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
    return msgspec.json.format(msgspec.json.encode(told), indent=2) + b"\n"


def phase_in(text: str) -> str:
    """What an earlier `state.json` calls the phase; the usual one where there is none."""
    try:
        found = msgspec.json.decode(text.encode("utf-8", "replace"))
    except NOT_JSON:
        return State().phase
    phase = found.get("current_phase") if isinstance(found, dict) else None
    return phase if isinstance(phase, str) else State().phase


def plan_entry(task: Task, name: str, blockers: Iterable[str]) -> bytes:
    """One task of `implementation_plan.json`."""
    told: dict[str, Any] = {
        "id": name,
        "title": task.title,
        "description": task.description or task.title,
        "priority": task.priority,
        "status": WORDS[task.status],
        "dependencies": list(blockers),
    }
    if WORDS[task.status] == "blocked" and task.reason:
        told["reason"] = task.reason
    return msgspec.json.encode(told)


def plan_file(entries: Iterable[bytes]) -> Iterable[bytes]:
    """The whole file, piece by piece."""
    yield b'{\n  "tasks": ['
    between = b"\n    "
    for entry in entries:
        yield between + entry
        between = b",\n    "
    yield b"\n  ]\n}\n"


def archive_line(recorded: Recorded) -> bytes:
    """One session that is over, as a line of `sessions.jsonl`."""
    head = {"seq": recorded.seq, "time": recorded.time, "run_id": recorded.run_id}
    return msgspec.json.encode(head | msgspec.to_builtins(recorded.event)) + b"\n"


def last_archived(tail: bytes) -> int:
    """The number of the last line in the end of `sessions.jsonl`; 0: there is none."""
    for line in reversed(tail.splitlines()):
        try:
            found = msgspec.json.decode(line)
        except NOT_JSON:
            continue
        if isinstance(found, dict) and isinstance(found.get("seq"), int):
            return int(found["seq"])
    return 0


def learned_entry(memory: Memory) -> bytes:
    """Something learned, as an entry of `progress.txt`."""
    tags = f" ({', '.join(memory.tags)})" if memory.tags else ""
    title = f"{memory.title}{tags}".strip()
    head = f"[{memory.created_at}] m-{memory.id} {memory.task_id} {title}".rstrip()
    body = "".join(f"  {line}\n" for line in memory.text.strip().splitlines())
    return f"\n{head}\n{body}".encode("utf-8", "replace")


def last_learned(tail: bytes) -> int:
    """The number of the last entry in the end of `progress.txt`; 0: there is none."""
    found = ENTRY.findall(tail)
    return int(found[-1]) if found else 0
