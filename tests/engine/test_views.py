"""The files that show the state to other programs, as a run keeps them."""

import json
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from ralph.core.breaker import Tolerance
from ralph.core.context import Room
from ralph.core.errors import CannotWrite
from ralph.core.memory import Memory, MemoryKind
from ralph.documents import views
from ralph.engine.loop import run
from ralph.engine.views import SELDOM, Views
from ralph.testing.doubles import FakeLibrary, says
from tests.engine.world import Died, Fate, World

ALL = (views.STATE, views.PLAN, views.SESSIONS, views.PROGRESS)


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.views = True
    return world


def lines(world: World) -> list[dict[str, object]]:
    return [json.loads(line) for line in world.library.pages[views.SESSIONS].splitlines()]


def test_a_run_leaves_all_of_them(world: World) -> None:
    a = world.add("first", alias="auth-01")
    b = world.add("second", blocked_by=(a,))
    world.run(world.works(), world.works("more.txt"))
    state = json.loads(world.library.pages[views.STATE])
    assert state["iteration_count"] == 2
    assert state["session_id"] == f"{b}:1"
    assert state["current_phase"] == "building"
    plan = json.loads(world.library.pages[views.PLAN])
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
    world.store.learn(lesson)
    world.add("second")
    world.run(world.works("more.txt"))
    grown = {path: world.library.pages.pop(path) for path in ALL}
    Views(world.store, world.library, world.clock).rebuild()
    for path in ALL:
        assert world.library.pages[path] == grown[path], path
    assert "use port 0" in grown[views.PROGRESS]


def test_a_lead_whose_workers_see_the_contexts_shows_them_as_well(world: World) -> None:
    """As in a team: it hears of sessions by events alone."""
    world.add()
    library = FakeLibrary()
    lead = Views(world.store, library, world.clock)
    lead.begin()
    world.run(world.works())
    for recorded in world.store.events():
        lead.event(recorded)
    lead.draw(is_last=True)
    shown = json.loads(library.pages[views.STATE])
    assert shown == json.loads(world.library.pages[views.STATE])
    assert shown["context_budget"]["current_usage"] > 0


def test_nothing_is_told_twice_and_a_lost_file_comes_back(world: World) -> None:
    world.add()
    world.run(world.works())
    world.add()
    del world.library.pages[views.SESSIONS]
    world.run(world.works("more.txt"))
    assert len(lines(world)) == 2


def test_what_a_killed_run_did_not_write_is_caught_up_with(world: World) -> None:
    world.add()
    fate = Fate()

    def dies() -> None:
        fate.dead = True
        raise Died

    world.executor.sessions = [says("x", does=dies)]
    kit = world.kit(fate)
    with pytest.raises(Died):
        run(kit)
    world.run(world.works())
    assert [one["ended"] for one in lines(world)] == ["lost", "finished"]


def test_a_file_that_cannot_be_written_is_said_once_and_stops_nothing(world: World) -> None:
    class Full(FakeLibrary):
        def draw(self, path: str, pieces: Iterable[bytes]) -> None:
            del pieces
            raise CannotWrite(f"cannot write {path}: no space")

    world.library = Full()
    world.add()
    world.run(world.works())
    said = [one.message for one in world.sink.events if hasattr(one, "message")]
    assert [one for one in said if "no space" in one] == [
        f"cannot write {views.STATE}: no space",
        f"cannot write {views.PLAN}: no space",
    ]


def test_a_plan_that_takes_long_is_drawn_seldom(world: World) -> None:
    drawn: list[float] = []

    class Slow(FakeLibrary):
        def draw(self, path: str, pieces: Iterable[bytes]) -> None:
            super().draw(path, pieces)
            if path == views.PLAN:
                world.clock.advance(2.0)
                drawn.append(world.clock.monotonic())

    world.library = Slow()
    for number in range(30):
        world.add(f"task {number}", needs_change=False)
    took = 5.0

    def works() -> None:
        world.clock.advance(took)

    world.run(*(says("<task-done>TASK</task-done>", does=works) for _ in range(30)))
    gaps = [later - earlier for earlier, later in pairwise(drawn)]
    assert all(gap >= 2.0 * SELDOM for gap in gaps[:-1]), "but for the last one"
    plan = json.loads(world.library.pages[views.PLAN])
    assert {one["status"] for one in plan["tasks"]} == {"complete"}


def test_the_rules_of_a_run_are_shown(world: World) -> None:
    view = Views(
        world.store,
        world.library,
        world.clock,
        tolerance=replace(Tolerance(), failures=7),
        max_cost_usd=200.0,
        room=Room(capacity=1000),
    )
    view.rebuild()
    state = json.loads(world.library.pages[views.STATE])
    assert state["circuit_breaker"]["max_consecutive_failures"] == 7
    assert state["circuit_breaker"]["max_cost_usd"] == 200.0
    assert state["context_budget"]["total_capacity"] == 1000
