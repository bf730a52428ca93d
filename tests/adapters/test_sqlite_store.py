"""What is true of the store on SQLite alone: its file, its processes, its speed."""

import multiprocessing
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ralph.adapters.sqlite import migrations
from ralph.adapters.sqlite.backups import Backups
from ralph.adapters.sqlite.database import open_sqlite_store
from ralph.core.errors import CycleRefused, UnusableData
from ralph.core.events import TaskClaimed, TaskDone
from ralph.core.graph import Schedule
from ralph.core.ids import TaskId, WorkerId
from ralph.core.run import AllTasks, OneFeature
from ralph.core.task import TaskDraft, TaskStatus
from ralph.store import database, task_adding
from ralph.store.claims import SCOPES, Counts
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from tests.contracts.store_test_helpers import add, claim, may_claim, settle, work
from tests.doubles.clock import FrozenClock

PROCESSES = 8


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / ".ralph" / "progress.db")


@pytest.fixture
def store(path: str) -> Iterator[Store]:
    store = open_sqlite_store(path, FrozenClock().now, relaxed=True)
    yield store
    store.close()


def setting(store: Store, name: str) -> object:
    return store.db.value(f"PRAGMA {name}")


# The file


def test_it_is_a_durable_database_with_foreign_keys(path: str) -> None:
    store = open_sqlite_store(path, FrozenClock().now)
    found = [setting(store, name) for name in ("journal_mode", "synchronous", "foreign_keys")]
    store.close()
    assert found == ["wal", 2, 1]


def test_a_relaxed_store_flushes_less_often(store: Store) -> None:
    assert setting(store, "synchronous") == 1
    assert setting(store, "page_size") == 2048


def test_people_can_read_the_tables_they_know(store: Store, path: str) -> None:
    add(store, "b", after=[add(store, "a")])
    with sqlite3.connect(path) as person:
        assert person.execute("SELECT id, status FROM tasks ORDER BY created_at").fetchall() == [
            ("t-a", "pending"),
            ("t-b", "pending"),
        ]
        edges = person.execute("SELECT blocker_id, blocked_id FROM dependencies").fetchall()
    person.close()
    assert edges == [("t-a", "t-b")]


def test_what_is_refused_leaves_no_trace(store: Store) -> None:
    a, b, c = (TaskId(f"t-{name}") for name in "abc")
    drafts = [
        TaskDraft(id=a, title="a", blocked_by=(c,)),
        TaskDraft(id=b, title="b", blocked_by=(a,)),
        TaskDraft(id=c, title="c", blocked_by=(b,)),
    ]
    with pytest.raises(CycleRefused, match="would wait for itself by way of"):
        store.tasks.add_many(drafts)
    assert (store.tasks.select(TaskFilter()), store.events.select()) == ([], [])


# Versions


@pytest.fixture
def tomorrow(tmp_path: Path) -> Path:
    """The migrations of a later Ralph."""
    folder = tmp_path / "migrations"
    shutil.copytree(migrations.FOLDER, folder)
    return folder


