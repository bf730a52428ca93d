"""The lead of a team: slots, deaths, people's words, and the conclusion."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from ralph.core.errors import UnusableData, UsageError
from ralph.core.events import RunEnded, Warned, WorkerLeft, WorkSaved
from ralph.core.graph import Schedule
from ralph.core.ids import RunId, TaskId, WorkerId
from ralph.core.run import AllTasks, RunEnding, RunOutcome
from ralph.core.settings import Config, GitSection
from ralph.core.task import TaskStatus
from ralph.core.transitions import Accepted
from ralph.engine.team_lead import MAX_WORKER_DEATHS, SETUPS, WORKER_HANGS_S, TeamLead
from ralph.ports.worker_pool import WorkerExit
from ralph.store.messages import ControlWord
from tests.doubles import says
from tests.engine.team_fakes import FakeMergeBranch
from tests.engine.world import DEAD, Died, World

NO_SETUP = RunEnding(outcome=RunOutcome.ERROR, reason="no luck", error_code=69, may_pass=True)


class FakeWorkerPool:
    """Workers that do one thing at each look: take a task, finish it, die, or wait."""

    def __init__(self, world: "LeadWorld") -> None:
        self.world = world
        self.here: dict[str, WorkerId] = {}
        self.started = 0
        self.deaths = 0
        """How many are still to die, in the middle of a task."""
        self.gone: list[WorkerExit] = []
        self.stopped = False
        self.hangs = False
        self.leaves_with: RunEnding | None = None
        self.on_leaving: Callable[[], object] = lambda: None

    def start_worker(self, slot: str) -> WorkerId:
        self.started += 1
        worker = WorkerId(f"{slot}-{self.started}")
        self.here[slot] = worker
        self.world.store.workers.join(worker, self.world.run_id, self.world.owner, 60.0, slot)
        return worker

    @property
    def running(self) -> dict[str, WorkerId]:
        return dict(self.here)

    def exits(self) -> list[WorkerExit]:
        if not self.stopped and not self.hangs:
            for slot, worker in list(self.here.items()):
                self._work(slot, worker)
        gone, self.gone = self.gone, []
        return gone

    def _work(self, slot: str, worker: WorkerId) -> None:
        store = self.world.store
        if self.leaves_with is not None:
            self._leave(slot, self.leaves_with)
            return
        taken = store.claims.claim(worker, self.world.run_id, AllTasks(), Schedule.PRIORITY)
        if taken is None:
            self._leave(slot, RunEnding(outcome=RunOutcome.COMPLETE))
        elif self.deaths:
            self.deaths -= 1
            self._leave(slot, None)
        else:
            store.claims.settle(taken, Accepted(), message="done", fail_fast=False)

    def _leave(self, slot: str, report: RunEnding | None) -> None:
        worker = self.here.pop(slot)
        self.on_leaving()
        if report is None:
            store = self.world.store
            store.workers.join(worker, self.world.run_id, DEAD, 60.0, slot)
        self.gone.append(WorkerExit(worker=worker, slot=slot, report=report, reason="SIGKILL"))

    def kill(self, worker: WorkerId) -> None:
        self.hangs = False
        for slot in [slot for slot, one in self.here.items() if one == worker]:
            self._leave(slot, None)

    def stop_all(self, *, at_once: bool = False) -> None:
        self.stopped = True
        for slot in list(self.here):
            self._leave(slot, RunEnding(outcome=RunOutcome.INTERRUPTED, reason="by SIGTERM"))

    def close(self) -> None:
        self.here.clear()


class LeadWorld(World):
    """A lead and what it leads."""

    def __init__(self, runs_dir: Path) -> None:
        super().__init__(runs_dir)
        self.run_id = RunId("run-1")
        self.owner = replace(DEAD, pid=1)
        self.merge_branch = FakeMergeBranch()
        self.worker_pool = FakeWorkerPool(self)

    def lead(self, workers: int = 2) -> RunEnded:
        return TeamLead(self.ctx(), self.merge_branch, self.worker_pool, workers).run()  # type: ignore[arg-type]


@pytest.fixture
def world(tmp_path: Path) -> LeadWorld:
    return LeadWorld(tmp_path)


def test_every_slot_is_taken_and_all_is_done(world: LeadWorld) -> None:
    tasks = [world.add(f"task {number}") for number in range(5)]
    ended = world.lead(3)
    assert ended.outcome is RunOutcome.COMPLETE
    assert [world.task(task).status for task in tasks] == [TaskStatus.DONE] * 5
    assert world.worker_pool.started == 3


def test_nothing_to_do_hires_nobody(world: LeadWorld) -> None:
    assert world.lead().outcome is RunOutcome.NO_PLAN
    assert world.worker_pool.started == 0


def test_who_dies_is_replaced_and_its_task_goes_back_at_no_cost(world: LeadWorld) -> None:
    task = world.add()
    world.worker_pool.deaths = 2
    ended = world.lead(1)
    assert ended.outcome is RunOutcome.COMPLETE
    done = world.task(task)
    assert (done.status, done.retry_count, done.attempt) == (TaskStatus.DONE, 0, 3)
    left = [one for one in world.recorded(WorkerLeft) if isinstance(one, WorkerLeft)]
    assert [one.outcome for one in left] == [None, None]
    assert any(mark.endswith("teammate-1-1") for mark in world.executor.swept)


def test_a_slot_in_which_everybody_dies_stays_empty(world: LeadWorld) -> None:
    world.add()
    world.worker_pool.deaths = 1000
    ended = world.lead(1)
    assert ended.outcome is RunOutcome.ERROR
    assert f"died {MAX_WORKER_DEATHS} times" in ended.reason
    assert world.worker_pool.started == MAX_WORKER_DEATHS


def test_a_worker_that_cannot_go_on_leaves_the_others_working(world: LeadWorld) -> None:
    tasks = [world.add(f"task {number}") for number in range(3)]

    def first_one_pauses() -> None:
        if world.worker_pool.started == 2 and not world.worker_pool.gone:
            world.worker_pool._leave(
                "teammate-1", RunEnding(outcome=RunOutcome.PAUSED, reason="breaker")
            )
            world.executor.meanwhile = None

    world.executor.meanwhile = first_one_pauses
    ended = world.lead(2)
    assert ended.outcome is RunOutcome.COMPLETE
    assert {world.task(task).status for task in tasks} == {TaskStatus.DONE}
    assert world.worker_pool.started == 2


def test_a_slot_without_a_checkout_is_tried_again(world: LeadWorld) -> None:
    tasks = [world.add(f"task {number}") for number in range(3)]
    world.worker_pool.leaves_with = NO_SETUP

    def mended() -> None:
        if world.worker_pool.started > SETUPS:
            world.worker_pool.leaves_with = None

    world.executor.meanwhile = mended
    ended = world.lead(2)
    assert ended.outcome is RunOutcome.COMPLETE
    assert {world.task(task).status for task in tasks} == {TaskStatus.DONE}


def test_a_setup_that_never_works_ends_the_run(world: LeadWorld) -> None:
    world.add()
    world.worker_pool.leaves_with = NO_SETUP
    ended = world.lead(2)
    assert (ended.outcome, ended.reason, ended.exit_code) == (RunOutcome.ERROR, "no luck", 69)
    assert world.worker_pool.started == 2 * SETUPS


def test_the_worst_reason_is_the_runs_when_work_is_left(world: LeadWorld) -> None:
    world.add()
    world.worker_pool.leaves_with = RunEnding(outcome=RunOutcome.PAUSED, reason="out of money")
    ended = world.lead(2)
    assert (ended.outcome, ended.reason, ended.exit_code) == (RunOutcome.PAUSED, "out of money", 6)


def test_a_declared_failure_ends_the_team(world: LeadWorld) -> None:
    world.add()
    world.worker_pool.leaves_with = RunEnding(outcome=RunOutcome.FAILURE, reason="hopeless")
    assert world.lead(1).outcome is RunOutcome.FAILURE


def test_a_signal_calls_everybody_off(world: LeadWorld) -> None:
    world.add()
    world.worker_pool.hangs = True

    def signal() -> None:
        world.signal = "SIGINT"

    world.executor.meanwhile = signal
    ended = world.lead(2)
    assert ended.outcome is RunOutcome.INTERRUPTED
    assert world.worker_pool.stopped
    assert ended.exit_code == 130


def test_what_people_say_reaches_every_worker(world: LeadWorld) -> None:
    world.add()
    world.worker_pool.hangs = True
    heard: list[ControlWord] = []

    def speak() -> None:
        if not heard:
            world.store.messages.send_control(world.run_id, ControlWord.PAUSE)
            heard.append(ControlWord.PAUSE)
            return
        for worker in world.worker_pool.running.values():
            heard.extend(one.word for one in world.store.messages.take_controls(RunId(worker)))
        world.worker_pool.hangs = len(heard) < 3
        if len(heard) == 3:
            world.store.messages.send_control(world.run_id, ControlWord.RESUME)
            heard.append(ControlWord.RESUME)

    world.executor.meanwhile = speak
    world.lead(2)
    assert heard[:3] == [ControlWord.PAUSE] * 3


def test_a_task_that_nobody_works_on_is_skipped_by_the_lead(world: LeadWorld) -> None:
    blocker = world.add("first")
    task = world.add("second", blocked_by=(blocker,))

    def skip() -> None:
        world.executor.meanwhile = None
        world.store.messages.send_control(world.run_id, ControlWord.SKIP, task, "not now")

    world.executor.meanwhile = skip
    ended = world.lead(1)
    assert world.task(task).status is TaskStatus.BLOCKED
    assert ended.outcome is RunOutcome.BLOCKED


def test_a_worker_that_hangs_is_ended_and_replaced(world: LeadWorld) -> None:
    task = world.add()
    world.worker_pool.hangs = True

    def hang() -> None:
        if world.worker_pool.hangs and not world.store.claims.in_progress(AllTasks()):
            [worker] = world.worker_pool.running.values()
            world.store.claims.claim(worker, world.run_id, AllTasks(), Schedule.PRIORITY)
        world.clock.advance(WORKER_HANGS_S / 4)

    world.executor.meanwhile = hang
    ended = world.lead(1)
    assert ended.outcome is RunOutcome.COMPLETE
    assert world.task(task).status is TaskStatus.DONE
    warned = [one.message for one in world.recorded(Warned) if isinstance(one, Warned)]
    assert any("no sign of life" in line for line in warned)


def test_abort_stops_a_team(world: LeadWorld) -> None:
    world.add()
    world.worker_pool.hangs = True
    world.executor.meanwhile = lambda: world.project_files.write(".ralph/ABORT", b"")
    ended = world.lead(2)
    assert ended.outcome is RunOutcome.PAUSED
    assert ".ralph/ABORT" in ended.reason
    assert world.worker_pool.stopped


def test_a_checkout_that_is_not_clean_is_refused_before_anything_begins(world: LeadWorld) -> None:
    world.add()
    world.workspace.edit("mine.txt")
    world.workspace.commit_files("mine", ["mine.txt"])
    world.workspace.edit("mine.txt", "not committed")
    with pytest.raises(UnusableData, match=r"mine\.txt"):
        world.lead()
    assert world.store.runs.newest() == []
    world.project_files.write(".gitmodules", b"")
    with pytest.raises(UnusableData) as refused:
        world.lead()
    assert "git submodule update" in refused.value.hint


def test_a_file_that_git_does_not_know_is_in_nobodys_way(world: LeadWorld) -> None:
    world.add()
    world.workspace.edit("mine.txt")
    assert world.lead().outcome is RunOutcome.COMPLETE
    assert "mine.txt" in world.workspace.files


@pytest.mark.parametrize("is_killed", [False, True])
def test_what_one_worker_has_left_is_put_aside(world: LeadWorld, *, is_killed: bool) -> None:
    """It is not the user's: in the way of the branch, and of the team."""
    task = world.add()
    world.workspace.edit("code.txt", "theirs")
    world.workspace.commit_files("theirs", ["code.txt"])

    def half() -> None:
        world.workspace.edit("code.txt", "half")
        world.workspace.edit("new.txt", "half")
        world.signal = None if is_killed else "SIGINT"
        if is_killed:
            raise Died

    with suppress(Died):
        world.run(says("half", does=half))
    world.signal = None
    assert world.lead().outcome is RunOutcome.COMPLETE
    assert world.workspace.files == {"code.txt": "theirs"}
    assert [one.ref for one in world.recorded(WorkSaved)] == [f"refs/ralph/{task}/1"]


