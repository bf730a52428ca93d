"""`failures.json` and `metrics.json`, folded from events."""

import json
from pathlib import Path

from ralph.core import events
from ralph.core.events import Recorded
from ralph.core.ids import RunId, TaskId, WorkerId
from ralph.core.task import Status
from ralph.core.team_events import TeammateJudged, WorkerJoined
from ralph.core.transitions import BY_HAND
from ralph.documents.team_views import FAILURES, METRICS, Tally
from ralph.testing.clock import FrozenClock
from ralph.testing.doubles import FakeLibrary, RecordingSink
from ralph.testing.memory_store import MemoryStore
from ralph.ui.team_files import TeamFiles
from ralph.workflows.team_views import draw_team_views

RUN = RunId("r")


def started(worker: str = "agent-1") -> events.Event:
    return events.RunStarted(
        run_id=RUN, worker=WorkerId(worker), target="all", agent="a", checkout="/x"
    )


def joined(number: int) -> events.Event:
    return WorkerJoined(run_id=RUN, worker=WorkerId(f"agent-{number}"), seat=f"teammate-{number}")


def moved(kind: type, task: str, status: Status, **more: object) -> events.Event:
    made: events.Event = kind(
        task_id=TaskId(task), title="x", status=status, attempt=1, retry_count=0, strikes=0, **more
    )
    return made


def claimed(task: str, worker: int) -> events.Event:
    return moved(events.TaskClaimed, task, Status.IN_PROGRESS, worker=WorkerId(f"agent-{worker}"))


def done(task: str) -> events.Event:
    return moved(events.TaskDone, task, Status.DONE)


def rejected(task: str) -> events.Event:
    return moved(events.TaskRejected, task, Status.PENDING)


def folded(*happened: events.Event) -> Tally:
    tally = Tally()
    for seq, event in enumerate(happened, 1):
        tally.fold(
            Recorded(seq=seq, time=f"2026-02-10T14:30:{seq:02}.123456Z", run_id=RUN, event=event)
        )
    return tally


def test_what_a_person_does_by_hand_is_no_workers() -> None:
    by_hand = moved(events.TaskClaimed, "t-1", Status.IN_PROGRESS, worker=BY_HAND)
    tally = folded(started(), claimed("t-1", 1), rejected("t-1"), by_hand, done("t-1"))
    assert tally.metrics()["per_teammate"] == {"teammate-1": {"completed": 0, "failed": 1}}


def test_a_run_begins_empty() -> None:
    tally = folded(started(), claimed("t-1", 1), rejected("t-1"), started())
    assert tally.failures() == {}
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
        moved(events.TaskStruck, "t-1", Status.PENDING),
        claimed("t-3", 10),
        moved(events.TaskFailed, "t-3", Status.FAILED),
        done("t-parent"),
    )
    assert list(tally.failures().items()) == [("teammate-2", 2), ("teammate-10", 1)]
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


def test_a_success_and_a_person_put_failures_back() -> None:
    begun = (started(), claimed("t-1", 1), rejected("t-1"))
    assert folded(*begun).failures() == {"teammate-1": 1}
    assert folded(*begun, claimed("t-1", 1), done("t-1")).failures() == {"teammate-1": 0}
    reset = events.BreakerClosed(seat="teammate-1", by="by a person")
    assert folded(*begun, reset).failures() == {"teammate-1": 0}


def test_teammates_that_others_lead_count_as_well() -> None:
    tally = folded(
        TeammateJudged(seat="anna", passed=False), TeammateJudged(seat="anna", passed=False)
    )
    assert tally.failures() == {"anna": 2}


def test_files_follow_a_run_without_being_written_for_every_event() -> None:
    library, clock = FakeLibrary(), FrozenClock()
    files = TeamFiles(RecordingSink(), library, clock)
    happened = [started(), claimed("t-1", 1), rejected("t-1"), claimed("t-1", 1), done("t-1")]
    for seq, event in enumerate(happened, 1):
        files.event(Recorded(seq=seq, time="2026-02-10T14:30:00Z", run_id=RUN, event=event))
    assert json.loads(library.pages[FAILURES]) == {}
    clock.advance(2)
    files.tick()
    assert json.loads(library.pages[FAILURES]) == {"teammate-1": 0}
    assert json.loads(library.pages[METRICS])["total_tasks"] == 2
    library.pages.clear()
    files.tick()
    files.close()
    assert library.pages == {}


def test_they_can_be_drawn_again(tmp_path: Path) -> None:
    store, library = MemoryStore(FrozenClock()), FakeLibrary()
    draw_team_views(store, library)
    assert json.loads(library.pages[FAILURES]) == {}
    store.record(TeammateJudged(seat="anna", passed=False), None)
    for _ in range(2500):
        store.record(events.Warned(message="x"), None)
    draw_team_views(store, library)
    assert json.loads(library.pages[FAILURES]) == {"anna": 1}
