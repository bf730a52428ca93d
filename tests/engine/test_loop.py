"""The loop on doubles: every path to every outcome, without a process or a second of waiting."""

from pathlib import Path

import pytest

from ralph.core import events
from ralph.core.errors import Unavailable
from ralph.core.gates import Gate
from ralph.core.graph import Schedule
from ralph.core.ids import RunId, WorkerId
from ralph.core.process_exit import ProcessExit
from ralph.core.run import AllTasks, RunLimits, RunOutcome
from ralph.core.session_ending import EndingKind
from ralph.core.settings import Config, GitSection
from ralph.core.task import TaskStatus
from ralph.core.transitions import Blocked
from ralph.engine.loop import run
from ralph.ports.executor import Command, OutputListener
from ralph.store.messages import ControlWord
from ralph.store.sessions import Checkpoint
from tests.doubles import RecordingSink, is_stopped, says
from tests.engine.world import DEAD, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_nothing_to_do_is_no_plan(world: World) -> None:
    assert world.run().outcome is RunOutcome.NO_PLAN


def test_accepted_work_is_committed_and_the_run_completes(world: World) -> None:
    task = world.add("Write it")
    ended = world.run(world.works())
    assert ended.outcome is RunOutcome.COMPLETE
    assert world.task(task).status is TaskStatus.DONE
    assert world.workspace.commits == ["c0", "Write it"]
    assert (ended.done, ended.attempts, ended.commits) == (1, 1, 1)


def test_a_claim_without_work_costs_a_retry(world: World) -> None:
    task = world.add()
    ended = world.run(says("<task-done>TASK</task-done>"), world.works())
    assert ended.outcome is RunOutcome.COMPLETE
    assert world.task(task).retry_count == 1


def test_ralphs_own_documents_are_no_work(world: World) -> None:
    task = world.add(max_retries=0)
    ended = world.run(world.works(".ralph/notes.md"))
    assert ended.outcome is RunOutcome.COMPLETE_WITH_FAILURES
    assert world.task(task).status is TaskStatus.FAILED


def test_another_tasks_id_is_a_strike(world: World) -> None:
    task = world.add()
    world.run(says("<task-done>t-ffffff</task-done>"), world.works())
    assert world.recorded(events.TaskStruck)
    assert world.task(task).status is TaskStatus.DONE


def test_three_strikes_are_a_retry_and_pause_the_run(world: World) -> None:
    task = world.add()
    ended = world.run(says("hm"), says("hm"), says("hm"))
    assert ended.outcome is RunOutcome.PAUSED
    assert "3 failures in a row" in ended.reason
    assert (world.task(task).retry_count, world.task(task).strikes) == (1, 0)


def test_a_back_off_after_a_strike_is_short_and_grows(world: World) -> None:
    world.add()
    world.run(says("hm"), says("hm"), world.works())
    assert world.executor.slept == [0.25, 0.5]


def test_a_broken_gate_rejects_and_its_repair_is_accepted(world: World) -> None:
    world.gates = (Gate(name="test", command="make test"),)
    world.executor.gates["make test"] = [0, 1, 0]
    task = world.add()
    ended = world.run(world.works(text="bad"), world.works(text="good"))
    assert ended.outcome is RunOutcome.COMPLETE
    assert world.task(task).retry_count == 1
    assert world.workspace.head["work.txt"] == "good"


def test_the_first_baseline_warns_about_a_gate_that_passes_in_an_empty_checkout(
    world: World,
) -> None:
    world.gates = tuple(Gate(name=name, command=name) for name in ("test", "lint", "red"))
    world.executor.gates.update({"test": [0], "lint": [0], "red": [1]})
    world.executor.passing_when_empty = {"lint", "red"}
    said = "gate lint passes in an empty checkout, so it may prove nothing"
    for text in ("first", "second"):
        world.add()
        world.run(world.works(text=text))
    warnings = [event.message for event in world.recorded(events.Warned)]  # type: ignore[union-attr]
    assert [warning for warning in warnings if "empty checkout" in warning] == [said]


def test_work_of_a_task_that_fails_for_good_is_kept_aside(world: World) -> None:
    world.gates = (Gate(name="test", command="make test"),)
    world.executor.gates["make test"] = [0, 1]
    task = world.add(max_retries=0)
    world.run(world.works())
    assert world.workspace.saved == {f"refs/ralph/{task}/1": {"work.txt": "x"}}
    assert world.workspace.files == {}