def test_no_commits_no_team(world: LeadWorld) -> None:
    world.add()
    ctx = world.ctx(config=Config(git=GitSection(commit="none")))
    with pytest.raises(UsageError, match="commits"):
        TeamLead(ctx, world.merge_branch, world.worker_pool, 2).run()  # type: ignore[arg-type]


def test_what_is_added_when_all_have_left_is_done_as_well(world: LeadWorld) -> None:
    world.add("first")
    added: list[TaskId] = []

    def last_minute() -> None:
        # Everybody has seen that nothing was left.
        if not world.worker_pool.here and not added:
            added.append(world.add("added in the last moment"))

    world.worker_pool.on_leaving = last_minute
    ended = world.lead(2)
    assert ended.outcome is RunOutcome.COMPLETE
    assert world.task(added[0]).status is TaskStatus.DONE


def test_a_pause_is_announced_once(world: LeadWorld) -> None:
    world.add()
    world.worker_pool.hangs = True

    def pause() -> None:
        if not world.store.claims.in_progress(AllTasks()):
            worker = world.worker_pool.running["teammate-1"]
            world.store.claims.claim(worker, world.run_id, AllTasks(), Schedule.PRIORITY)
            world.store.messages.send_control(world.run_id, ControlWord.PAUSE)
        elif world.recorded(Warned):
            world.signal = "SIGINT"

    world.executor.meanwhile = pause
    world.lead(2)
    warned = [one.message for one in world.recorded(Warned) if isinstance(one, Warned)]
    assert [line for line in warned if "pause" in line] == [
        "the run will pause after the sessions that are at work"
    ]


def test_a_checkout_that_stays_behind_hears_of_it_when_it_happens_and_at_the_end(
    world: LeadWorld,
) -> None:
    world.add()
    world.merge_branch.update_user_checkout = lambda: "main stays not_updated: notes.txt"  # type: ignore[method-assign]
    world.merge_branch.catch_up_command = lambda: "git merge tip"  # type: ignore[method-assign]
    ended = world.lead(1)
    assert ended.catch_up == "git merge tip"
    lines = [one.message for one in world.sink.events if isinstance(one, Warned)]
    assert lines == ["main stays not_updated: notes.txt"] * 2
    assert [type(one) for one in world.sink.events[-2:]] == [Warned, RunEnded]
