"""Out of quota: wait, or let another agent step in; the same task goes on."""

from pathlib import Path

import pytest

from ralph.core import events
from ralph.core.ids import RunId
from ralph.core.run import RunLimits, RunOutcome
from ralph.core.session_ending import EndingKind
from ralph.core.task import TaskStatus
from ralph.core.transitions import Blocked
from ralph.engine.loop import OVERLOADS_IN_A_ROW
from ralph.ports.agent import AgentHome
from ralph.store.messages import ControlWord
from ralph.ui.formatting import first_line
from tests.doubles import NoHomes, Play, says
from tests.engine.limited_agent import Limited
from tests.engine.world import Died, World

HOUR = 3600.0


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.agents = (Limited("first", world.clock.now() + HOUR), Limited("second"))
    return world


def alone(world: World) -> None:
    world.agents = world.agents[:1]


def by(world: World) -> list[tuple[str, str]]:
    """Which agent worked on which task, in order."""
    return [(one.agent, one.title) for one in world.recorded(events.SessionStarted)]


def half_done(world: World) -> Play:
    return says("limit", does=lambda: world.workspace.edit("half.txt"))


def test_the_same_task_goes_on_after_the_reset_at_no_cost(world: World) -> None:
    alone(world)
    task = world.add("hard")

    def until_somebody_is_in_a_hurry() -> None:
        world.workspace.edit("half.txt")
        world.add("urgent", priority=-1)

    limited = says("limit", does=until_somebody_is_in_a_hurry)
    ended = world.run(limited, world.works("a"), world.works("b"))
    assert ended.outcome is RunOutcome.COMPLETE
    assert [title for _, title in by(world)] == ["hard", "hard", "urgent"]
    assert world.executor.slept == [HOUR + 5]
    found = world.task(task)
    assert (found.retry_count, found.strikes) == (0, 0)
    assert ended.attempts == 3


def test_a_new_run_knows_of_the_limit_and_waits_before_anything_else(world: World) -> None:
    alone(world)
    task = world.add("hard")
    world.add("other", priority=1)

    def die() -> None:
        raise Died

    world.executor.meanwhile = die
    with pytest.raises(Died):
        world.run(half_done(world))
    world.executor.meanwhile = None
    world.clock.advance(600.0)
    ended = world.run(world.works("a"), world.works("b"))
    assert ended.outcome is RunOutcome.COMPLETE
    assert world.executor.slept == [HOUR + 5 - 600]
    assert [title for _, title in by(world)] == ["hard", "hard", "other"]
    assert world.task(task).status is TaskStatus.DONE


def test_another_agent_steps_in_and_the_first_one_comes_back(world: World) -> None:
    for number in range(3):
        world.add(f"task {number}")

    def slowly() -> None:
        world.clock.advance(2 * HOUR)
        world.workspace.edit("b")

    slow = says("<task-done>TASK</task-done>", does=slowly)
    ended = world.run(half_done(world), world.works("a"), slow, world.works("c"))
    assert ended.outcome is RunOutcome.COMPLETE
    assert by(world) == [
        ("first", "task 0"),
        ("second", "task 0"),
        ("second", "task 1"),
        ("first", "task 2"),
    ]
    assert world.executor.slept == []
    chosen = world.recorded(events.AgentChosen)
    assert [one.agent for one in chosen] == ["second", "first"]


def test_when_all_are_out_the_first_one_back_goes_on(world: World) -> None:
    world.agents = (world.agents[0], Limited("second", world.clock.now() + 600))
    world.add()
    ended = world.run(says("limit"), says("limit"), world.works())
    assert ended.outcome is RunOutcome.COMPLETE
    assert [agent for agent, _ in by(world)] == ["first", "second", "second"]
    assert world.executor.slept == [605.0]
    (waiting,) = world.recorded(events.RunWaiting)
    assert "first and second" in waiting.reason


def test_a_person_who_knows_better_does_not_have_to_wait(world: World) -> None:
    alone(world)
    world.add()

    world.executor.meanwhile = lambda: world.store.messages.send_control(
        RunId("run-1"), ControlWord.RESUME
    )
    assert world.run(says("limit"), world.works()).outcome is RunOutcome.COMPLETE
    assert world.executor.slept == []
    assert world.store.sessions.usage_limit_until("first") is None


def test_a_person_who_knows_better_is_heard_while_another_agent_works(world: World) -> None:
    world.add("a")
    world.add("b")

    def knows_better() -> None:
        world.workspace.edit("a")
        world.store.messages.send_control(RunId("run-1"), ControlWord.RESUME)

    done = says("<task-done>TASK</task-done>", does=knows_better)
    assert world.run(says("limit"), done, world.works("b")).outcome is RunOutcome.COMPLETE
    assert [agent for agent, _ in by(world)] == ["first", "second", "first"]


def test_a_run_that_was_told_to_hurry_can_still_be_paused(world: World) -> None:
    alone(world)
    world.add("a")
    world.add("b")
    run = RunId("run-1")

    def hurry_then_pause() -> None:
        world.workspace.edit("a")
        world.store.messages.send_control(run, ControlWord.RESUME)
        world.store.messages.send_control(run, ControlWord.PAUSE)

    def a_minute_later() -> None:
        if world.executor.slept:
            world.store.messages.send_control(run, ControlWord.RESUME)

    world.executor.meanwhile = a_minute_later
    done = says("<task-done>TASK</task-done>", does=hurry_then_pause)
    assert world.run(done, world.works("b")).outcome is RunOutcome.COMPLETE
    assert world.executor.slept == [60.0]