def test_commits_that_go_off_the_branch_with_a_failed_task_are_named(world: World) -> None:
    """They may be a person's, who worked beside the session."""
    task = world.add(max_retries=0)
    before = world.workspace.commits

    def commit() -> None:
        world.workspace.edit("a.txt")
        world.workspace.commit_files("a", ["a.txt"])

    world.run(says("<task-failed>TASK</task-failed>", does=commit))
    warned = " ".join(one.message for one in world.recorded(events.Warned))  # type: ignore[union-attr]
    assert f"..refs/ralph/{task}/1` lists them" in warned
    assert world.workspace.commits == before


def test_unfinished_work_is_fixed_by_the_same_task_first(world: World) -> None:
    first = world.add("first", priority=5)
    world.limits = RunLimits(iterations=1)
    world.run(says("hm", does=lambda: world.workspace.edit("half.txt")))
    second = world.add("second", priority=1)
    world.limits = RunLimits()
    world.run(world.works("half.txt", "whole"), world.works("other.txt"))
    done = [event.task_id for event in world.recorded(events.TaskDone)]  # type: ignore[union-attr]
    assert done == [first, second]
    assert world.workspace.head == {"half.txt": "whole", "other.txt": "x"}


def test_unfinished_work_of_a_blocked_task_is_set_aside(world: World) -> None:
    first = world.add("first")
    world.limits = RunLimits(iterations=1)
    world.run(says("hm", does=lambda: world.workspace.edit("half.txt")))
    world.store.tasks.apply(first, [Blocked("not now")])
    world.add("second")
    world.run(world.works("other.txt"))
    assert world.workspace.saved == {f"refs/ralph/{first}/1": {"half.txt": "x"}}
    assert world.workspace.head == {"other.txt": "x"}


def test_without_commits_a_run_goes_on_in_the_files_of_the_one_before(world: World) -> None:
    tasks = [world.add(str(number)) for number in range(2)]
    world.limits = RunLimits(iterations=1)
    for text in ("one", "two"):
        ctx = world.ctx(config=Config(git=GitSection(commit="none")))
        world.executor.sessions = [world.works(text=text)]
        run(ctx)
    assert [world.task(task).status for task in tasks] == [TaskStatus.DONE, TaskStatus.DONE]
    assert (world.workspace.files, world.workspace.head) == ({"work.txt": "two"}, {})


def test_a_persons_changes_are_left_alone(world: World) -> None:
    world.workspace.edit("mine.txt", "person")
    world.add()
    world.run(world.works())
    assert world.workspace.head == {"work.txt": "x"}
    assert world.workspace.files["mine.txt"] == "person"
    assert "left as they are: mine.txt" in str(world.recorded(events.Warned))


def test_a_red_baseline_of_unfinished_work_does_not_count_as_red_before(world: World) -> None:
    world.gates = (Gate(name="test", command="make test"),)
    world.executor.gates["make test"] = [0, 1]
    world.limits = RunLimits(iterations=1)
    task = world.add()
    world.run(world.works(text="bad"))
    ended = world.run(world.works(text="still bad"))
    assert ended.outcome is RunOutcome.LIMIT_REACHED
    assert world.task(task).status is TaskStatus.PENDING
    assert world.task(task).retry_count == 2


def test_a_gate_that_cannot_run_ends_the_run_before_a_session(world: World) -> None:
    world.gates = (Gate(name="test", command="make test"),)
    world.executor.gates["make test"] = [127]
    world.add()
    with pytest.raises(Unavailable, match="gate test cannot run"):
        world.run()


def test_an_interrupt_gives_the_claim_back_at_no_cost(world: World) -> None:
    task = world.add()

    def interrupt() -> None:
        world.signal = "SIGINT"

    ended = world.run(says("half", does=interrupt))
    assert ended.outcome is RunOutcome.INTERRUPTED
    assert ended.exit_code == 130
    found = world.task(task)
    assert (found.status, found.strikes, found.retry_count) == (TaskStatus.PENDING, 0, 0)
    session = world.store.sessions.get(task, 1)
    assert session is not None
    assert session.ending is not None
    assert session.ending.ended == "interrupted"


def test_an_interrupt_right_after_the_claim_starts_no_session(world: World) -> None:
    task = world.add()

    class Interrupting(RecordingSink):
        def event(self, recorded: events.RecordedEvent) -> None:
            if isinstance(recorded.event, events.TaskClaimed):
                world.signal = "SIGINT"

    world.sink = Interrupting()
    assert world.run().outcome is RunOutcome.INTERRUPTED
    assert world.task(task).status is TaskStatus.PENDING
    assert world.store.sessions.get(task, 1) is None


