"""Databases that an earlier Ralph made open, hold what they held, and can be worked with."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from ralph.adapters.sqlite.database import open_sqlite_store
from ralph.core.events import BreakerClosed
from ralph.core.ids import FeatureId, RunId, SessionId, TaskId
from ralph.core.run import AllTasks
from ralph.core.task import TaskStatus
from ralph.store.claims import Counts
from ralph.store.costs import CostFilter
from ralph.store.sessions import Checkpoint
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from tests.contracts.store_test_helpers import claim, settle
from tests.core.replay import replay
from tests.doubles.clock import FrozenClock

DATA = Path(__file__).parent.parent / "data"
RUN = "20261116-165239-19043"


@pytest.fixture(params=sorted(one.name for one in DATA.glob("database_of_*.sql")))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    path = tmp_path / "progress.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as made:
        made.executescript((DATA / request.param).read_text(encoding="utf-8"))
        made.execute(
            "INSERT INTO events VALUES (158, '', NULL, NULL, 'breaker_closed', ?)",
            ['{"event":"breaker_closed","seat":"teammate-2","by":""}'],
        )
    store = open_sqlite_store(str(path), FrozenClock().now, relaxed=True)
    yield store
    store.close()


def test_nothing_is_wrong_with_it(store: Store) -> None:
    assert store.check() == []


def test_its_events_can_all_be_read_and_give_the_stored_tasks(store: Store) -> None:
    recorded = store.events.select(limit=0)
    assert len(recorded) == store.events.last_seq() == 158
    replayed = replay(one.event for one in recorded)
    stored = {task.id: replace(task, updated_at="") for task in store.tasks.select(TaskFilter())}
    assert {i: replace(task, updated_at="") for i, task in replayed.tasks.items()} == stored


def test_a_seat_is_a_slot_now(store: Store) -> None:
    (closed,) = (one.event for one in store.events.select(after=157))
    assert closed == BreakerClosed(slot="teammate-2")
    assert set(store.breakers.all()) == {"teammate-1"}
    assert [one.slot for one in store.workers.of_run(RunId(RUN))] == [""]


def test_it_holds_what_it_held(store: Store) -> None:
    assert store.claims.counts(AllTasks()) == Counts(pending=5, done=9, blocked=1, failed=1)
    assert [run.id for run in store.runs.newest()] == [RUN]
    assert {one.checkpoint for one in store.sessions.select()} == {Checkpoint.SETTLED}
    assert len(store.sessions.select(task=TaskId("t-000005"))) == 2
    assert len(store.checks.of_session(SessionId("t-000002:1"))) == 1
    assert len(store.sessions.segments(SessionId("t-000002:1"))) == 1
    assert store.costs.total(CostFilter()).sessions == 19
    assert [one.task_id for one in store.memories.search(["report"], 1)] == ["t-000006"]
    assert store.tasks.blocker_ids([TaskId("t-902166")]) == {"t-902166": ("t-5167a9",)}
    assert [one.message for one in store.tasks.logs(TaskId("t-5167a9"))] == ["months begin with 1"]
    (feature,) = store.features.all()
    assert (feature.name, feature.spec_path) == ("months", "specs/months.md")
    assert [one.alias for one in store.archive.of_feature(FeatureId(feature.id))] == ["US-002"]
    document = store.documents.get("prd.md")
    assert document is not None
    assert document.content.startswith(b"# Months")
    assert [one.finding for one in store.checks.dismissals(TaskId("t-851d57"))] == ["F-1"]
    assert [one.word.value for one in store.messages.take_controls(store.runs.newest()[0].id)] == [
        "pause"
    ]


def test_its_tasks_can_be_worked_on(store: Store) -> None:
    taken = claim(store)
    assert taken.task.title == "Months in the parser"
    assert store.messages.guidance(taken.task.id, taken.attempt) == ["keep it short"]
    settle(store, taken)
    assert store.archive.restore(TaskId("t-out")).status is TaskStatus.PENDING
    assert store.check() == []
