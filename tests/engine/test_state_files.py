"""The files that show the state to other programs, as a run keeps them."""

import json
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest

from ralph.core.errors import CannotWrite
from ralph.core.events import RunStarted
from ralph.core.ids import RunId, WorkerId
from ralph.core.memory import Memory, MemoryKind
from ralph.core.settings import BreakerSection, BudgetSection, Config, ContextSection
from ralph.documents import state_files
from ralph.engine.loop import run
from ralph.engine.state_files import MIN_WRITE_RATIO, StateFiles
from tests.doubles import FakeProjectFiles, says
from tests.engine.world import CrashPoint, Died, World

ALL = (state_files.STATE, state_files.PLAN, state_files.SESSIONS, state_files.PROGRESS)


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.views = True
    return world


def lines(world: World) -> list[dict[str, object]]:
    return [
        json.loads(line) for line in world.project_files.pages[state_files.SESSIONS].splitlines()
    ]


def test_a_run_leaves_all_of_them(world: World) -> None:
    a = world.add("first", alias="auth-01")
    b = world.add("second", blocked_by=(a,))
    world.run(world.works(), world.works("more.txt"))
    state = json.loads(world.project_files.pages[state_files.STATE])
    assert state["iteration_count"] == 2
    assert state["session_id"] == f"{b}:1"
    assert state["current_phase"] == "building"
    plan = json.loads(world.project_files.pages[state_files.PLAN])
    assert [(one["id"], one["status"], one["dependencies"]) for one in plan["tasks"]] == [
        ("auth-01", "complete", []),
        (b, "complete", ["auth-01"]),
    ]
    assert [(one["task_id"], one["ended"]) for one in lines(world)] == [
        (a, "finished"),
        (b, "finished"),
    ]


def test_what_is_drawn_again_is_what_grew(world: World) -> None:
    a = world.add("first")
    lesson = Memory(kind=MemoryKind.KNOWLEDGE, text="use port 0", task_id=a, attempt=1)
    world.run(says("<task-done>TASK</task-done>", does=lambda: world.workspace.edit("a")))
    world.store.memories.add(lesson)
    world.add("second")
    world.run(world.works("more.txt"))
    grown = {path: world.project_files.pages.pop(path) for path in ALL}
    StateFiles(world.store, world.project_files, world.clock).rebuild()
    for path in ALL:
        assert world.project_files.pages[path] == grown[path], path
    assert "use port 0" in grown[state_files.PROGRESS]


def test_a_lead_whose_workers_see_the_contexts_shows_them_as_well(world: World) -> None:
    """As in a team: it hears of sessions by events alone."""
    world.add()
    project_files = FakeProjectFiles()
    lead = StateFiles(world.store, project_files, world.clock)
    lead.begin()
    world.run(world.works())
    for recorded in world.store.events.select():
        lead.event(recorded)
    lead.write(is_last=True)
    shown = json.loads(project_files.pages[state_files.STATE])
    assert shown == json.loads(world.project_files.pages[state_files.STATE])
    assert shown["context_budget"]["current_usage"] > 0


def test_the_files_about_workers_follow_the_run_that_keeps_them(world: World) -> None:
    world.add()
    world.add()
    ctx = world.ctx()
    other = RunStarted(
        run_id=RunId("another"), worker=WorkerId("w"), target="", agent="a", checkout="/b"
    )
    failed = "<task-failed>TASK</task-failed>"
    world.executor.sessions = [says(failed, does=lambda: world.store.events.record(other))]
    world.executor.sessions += [world.works()]
    run(ctx)
    metrics = json.loads(world.project_files.pages[state_files.METRICS])
    assert metrics["per_teammate"] == {"teammate-1": {"completed": 1, "failed": 1}}
    assert json.loads(world.project_files.pages[state_files.FAILURES]) == {"teammate-1": 0}


def test_nothing_is_told_twice_and_a_lost_file_comes_back(world: World) -> None:
    world.add()
    world.run(world.works())
    world.add()
    del world.project_files.pages[state_files.SESSIONS]
    world.run(world.works("more.txt"))
    assert len(lines(world)) == 2


def test_what_a_killed_run_did_not_write_is_caught_up_with(world: World) -> None:
    world.add()
    crash_point = CrashPoint()

    def dies() -> None:
        crash_point.dead = True
        raise Died

    world.executor.sessions = [says("x", does=dies)]
    ctx = world.ctx(crash_point)
    with pytest.raises(Died):
        run(ctx)
    world.run(world.works())
    assert [one["ended"] for one in lines(world)] == ["lost", "finished"]


def test_a_file_that_cannot_be_written_is_said_once_and_stops_nothing(world: World) -> None:
    class Full(FakeProjectFiles):
        def write_view(self, path: str, pieces: Iterable[bytes]) -> None:
            del pieces
            raise CannotWrite(f"cannot write {path}: no space")

    world.project_files = Full()
    world.add()
    world.run(world.works())
    said = [one.message for one in world.sink.events if hasattr(one, "message")]
    assert [one for one in said if "no space" in one] == [
        f"cannot write {path}: no space"
        for path in (state_files.STATE, state_files.FAILURES, state_files.PLAN)
    ]


def test_a_plan_that_takes_long_is_drawn_seldom(world: World) -> None:
    drawn: list[float] = []

    class Slow(FakeProjectFiles):
        def write_view(self, path: str, pieces: Iterable[bytes]) -> None:
            super().write_view(path, pieces)
            if path == state_files.PLAN:
                world.clock.advance(2.0)
                drawn.append(world.clock.monotonic())

    world.project_files = Slow()
    for number in range(30):
        world.add(f"task {number}", needs_change=False)
    took = 5.0

    def works() -> None:
        world.clock.advance(took)

    world.run(*(says("<task-done>TASK</task-done>", does=works) for _ in range(30)))
    gaps = [later - earlier for earlier, later in pairwise(drawn)]
    assert all(gap >= 2.0 * MIN_WRITE_RATIO for gap in gaps[:-1]), "but for the last one"
    plan = json.loads(world.project_files.pages[state_files.PLAN])
    assert {one["status"] for one in plan["tasks"]} == {"complete"}


def test_the_rules_of_a_run_are_shown(world: World) -> None:
    view = StateFiles(
        world.store,
        world.project_files,
        world.clock,
        config=Config(
            breaker=BreakerSection(failures=7),
            budget=BudgetSection(project_usd=200.0),
            context=ContextSection(capacity_tokens=1000),
        ),
    )
    view.rebuild()
    state = json.loads(world.project_files.pages[state_files.STATE])
    assert state["circuit_breaker"]["max_consecutive_failures"] == 7
    assert state["circuit_breaker"]["max_cost_usd"] == 200.0
    assert state["context_budget"]["total_capacity"] == 1000