def test_a_session_that_ended_before_a_crash_is_judged_not_repeated(world: World) -> None:
    world.gates = (Gate(name="test", command="make test"),)
    world.executor.gates["make test"] = [0]
    task = world.add()

    def play(command: Command, listener: OutputListener) -> ProcessExit:
        exit_ = world.works()(command, listener)
        # The session is over, the verdict is not there yet.
        world.signal = "SIGTERM"
        return exit_

    assert world.run(play).outcome is RunOutcome.INTERRUPTED
    assert world.task(task).status is TaskStatus.PENDING
    world.signal = None
    assert world.run().outcome is RunOutcome.COMPLETE
    assert len(world.store.sessions.select(task=task)) == 1
    assert world.workspace.head == {"work.txt": "x"}


def test_a_dead_workers_claim_comes_back_by_itself(world: World) -> None:
    task = world.add()
    dead = WorkerId("agent-dead")
    world.store.workers.join(dead, RunId("old"), DEAD, 60.0)
    world.store.claims.claim(dead, None, AllTasks(), Schedule.PRIORITY)
    assert world.run(world.works()).outcome is RunOutcome.COMPLETE
    found = world.task(task)
    assert (found.status, found.attempt, found.retry_count) == (TaskStatus.DONE, 2, 0)


def test_a_missing_agent_ends_the_run(world: World) -> None:
    task = world.add()
    with pytest.raises(Unavailable, match="no such file"):
        world.run(lambda *_: ProcessExit(code=None, error="no such file"))
    assert world.task(task).status is TaskStatus.PENDING


@pytest.mark.parametrize("stop", [EndingKind.TIMED_OUT, EndingKind.IDLE])
def test_a_session_that_ran_out_of_time_is_a_strike(world: World, stop: EndingKind) -> None:
    world.add()
    world.run(is_stopped(stop), world.works())
    assert len(world.recorded(events.TaskStruck)) == 1


def test_stop_ends_the_run_after_the_session(world: World) -> None:
    world.add()
    other = world.add("other")

    def ask() -> None:
        world.store.messages.send_control(RunId("run-1"), ControlWord.STOP)
        world.workspace.edit("work.txt")

    ended = world.run(says("<task-done>TASK</task-done>", does=ask))
    assert (ended.outcome, ended.reason) == (RunOutcome.PAUSED, "stopped by a person")
    assert world.task(other).status is TaskStatus.PENDING


def test_skip_blocks_the_running_task_and_goes_on(world: World) -> None:
    task = world.add("skip me")
    world.add("other")
    ended = world.run(
        says(
            "half",
            does=lambda: world.store.messages.send_control(
                RunId("run-1"), ControlWord.SKIP, task, "not now"
            ),
        ),
        world.works(),
    )
    assert ended.outcome is RunOutcome.BLOCKED
    found = world.task(task)
    assert (found.status, found.reason) == (TaskStatus.BLOCKED, "not now")


def test_guidance_reaches_the_next_brief_and_is_acknowledged(world: World) -> None:
    world.add()
    world.store.messages.add_guidance("use tabs", None)
    world.run(world.works())
    brief = next(world.runs_dir.glob("*.prompt.md")).read_text()
    assert "use tabs" in brief
    assert len(world.recorded(events.GuidanceDelivered)) == 1


def test_a_task_deleted_while_it_runs_leaves_its_work_aside(world: World) -> None:
    task = world.add()
    world.add("other")

    def vanish() -> None:
        world.workspace.edit("half.txt")
        world.store.tasks.delete(task)

    ended = world.run(says("half", does=vanish), world.works())
    assert ended.outcome is RunOutcome.COMPLETE
    assert f"refs/ralph/{task}/1" in world.workspace.saved
    assert world.workspace.head == {"work.txt": "x"}


def test_three_tasks_that_fail_in_a_row_pause_the_run(world: World) -> None:
    for number in range(4):
        world.add(f"task {number}")
    ended = world.run(*[says("<task-failed>TASK</task-failed>")] * 3)
    assert ended.outcome is RunOutcome.PAUSED


def test_every_session_ends_up_settled(world: World) -> None:
    world.add()
    world.run(says("hm"), says("<task-done>TASK</task-done>"), world.works())
    assert {session.checkpoint for session in world.store.sessions.select()} == {Checkpoint.SETTLED}
