"""The lead of a team: seats, deaths, people's words, and the conclusion."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from ralph.core.errors import UnusableData, UsageError
from ralph.core.events import RunEnded, Warned
from ralph.core.ids import RunId, TaskId, WorkerId
from ralph.core.order import Schedule
from ralph.core.outcome import Outcome
from ralph.core.target import Everything
from ralph.core.task import Status
from ralph.core.team_events import WorkerLeft
from ralph.core.transitions import Accepted
from ralph.engine.lead import DEATHS, HANGS_S, run_team
from ralph.ports.history import Word
from ralph.ports.staff import Departure, Report
from tests.engine.crew import FakeTrunk
from tests.engine.world import DEAD, World


class FakeStaff:
    """Workers that do one thing at each look: take a task, finish it, die, or wait."""

    def __init__(self, world: "Office") -> None:
        self.world = world
        self.here: dict[str, WorkerId] = {}
        self.hired = 0
        self.deaths = 0
        """How many are still to die, in the middle of a task."""
        self.gone: list[Departure] = []
        self.called_off = False
        self.mute = False
        self.leaves_with: Report | None = None
        self.on_leaving: Callable[[], object] = lambda: None

    def hire(self, seat: str) -> WorkerId:
        self.hired += 1
        worker = WorkerId(f"{seat}-{self.hired}")
        self.here[seat] = worker
        self.world.store.join(worker, self.world.run_id, self.world.owner, 60.0, seat)
        return worker

    @property
    def present(self) -> dict[str, WorkerId]:
        return dict(self.here)

    def departures(self) -> list[Departure]:
        if not self.called_off and not self.mute:
            for seat, worker in list(self.here.items()):
                self._work(seat, worker)
        gone, self.gone = self.gone, []
        return gone

    def _work(self, seat: str, worker: WorkerId) -> None:
        store = self.world.store
        if self.leaves_with is not None:
            self._leave(seat, self.leaves_with)
            return
        taken = store.claim(worker, self.world.run_id, Everything(), Schedule.PRIORITY)
        if taken is None:
            self._leave(seat, Report(outcome=Outcome.COMPLETE))
        elif self.deaths:
            self.deaths -= 1
            self._leave(seat, None)
        else:
            store.settle(taken, Accepted(), message="done", fail_fast=False)

    def _leave(self, seat: str, report: Report | None) -> None:
        worker = self.here.pop(seat)
        self.on_leaving()
        if report is None:
            store = self.world.store
            store.join(worker, self.world.run_id, DEAD, 60.0, seat)
        self.gone.append(Departure(worker=worker, seat=seat, report=report, reason="SIGKILL"))

    def dismiss(self, worker: WorkerId) -> None:
        self.mute = False
        for seat in [seat for seat, one in self.here.items() if one == worker]:
            self._leave(seat, None)

    def call_off(self) -> None:
        self.called_off = True
        for seat in list(self.here):
            self._leave(seat, Report(outcome=Outcome.INTERRUPTED, reason="by SIGTERM"))

    def close(self) -> None:
        self.here.clear()


class Office(World):
    """A lead and what it leads."""

    def __init__(self, runs_dir: Path) -> None:
        super().__init__(runs_dir)
        self.run_id = RunId("run-1")
        self.owner = replace(DEAD, pid=1)
        self.trunk = FakeTrunk()
        self.staff = FakeStaff(self)

    def lead(self, workers: int = 2) -> RunEnded:
        return run_team(self.kit(), self.trunk, self.staff, workers)  # type: ignore[arg-type]


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def test_every_seat_is_taken_and_all_is_done(office: Office) -> None:
    tasks = [office.add(f"task {number}") for number in range(5)]
    ended = office.lead(3)
    assert ended.outcome is Outcome.COMPLETE
    assert [office.task(task).status for task in tasks] == [Status.DONE] * 5
    assert office.staff.hired == 3


def test_nothing_to_do_hires_nobody(office: Office) -> None:
    assert office.lead().outcome is Outcome.NO_PLAN
    assert office.staff.hired == 0


def test_who_dies_is_replaced_and_its_task_goes_back_at_no_cost(office: Office) -> None:
    task = office.add()
    office.staff.deaths = 2
    ended = office.lead(1)
    assert ended.outcome is Outcome.COMPLETE
    done = office.task(task)
    assert (done.status, done.retry_count, done.attempt) == (Status.DONE, 0, 3)
    left = [one for one in office.told(WorkerLeft) if isinstance(one, WorkerLeft)]
    assert [one.outcome for one in left] == [None, None]
    assert any(mark.endswith("teammate-1-1") for mark in office.executor.swept)


def test_a_seat_in_which_everybody_dies_stays_empty(office: Office) -> None:
    office.add()
    office.staff.deaths = 1000
    ended = office.lead(1)
    assert ended.outcome is Outcome.ERROR
    assert f"died {DEATHS} times" in ended.reason
    assert office.staff.hired == DEATHS


def test_a_worker_that_cannot_go_on_leaves_the_others_working(office: Office) -> None:
    tasks = [office.add(f"task {number}") for number in range(3)]

    def first_one_pauses() -> None:
        if office.staff.hired == 2 and not office.staff.gone:
            office.staff._leave("teammate-1", Report(outcome=Outcome.PAUSED, reason="breaker"))
            office.executor.meanwhile = None

    office.executor.meanwhile = first_one_pauses
    ended = office.lead(2)
    assert ended.outcome is Outcome.COMPLETE
    assert {office.task(task).status for task in tasks} == {Status.DONE}
    assert office.staff.hired == 2


def test_the_worst_reason_is_the_runs_when_work_is_left(office: Office) -> None:
    office.add()
    office.staff.leaves_with = Report(outcome=Outcome.PAUSED, reason="out of money", exit_code=6)
    ended = office.lead(2)
    assert (ended.outcome, ended.reason, ended.exit_code) == (Outcome.PAUSED, "out of money", 6)


def test_a_declared_failure_ends_the_team(office: Office) -> None:
    office.add()
    office.staff.leaves_with = Report(outcome=Outcome.FAILURE, reason="hopeless", exit_code=1)
    assert office.lead(1).outcome is Outcome.FAILURE


def test_a_signal_calls_everybody_off(office: Office) -> None:
    office.add()
    office.staff.mute = True

    def signal() -> None:
        office.signal = "SIGINT"

    office.executor.meanwhile = signal
    ended = office.lead(2)
    assert ended.outcome is Outcome.INTERRUPTED
    assert office.staff.called_off
    assert ended.exit_code == 130


def test_what_people_say_reaches_every_worker(office: Office) -> None:
    office.add()
    office.staff.mute = True
    heard: list[Word] = []

    def speak() -> None:
        if not heard:
            office.store.send(office.run_id, Word.PAUSE)
            heard.append(Word.PAUSE)
            return
        for worker in office.staff.present.values():
            heard.extend(one.word for one in office.store.take_controls(RunId(worker)))
        office.staff.mute = len(heard) < 3
        if len(heard) == 3:
            office.store.send(office.run_id, Word.RESUME)
            heard.append(Word.RESUME)

    office.executor.meanwhile = speak
    office.lead(2)
    assert heard[:3] == [Word.PAUSE] * 3


def test_a_task_that_nobody_works_on_is_skipped_by_the_lead(office: Office) -> None:
    blocker = office.add("first")
    task = office.add("second", blocked_by=(blocker,))

    def skip() -> None:
        office.executor.meanwhile = None
        office.store.send(office.run_id, Word.SKIP, task, "not now")

    office.executor.meanwhile = skip
    ended = office.lead(1)
    assert office.task(task).status is Status.BLOCKED
    assert ended.outcome is Outcome.BLOCKED


def test_a_worker_that_hangs_is_ended_and_replaced(office: Office) -> None:
    task = office.add()
    office.staff.mute = True

    def hang() -> None:
        if office.staff.mute and not office.store.in_progress(Everything()):
            [worker] = office.staff.present.values()
            office.store.claim(worker, office.run_id, Everything(), Schedule.PRIORITY)
        office.clock.advance(HANGS_S / 4)

    office.executor.meanwhile = hang
    ended = office.lead(1)
    assert ended.outcome is Outcome.COMPLETE
    assert office.task(task).status is Status.DONE
    warned = [one.message for one in office.told(Warned) if isinstance(one, Warned)]
    assert any("no sign of life" in line for line in warned)


def test_abort_stops_a_team(office: Office) -> None:
    office.add()
    office.staff.mute = True
    office.executor.meanwhile = lambda: office.library.put(".ralph/ABORT", b"")
    ended = office.lead(2)
    assert ended.outcome is Outcome.PAUSED
    assert ".ralph/ABORT" in ended.reason
    assert office.staff.called_off


def test_a_checkout_that_is_not_clean_is_refused_before_anything_begins(office: Office) -> None:
    office.add()
    office.workspace.edit("mine.txt")
    with pytest.raises(UnusableData, match=r"mine\.txt"):
        office.lead()
    assert office.store.runs() == []
    office.library.put(".gitmodules", b"")
    with pytest.raises(UnusableData) as refused:
        office.lead()
    assert "git submodule update" in refused.value.hint


def test_no_commits_no_team(office: Office) -> None:
    office.add()
    kit = office.kit()
    kit.settings = replace(kit.settings, commit="none")
    with pytest.raises(UsageError, match="commits"):
        run_team(kit, office.trunk, office.staff, 2)  # type: ignore[arg-type]


def test_what_is_added_when_all_have_left_is_done_as_well(office: Office) -> None:
    office.add("first")
    added: list[TaskId] = []

    def last_minute() -> None:
        # Everybody has seen that nothing was left.
        if not office.staff.here and not added:
            added.append(office.add("added in the last moment"))

    office.staff.on_leaving = last_minute
    ended = office.lead(2)
    assert ended.outcome is Outcome.COMPLETE
    assert office.task(added[0]).status is Status.DONE


def test_a_pause_is_announced_once(office: Office) -> None:
    office.add()
    office.staff.mute = True

    def pause() -> None:
        if not office.store.in_progress(Everything()):
            worker = office.staff.present["teammate-1"]
            office.store.claim(worker, office.run_id, Everything(), Schedule.PRIORITY)
            office.store.send(office.run_id, Word.PAUSE)
        elif office.told(Warned):
            office.signal = "SIGINT"

    office.executor.meanwhile = pause
    office.lead(2)
    warned = [one.message for one in office.told(Warned) if isinstance(one, Warned)]
    assert [line for line in warned if "pause" in line] == [
        "the run will pause after the sessions that are at work"
    ]


def test_a_checkout_that_stays_behind_hears_of_it_when_it_happens_and_at_the_end(
    office: Office,
) -> None:
    office.add()
    office.trunk.follow = lambda: "main stays behind: notes.txt"  # type: ignore[method-assign]
    office.lead(1)
    lines = [one.message for one in office.sink.events if isinstance(one, Warned)]
    assert lines == ["main stays behind: notes.txt"] * 2
    assert [type(one) for one in office.sink.events[-2:]] == [Warned, RunEnded]