def test_a_machine_that_slept_over_the_reset_goes_on_when_it_wakes(world: World) -> None:
    alone(world)
    world.add()
    # The clock on the wall goes on meanwhile, the other one does not.
    world.executor.meanwhile = lambda: world.clock.jump(2 * HOUR)
    assert world.run(says("limit"), world.works()).outcome is RunOutcome.COMPLETE
    assert world.executor.slept == []


def test_nobody_waits_for_quota_when_nothing_is_left_to_do(world: World) -> None:
    alone(world)
    task = world.add()
    world.executor.meanwhile = lambda: world.store.tasks.apply(
        task, [Blocked("skipped by a person")]
    )
    ended = world.run(half_done(world))
    assert (ended.outcome, world.executor.slept) == (RunOutcome.BLOCKED, [])
    assert "half.txt" not in world.workspace.files, "it is kept aside"
    world.executor.meanwhile = None
    assert world.run().outcome is RunOutcome.BLOCKED
    assert world.executor.slept == []


def test_waiting_takes_no_more_than_the_time_of_the_run(world: World) -> None:
    alone(world)
    world.limits = RunLimits(run_s=600.0)
    world.add()
    assert world.run(says("limit")).outcome is RunOutcome.LIMIT_REACHED
    assert world.executor.slept == [600.0]


def test_what_a_person_edits_while_the_run_waits_is_theirs(world: World) -> None:
    alone(world)
    task = world.add()
    world.executor.meanwhile = lambda: world.workspace.edit("a person's.txt")
    assert world.run(half_done(world), world.works()).outcome is RunOutcome.COMPLETE
    assert world.task(task).status is TaskStatus.DONE
    assert {"half.txt", "work.txt"} <= world.workspace.head.keys()
    assert "a person's.txt" not in world.workspace.head
    assert "a person's.txt" in world.workspace.files


def test_an_overloaded_provider_is_given_time_then_the_run_pauses(world: World) -> None:
    task = world.add()
    ended = world.run(*[says("overload")] * OVERLOADS_IN_A_ROW)
    assert ended.outcome is RunOutcome.PAUSED
    assert len(world.executor.slept) == OVERLOADS_IN_A_ROW - 1
    for number, seconds in enumerate(world.executor.slept, 1):
        longest = min(60.0, 2.0**number)
        assert longest / 2 <= seconds <= longest
    found = world.task(task)
    assert (found.status, found.retry_count, found.strikes) == (TaskStatus.PENDING, 0, 0)


def test_without_a_network_the_run_says_so_and_the_task_pays_nothing(world: World) -> None:
    task = world.add()
    ended = world.run(*[says("offline")] * OVERLOADS_IN_A_ROW)
    assert ended.reason == f"{OVERLOADS_IN_A_ROW} times in a row: no network: refused"
    found = world.task(task)
    assert (found.status, found.retry_count, found.strikes) == (TaskStatus.PENDING, 0, 0)


def test_an_expired_login_pauses_the_run_and_says_what_to_do(world: World) -> None:
    task = world.add()
    ended = world.run(says("expired"))
    assert (ended.outcome, ended.reason) == (RunOutcome.PAUSED, "401; log in anew")
    found = world.task(task)
    assert (found.status, found.retry_count, found.strikes) == (TaskStatus.PENDING, 0, 0)


def test_however_long_an_error_is_the_remedy_is_shown(world: World) -> None:
    world.add()
    ended = world.run(says("expired, at length"))
    assert ended.reason.startswith("401 xxx")
    assert first_line(ended.reason).endswith("…; log in anew")


def test_an_unpaid_bill_pauses_the_run_and_is_no_question_of_logging_in(world: World) -> None:
    task = world.add()
    ended = world.run(says("unpaid"))
    assert ended.outcome is RunOutcome.PAUSED
    assert ended.reason.startswith("402; ")
    assert "bill of first" in ended.reason
    assert "log in" not in ended.reason
    assert world.task(task).strikes == 0


@pytest.mark.parametrize("word", ["expired", "unpaid", "gone"])
def test_who_was_to_step_in_and_cannot_work_is_left_out(world: World, word: str) -> None:
    task = world.add()
    cannot = says("", code=127) if word == "gone" else says(word)
    ended = world.run(half_done(world), cannot, world.works())
    assert ended.outcome is RunOutcome.COMPLETE
    assert [agent for agent, _ in by(world)] == ["first", "second", "first"]
    assert world.executor.slept == [HOUR + 5]
    found = world.task(task)
    assert (found.status, found.strikes, found.retry_count) == (TaskStatus.DONE, 0, 0)
    (warning,) = [one.message for one in world.recorded(events.Warned) if "second" in one.message]
    assert warning.startswith("second is left out of this run: ")


def test_a_login_that_was_renewed_meanwhile_is_tried_before_anybody_has_to_log_in(
    world: World,
) -> None:
    class Renewed(NoHomes):
        number = 0

        def login_files(self, home: AgentHome) -> dict[str, bytes]:
            return {"login": str(self.number).encode()}

    world.homes = homes = Renewed()
    task = world.add()

    def renew() -> None:
        homes.number += 1

    ended = world.run(says("expired", does=renew), world.works())
    assert ended.outcome is RunOutcome.COMPLETE
    assert world.task(task).strikes == 0
    ended_so = [one.ended for one in world.recorded(events.SessionEnded)]
    assert ended_so == [EndingKind.OVERLOADED, EndingKind.FINISHED]
    world.add("another")
    assert world.run(says("expired")).outcome is RunOutcome.PAUSED