def migrate(path: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    with closing(connection), monkeypatch.context() as later:
        later.setattr(migrations, "FOLDER", str(folder))
        migrations.migrate(connection, path, Backups(f"{path}.backups").back_up)


def columns(path: str) -> set[str]:
    connection = sqlite3.connect(path)
    found = {row[1] for row in connection.execute("PRAGMA table_info(tasks)")}
    connection.close()
    return found


def test_an_older_database_is_migrated_after_a_copy(
    path: str, tomorrow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_sqlite_store(path, FrozenClock().now)
    add(store, "a")
    # The store stays open: the copy must hold what is not yet in the file itself.
    (tomorrow / "9999_colour.sql").write_text("ALTER TABLE tasks ADD COLUMN colour TEXT;\n")
    version = len(os.listdir(migrations.FOLDER))
    migrate(path, tomorrow, monkeypatch)
    store.close()
    copy = str(next(Path(f"{path}.backups").glob("*.db")))
    assert "colour" in columns(path)
    assert "colour" not in columns(copy)
    old = open_sqlite_store(copy, FrozenClock().now)
    assert [task.id for task in old.tasks.select(TaskFilter())] == ["t-a"]
    old.close()
    with pytest.raises(
        UnusableData, match=rf"version {version + 1}, but this Ralph knows versions up to {version}"
    ):
        open_sqlite_store(path, FrozenClock().now)


def test_a_migration_that_fails_changes_nothing(
    path: str, tomorrow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_sqlite_store(path, FrozenClock().now).close()
    half = "ALTER TABLE tasks ADD COLUMN colour TEXT;\nALTER TABLE nobody ADD COLUMN x TEXT;\n"
    (tomorrow / "9999_half.sql").write_text(half)
    with pytest.raises(sqlite3.OperationalError, match="nobody"):
        migrate(path, tomorrow, monkeypatch)
    assert "colour" not in columns(path)
    open_sqlite_store(path, FrozenClock().now).close()


# Many processes


def together(work: Callable[..., Any], path: str) -> list[Any]:
    """Let eight processes do the same at the same time."""
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager:
        start = manager.Barrier(PROCESSES)
        with ProcessPoolExecutor(PROCESSES, mp_context=context) as pool:
            futures = [pool.submit(work, path, number, start) for number in range(PROCESSES)]
            return [future.result(timeout=280) for future in futures]


def open_once(path: str, number: int, start: Any) -> int:
    start.wait()
    store = open_sqlite_store(path)
    add(store, str(number))
    store.close()
    return number


def claim_and_complete(path: str, number: int, start: Any) -> list[TaskId]:
    store = open_sqlite_store(path, relaxed=True)
    me = WorkerId(f"agent-{number:08x}")
    done = []
    start.wait()
    # Others may hold what everything else waits for: look again until nothing is left.
    while store.claims.has_open(AllTasks()):
        taken = may_claim(store, me)
        if taken is not None:
            assert settle(store, taken).status is TaskStatus.DONE
            done.append(taken.task.id)
    store.close()
    return done


def test_eight_processes_may_create_one_database(path: str) -> None:
    assert sorted(together(open_once, path)) == list(range(PROCESSES))
    store = open_sqlite_store(path, FrozenClock().now)
    assert len(store.tasks.select(TaskFilter())) == PROCESSES
    store.close()


def test_eight_processes_never_get_the_same_task(path: str) -> None:
    store = open_sqlite_store(path, relaxed=True)
    store.tasks.add_many(
        [
            replace(draft, files=(f"{number % 5}.py",) if number % 3 else ())
            for number, draft in enumerate(groups(60))
        ]
    )
    answers = together(claim_and_complete, path)
    done = [task for tasks in answers for task in tasks]
    assert len(done) == len(set(done)) == 60 * 5
    assert store.claims.counts(AllTasks()) == Counts(done=60 * 6)
    claims = [one for one in store.events.select(limit=0) if isinstance(one.event, TaskClaimed)]
    assert len(claims) == len(done)
    assert_no_file_was_in_two_hands(store)
    assert store.check() == []
    store.close()


def assert_no_file_was_in_two_hands(store: Store) -> None:
    named = {task.id: task.files for task in store.tasks.select(TaskFilter())}
    in_use: list[str] = []
    for one in store.events.select(limit=0):
        match one.event:
            case TaskClaimed(task_id=task):
                assert set(in_use).isdisjoint(named[task])
                in_use += named[task]
            case TaskDone(task_id=task, attempt=1):
                in_use = [path for path in in_use if path not in named[task]]
            case _:
                pass


def groups(count: int) -> list[TaskDraft]:
    """Parents of five, each group waiting for the one three before it."""
    drafts = []
    for number in range(count):
        before = (TaskId(f"t-{number - 3}"),) if number >= 3 else ()
        top = TaskId(f"t-{number}")
        drafts.append(TaskDraft(id=top, title="group", blocked_by=before))
        for child in range(5):
            waits = (TaskId(f"{top}-{child - 1}"),) if child % 2 else ()
            drafts.append(
                TaskDraft(id=TaskId(f"{top}-{child}"), title="x", parent_id=top, blocked_by=waits)
            )
    return drafts


# Order and size


def test_age_tells_the_order_whatever_the_clock_does(path: str) -> None:
    clock = FrozenClock()
    store = open_sqlite_store(path, clock.now)
    drafts = [TaskDraft(id=TaskId(f"t-{99 - number:02}"), title="x") for number in range(50)]
    store.tasks.add_many(drafts[:40])
    clock.jump(-3600)
    for draft in drafts[40:]:
        store.tasks.add(draft)
    listed = store.tasks.select(TaskFilter())
    assert [task.id for task in listed] == [draft.id for draft in drafts]
    births = [task.created_at for task in listed]
    assert births == sorted(set(births))
    store.close()


def test_an_id_that_is_taken_gets_a_digit_more(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_adding.os, "urandom", bytes)  # type: ignore[attr-defined]
    store.tasks.add_many([TaskDraft(title=title) for title in "ab"])
    names = {
        store.tasks.add(TaskDraft(title="c")).id,
        *(task.id for task in store.tasks.select(TaskFilter())),
    }
    assert names == {"t-000000", "t-0000000", "t-00000000"}


def test_many_tasks_are_added_without_a_question_for_each(tmp_path: Path) -> None:
    """Edge by edge twenty thousand would take minutes."""
    asked = []
    for number, drafts in enumerate((groups(10), groups(300))):
        store = open_sqlite_store(str(tmp_path / f"{number}.db"), FrozenClock().now, relaxed=True)
        said: list[str] = []
        store.db._connection.set_trace_callback(said.append)  # type: ignore[attr-defined]
        store.tasks.add_many(drafts)
        asked.append(sum(statement.startswith("SELECT") for statement in said))
        assert store.events.last_seq() == len(drafts) + sum(
            len(draft.blocked_by) for draft in drafts
        )
        assert store.check() == []
        store.close()
    assert asked[0] == asked[1]


def test_children_that_came_with_a_status_settle_their_parent(store: Store) -> None:
    top, other = TaskId("t-top"), TaskId("t-other")
    drafts = [
        TaskDraft(id=TaskId("t-1"), title="1", parent_id=top, status=TaskStatus.DONE),
        TaskDraft(id=other, title="other", blocked_by=(top,)),
        TaskDraft(id=top, title="top"),
        TaskDraft(id=TaskId("t-2"), title="2", parent_id=top, status=TaskStatus.DONE),
    ]
    store.tasks.add_many(drafts)
    assert store.tasks.find(top).status is TaskStatus.DONE
    work(store, other)
    assert store.check() == []


# Counters, plans and names


def test_wrong_counters_are_told_and_fixed(store: Store) -> None:
    top = add(store, "top")
    a = add(store, "a", under=top)
    add(store, "b", under=top, after=[a])
    store.db.execute("UPDATE tasks SET unmet = 7 WHERE id = 't-b'")
    store.db.execute("UPDATE tasks SET held = 1, open_children = 0 WHERE id IN ('t-top', 't-a')")
    assert store.check() == [
        "task t-top: its blockers or children were counted wrong",
        "task t-b: its blockers or children were counted wrong",
        "task t-top: whether it is held back was wrong",
        "task t-a: whether it is held back was wrong",
    ]
    assert store.check() == []
    work(store, a, TaskId("t-b"))


def test_strays_are_told(store: Store) -> None:
    add(store, "a")
    store.db.execute("PRAGMA foreign_keys = OFF")
    store.db.execute("UPDATE tasks SET parent_id = 't-gone'")
    (stray,) = store.check()
    assert stray == "row 1 of tasks names something in tasks that does not exist"


@pytest.mark.parametrize("schedule", list(Schedule))
@pytest.mark.parametrize("name", ["of_all", "of_feature"])
def test_the_next_task_is_read_off_an_index(store: Store, name: str, schedule: Schedule) -> None:
    order = "priority" if schedule is Schedule.PRIORITY else "chain"
    sql = getattr(store.claims.sql, f"next_{name}_by_{order}")
    plan = store.db.rows(f"EXPLAIN QUERY PLAN {sql}", ("f",) if name == "of_feature" else ())
    first, *files = [row[3] for row in plan]
    assert "USING INDEX tasks_ready" in first
    looks = [step for step in files if "SUBQUERY" not in step]
    assert looks == [
        "SEARCH task_files USING PRIMARY KEY (task_id=?)",
        "SEARCH busy USING INDEX tasks_status (status=?)",
        "SEARCH task_files USING PRIMARY KEY (task_id=?)",
    ], "its own files, then those of what is in progress; nothing is sorted"


@pytest.mark.parametrize("name", ["of_all", "of_feature"])
def test_whether_anything_is_ready_is_read_off_an_index(store: Store, name: str) -> None:
    sql = getattr(store.claims.sql, f"has_ready_{name}")
    plan = store.db.rows(f"EXPLAIN QUERY PLAN {sql}", ("f",) if name == "of_feature" else ())
    assert "INDEX tasks_ready" in plan[-1][3]


def test_the_edges_among_many_tasks_are_looked_up_and_not_tried(store: Store) -> None:
    plan = [row[3] for row in store.db.rows(f"EXPLAIN QUERY PLAN {store.screens.sql.edges}", [""])]
    assert "SEARCH dependencies USING PRIMARY KEY (blocker_id=?)" in plan


def test_a_feature_is_counted_without_its_neighbours(store: Store) -> None:
    feature = store.features.add("search")
    add(store, "a", feature_id=feature.id)
    add(store, "b")
    assert store.claims.counts(OneFeature(feature.id, "search")) == Counts(pending=1)
    sql = store.claims.sql.counts % store.claims.sql.of_feature
    plan = [row[3] for row in store.db.rows(f"EXPLAIN QUERY PLAN {sql}", (feature.id,))]
    assert plan == ["SEARCH tasks USING COVERING INDEX tasks_status (status=? AND feature_id=?)"]


def test_the_critical_path_is_worked_out_only_when_the_graph_changes(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = add(store, "a")
    add(store, "b", after=[add(store, "c", priority=9)])
    store.claims.rank_chains()
    first = store.claims.next_ready(AllTasks(), Schedule.CRITICAL_PATH)
    assert first is not None
    assert first.id == "t-c"
    monkeypatch.setattr(store.claims, "_moved_ranks", lambda: pytest.fail("nothing has changed"))
    store.claims.rank_chains()
    settle(store, claim(store))
    store.claims.rank_chains()
    assert store.tasks.find(a).status is TaskStatus.DONE


def test_every_statement_has_a_name_and_a_use() -> None:
    folder = Path(database.SQL_FOLDER)
    code = "".join(file.read_text() for file in folder.parent.glob("*.py"))
    sql = "".join(file.read_text() for file in folder.glob("*.sql"))
    of_targets = {f"has_ready_{scope}" for scope in SCOPES.values()} | {
        f"next_{scope}_by_{order}" for scope in SCOPES.values() for order in ("priority", "chain")
    }
    for file in folder.glob("*.sql"):
        for block in file.read_text().split("-- name: ")[1:]:
            name = block.partition("\n")[0]
            is_used = f"sql.{name}" in code or f"{{{name}}}" in sql
            is_scope = name in of_targets or name in SCOPES.values()
            assert is_used or is_scope, f"{file.name} {name} is not used"


def test_an_unknown_statement_is_a_mistake() -> None:
    with pytest.raises(AttributeError, match=r"no query nothing in"):
        getattr(database.Queries("claims"), "nothing")  # noqa: B009
