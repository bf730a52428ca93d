"""`failures.json` and `metrics.json`, folded from events."""

import json
from pathlib import Path

from ralph.core import events
from ralph.core.breaker import Breaker
from ralph.core.events import RecordedEvent, TeammateJudged, WorkerJoined
from ralph.core.ids import RunId, TaskId, WorkerId
from ralph.core.task import TaskStatus
from ralph.core.transitions import BY_HAND
from ralph.documents.state_files import FAILURES, TeamTally
from ralph.workflows.claude_team_hooks import write_team_state_files
from tests.doubles import FakeProjectFiles
from tests.doubles.clock import FrozenClock
from tests.stores import memory_store

RUN = RunId("r")


def started(worker: str = "agent-1") -> events.Event:
    return events.RunStarted(
        run_id=RUN, worker=WorkerId(worker), target="all", agent="a", checkout="/x"
    )


def joined(number: int) -> events.Event:
    return WorkerJoined(run_id=RUN, worker=WorkerId(f"agent-{number}"), slot=f"teammate-{number}")


def moved(kind: type, task: str, status: TaskStatus, **more: object) -> events.Event:
    made: events.Event = kind(
        task_id=TaskId(task), title="x", status=status, attempt=1, retry_count=0, strikes=0, **more
    )
    return made


def claimed(task: str, worker: int) -> events.Event:
    return moved(
        events.TaskClaimed, task, TaskStatus.IN_PROGRESS, worker=WorkerId(f"agent-{worker}")
    )


def done(task: str) -> events.Event:
    return moved(events.TaskDone, task, TaskStatus.DONE)


def rejected(task: str) -> events.Event:
    return moved(events.TaskRejected, task, TaskStatus.PENDING)


def folded(*happened: events.Event) -> TeamTally:
    tally = TeamTally()
    for seq, event in enumerate(happened, 1):
        tally.fold(
            RecordedEvent(
                seq=seq, time=f"2026-02-10T14:30:{seq:02}.123456Z", run_id=RUN, event=event
            )
        )
    return tally


def test_what_a_person_does_by_hand_is_no_workers() -> None:
    by_hand = moved(events.TaskClaimed, "t-1", TaskStatus.IN_PROGRESS, worker=BY_HAND)
    tally = folded(started(), claimed("t-1", 1), rejected("t-1"), by_hand, done("t-1"))
    assert tally.metrics()["per_teammate"] == {"teammate-1": {"completed": 0, "failed": 1}}


def test_a_run_begins_empty() -> None:
    tally = folded(started(), claimed("t-1", 1), rejected("t-1"), started())
    assert tally.failures({"teammate-1": Breaker(failures=2)}) == {}
    assert tally.metrics() == {
        "total_tasks": 0,
        "successful_tasks": 0,
        "failed_tasks": 0,
        "last_updated": "2026-02-10T14:30:04Z",
        "per_teammate": {},
    }


def test_everybody_is_counted_for_themselves() -> None:
    tally = folded(
        started("lead"),
        joined(2),
        joined(10),
        claimed("t-1", 2),
        claimed("t-2", 10),
        rejected("t-1"),
        done("t-2"),
        claimed("t-1", 2),
        moved(events.TaskStruck, "t-1", TaskStatus.PENDING),
        claimed("t-3", 10),
        moved(events.TaskFailed, "t-3", TaskStatus.FAILED),
        done("t-parent"),
    )
    breakers = {"teammate-10": Breaker(failures=1), "anna": Breaker(failures=7)}
    assert list(tally.failures(breakers).items()) == [("teammate-2", 0), ("teammate-10", 1)]
    assert tally.metrics() == {
        "total_tasks": 4,
        "successful_tasks": 1,
        "failed_tasks": 3,
        "last_updated": "2026-02-10T14:30:11Z",
        "per_teammate": {
            "teammate-2": {"completed": 0, "failed": 2},
            "teammate-10": {"completed": 1, "failed": 1},
        },
    }


def test_teammates_that_others_lead_count_as_well() -> None:
    tally = folded(
        TeammateJudged(slot="anna", passed=False), TeammateJudged(slot="anna", passed=False)
    )
    assert tally.failures({"anna": Breaker(failures=2)}) == {"anna": 2}


def test_they_can_be_drawn_again(tmp_path: Path) -> None:
    store, project_files = memory_store(FrozenClock()), FakeProjectFiles()
    write_team_state_files(store, project_files)
    assert json.loads(project_files.pages[FAILURES]) == {}
    judged = TeammateJudged(slot="anna", passed=False)
    store.breakers.save("anna", Breaker(failures=1), judged)
    for _ in range(2500):
        store.events.record(events.Warned(message="x"), None)
    write_team_state_files(store, project_files)
    assert json.loads(project_files.pages[FAILURES]) == {"anna": 1}
