"""The formats of the files that show the state to other programs."""

import json

import pytest

from ralph.core.breaker import Breaker
from ralph.core.breaker import BreakerState as Position
from ralph.core.events import RecordedEvent, SessionEnded
from ralph.core.ids import RunId, SessionId, TaskId
from ralph.core.memory import Memory, MemoryKind
from ralph.core.session_output import ContextUsage
from ralph.core.task import Task, TaskStatus
from ralph.documents.state_files import (
    RunStateFile,
    archive_line,
    last_archived,
    last_learned,
    learned_entry,
    phase_in,
    plan_entry,
    plan_file,
    state_file,
)

TASK = TaskId("t-000001")


def a_task(**fields: object) -> Task:
    return Task(id=TASK, title="Login", created_at="", updated_at="", **fields)  # type: ignore[arg-type]


def test_the_state() -> None:
    state = RunStateFile(
        phase="planning",
        iterations=42,
        session="t-000001:1",
        cost_usd=15.5,
        breaker=Breaker(state=Position.HALF_OPEN, failures=3, stagnation=1, reason="no claim"),
        max_cost_usd=200.0,
        context=ContextUsage(used=1000, from_tools=700, capacity=200_000),
    )
    assert json.loads(state_file(state)) == {
        "current_phase": "planning",
        "iteration_count": 42,
        "session_id": "t-000001:1",
        "total_cost_usd": 15.5,
        "circuit_breaker": {
            "max_consecutive_failures": 3,
            "max_stagnation_iterations": 5,
            "max_cost_usd": 200.0,
            "state": "half_open",
            "failure_count": 3,
            "stagnation_count": 1,
            "last_failure_reason": "no claim",
        },
        "context_budget": {
            "total_capacity": 200_000,
            "system_prompt_allocation": 5000,
            "safety_margin": 0.2,
            "current_usage": 1000,
            "tool_results_tokens": 700,
        },
    }
    assert phase_in(state_file(state).decode()) == "planning"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"current_phase": 1}'])
def test_a_phase_that_nobody_knows_is_the_usual_one(text: str) -> None:
    assert phase_in(text) == "building"


@pytest.mark.parametrize(
    ("status", "word"),
    [
        (TaskStatus.PENDING, "pending"),
        (TaskStatus.IN_PROGRESS, "in_progress"),
        (TaskStatus.DONE, "complete"),
        (TaskStatus.BLOCKED, "blocked"),
        (TaskStatus.FAILED, "blocked"),
    ],
)
def test_a_task_in_the_words_of_the_plan(status: TaskStatus, word: str) -> None:
    entry = json.loads(plan_entry(a_task(status=status, reason="why"), "auth-01", ["auth-00"]))
    assert entry["status"] == word
    assert entry.get("reason") == ("why" if word == "blocked" else None)
    assert entry["id"] == "auth-01"
    assert entry["description"] == "Login", "a plan without a description is no plan"
    assert entry["dependencies"] == ["auth-00"]


def test_a_plan_is_whole_however_many_tasks_it_has() -> None:
    entry = plan_entry(a_task(), "a", [])
    for count in (0, 1, 3):
        assert len(json.loads(b"".join(plan_file([entry] * count)))["tasks"]) == count


def test_an_archive_goes_on_behind_its_last_line() -> None:
    event = SessionEnded(session_id=SessionId("t-000001:1"), task_id=TASK, ended="finished")
    recorded = RecordedEvent(seq=7, time="2026-01-01T00:00:00Z", run_id=RunId("r"), event=event)
    line = archive_line(recorded)
    assert line.endswith(b"\n")
    assert json.loads(line)["event"] == "session_ended"
    assert last_archived(line) == 7
    assert last_archived(line + b'{"seq": 8, "ti') == 7, "a line that was cut off is no line"
    assert last_archived(b"") == 0


def test_progress_goes_on_behind_its_last_entry() -> None:
    memory = Memory(
        kind=MemoryKind.KNOWLEDGE,
        text="use port 0\n[x] m-99 is no entry",
        task_id=TASK,
        attempt=1,
        title="Ports",
        tags=("tests",),
        id=12,
        created_at="2026-01-01T00:00:00Z",
    )
    entry = learned_entry(memory)
    assert entry.decode() == (
        "\n[2026-01-01T00:00:00Z] m-12 t-000001 Ports (tests)\n"
        "  use port 0\n  [x] m-99 is no entry\n"
    )
    assert last_learned(b"# head\n" + entry) == 12
    assert last_learned(b"") == 0
