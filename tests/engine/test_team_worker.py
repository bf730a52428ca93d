"""A worker of a team: its checkouts, the merge, conflicts, and death at any moment."""

from contextlib import suppress
from pathlib import Path

import pytest

from ralph.core import events
from ralph.core.errors import RalphError, UnusableData
from ralph.core.events import WorkerJoined, WorkerLeft, WorkMerged
from ralph.core.gates import Gate
from ralph.core.ids import TaskId
from ralph.core.run import RunLimits, RunOutcome
from ralph.core.snapshot import CheckoutChanges, Snapshot
from ralph.core.task import TaskStatus
from ralph.ports.executor import Interrupted
from ralph.ports.merge_branch import RebaseResult
from tests.doubles import FakeWorkspace, Play, says
from tests.engine.team_fakes import MARKS, TEAM, TeamWorld
from tests.engine.world import CrashPoint, Died


@pytest.fixture
def team(tmp_path: Path) -> TeamWorld:
    return TeamWorld(tmp_path)


def test_accepted_work_is_merged_and_its_checkout_goes(team: TeamWorld) -> None:
    task = team.add()
    report = team.works_along(team.edits(task))
    assert report.outcome is RunOutcome.COMPLETE
    assert team.merge_branch.files == {"work.txt": "mine"}
    assert team.merge_branch.merges == [task]
    assert not team.merge_branch.has_checkout(task)
    [merged] = team.recorded(WorkMerged)
    assert isinstance(merged, WorkMerged)
    assert merged.commit == team.merge_branch.head()
    assert [
        type(one) for one in team.sink.events if isinstance(one, WorkerJoined | WorkerLeft)
    ] == [
        WorkerJoined,
        WorkerLeft,
    ]


def test_a_task_without_work_needs_no_merge(team: TeamWorld) -> None:
    task = team.add(needs_change=False)
    team.works_along(says("<task-done>TASK</task-done>"))
    assert team.task(task).status is TaskStatus.DONE
    assert team.merge_branch.merges == []
    assert team.recorded(WorkMerged) == []


def test_gates_run_again_only_when_the_tip_has_moved(team: TeamWorld) -> None:
    team.gates = (Gate(name="test", command="test"),)
    team.executor.gates = {"test": [0]}
    first = team.add("first")
    team.works_along(team.edits(first))
    assert len(team.recorded(events.GateEnded)) == 1
    second = team.add("second")

    def quicker() -> None:
        team.place(second).edit("other.txt")
        team.merge_branch.others_merge(theirs_txt="theirs")

    team.works_along(says("<task-done>TASK</task-done>", does=quicker))
    assert len(team.recorded(events.GateEnded)) == 3
    assert team.merge_branch.files == {"work.txt": "mine", "other.txt": "x", "theirs.txt": "theirs"}


def test_others_may_merge_while_the_gates_run(team: TeamWorld) -> None:
    team.gates = (Gate(name="test", command="test"),)
    team.executor.gates = {"test": [0]}
    task = team.add()
    rebase, theirs = team.merge_branch.rebase, ["first", "second"]

    def overtaken(task: TaskId, trailers: str = "", message: str = "") -> RebaseResult:
        done = rebase(task, trailers, message)
        if theirs:
            team.merge_branch.others_merge(**{theirs.pop(): "theirs"})
        return done

    team.merge_branch.rebase = overtaken  # type: ignore[method-assign]
    team.works_along(team.edits(task))
    assert team.merge_branch.merges == [task]
    assert team.merge_branch.files == {"work.txt": "mine", "first": "theirs", "second": "theirs"}
    assert len(team.recorded(events.GateEnded)) == 3


def test_what_fails_on_top_of_others_goes_back_with_the_reason(team: TeamWorld) -> None:
    team.gates = (Gate(name="test", command="test"),)
    team.executor.gates = {"test": [0, says("FAILED test_login", code=1), 0]}
    task = team.add()

    def quicker() -> None:
        team.place(task).edit("work.txt", "mine")
        team.merge_branch.others_merge(theirs_txt="theirs")

    team.works_along(
        says("<task-done>TASK</task-done>", does=quicker),
        team.edits(task, text="fixed"),
    )
    assert team.task(task).retry_count == 0
    [conflicted] = team.recorded(events.TaskConflicted)
    assert isinstance(conflicted, events.TaskConflicted)
    assert "gate test fails" in (conflicted.reason or "")
    brief = sorted(team.runs_dir.glob("*.prompt.md"))[-1].read_text()
    assert "gate test fails" in brief
    assert brief.count("FAILED test_login") == 1
    assert team.merge_branch.files == {"work.txt": "fixed", "theirs.txt": "theirs"}
    assert team.merge_branch.merges == [task]


def clashing(team: TeamWorld, task: str) -> Play:
    """A session during which somebody else changes the same file."""

    def both() -> None:
        team.place(team.task(task).id).edit("work.txt", "mine")  # type: ignore[arg-type]
        team.merge_branch.others_merge(work_txt="theirs")

    return says("<task-done>TASK</task-done>", does=both)


def test_a_conflict_is_given_to_a_session_with_both_sides_at_no_cost(team: TeamWorld) -> None:
    task = team.add()
    seen: list[dict[str, str]] = []

    def join() -> None:
        seen.append(dict(team.place(task).files))
        team.place(task).edit("work.txt", "theirs and mine")

    team.works_along(clashing(team, task), says("<task-done>TASK</task-done>", does=join))
    assert seen == [{"work.txt": MARKS}]
    assert team.merge_branch.files == {"work.txt": "theirs and mine"}
    done = team.task(task)
    assert (done.status, done.retry_count, done.strikes) == (TaskStatus.DONE, 0, 0)
    assert list(team.merge_branch.saved.values()) == [{"work.txt": "mine"}]
    brief = sorted(team.runs_dir.glob("*.prompt.md"))[-1].read_text()
    assert "conflict markers" in brief
    assert f"git show refs/ralph/conflict/{task}/1:PATH" in brief


def test_who_cannot_join_both_sides_starts_over_from_the_tip(team: TeamWorld) -> None:
    team.gates = (Gate(name="test", command="test"),)
    team.executor.gates = {"test": [0, 1, 0]}
    task = team.add()
    seen: list[dict[str, str]] = []

    def again() -> None:
        seen.append(dict(team.place(task).files))
        team.place(task).edit("more.txt", "mine")

    team.works_along(
        clashing(team, task),
        team.edits(task, text="a bad join"),
        says("<task-done>TASK</task-done>", does=again),
    )
    assert seen == [{"work.txt": "theirs"}]
    assert team.merge_branch.files == {"work.txt": "theirs", "more.txt": "mine"}
    assert team.task(task).retry_count == 1
    assert {"work.txt": "a bad join"} in team.merge_branch.saved.values()


def test_endless_conflicts_use_up_the_retries(team: TeamWorld) -> None:
    task = team.add(max_retries=1)
    number = iter(range(100))

    def clash() -> None:
        at = next(number)
        team.place(task).edit("work.txt", f"mine {at}")
        team.merge_branch.others_merge(work_txt=f"theirs {at}")

    team.executor.otherwise = says("<task-done>TASK</task-done>", does=clash)
    team.works_along()
    failed = team.task(task)
    assert failed.status is TaskStatus.FAILED
    assert next(number) == 8 + 2
    assert team.merge_branch.merges == []
    assert not team.merge_branch.has_checkout(task)


def test_a_task_that_others_overtake_again_and_again_makes_them_wait(team: TeamWorld) -> None:
    task = team.add(max_retries=0)
    number = iter(range(100))

    def clash() -> None:
        at = next(number)
        team.place(task).edit("work.txt", f"mine {at}")
        if not team.merge_branch.is_locked:
            team.merge_branch.others_merge(work_txt=f"theirs {at}")

    team.executor.otherwise = says("<task-done>TASK</task-done>", does=clash)
    team.works_along()
    assert team.task(task).status is TaskStatus.DONE
    assert team.merge_branch.files == {"work.txt": "mine 4"}
    assert next(number) == 4 + 1
    assert not team.merge_branch.is_locked


def test_rejected_work_stays_in_its_checkout_for_whoever_comes_next(team: TeamWorld) -> None:
    team.gates = (Gate(name="test", command="test"),)
    team.executor.gates = {"test": [1, 0]}
    team.limits = RunLimits(iterations=1)
    task = team.add()
    first = team.works_along(team.edits(task, "one.txt"))
    assert first.outcome is RunOutcome.LIMIT_REACHED
    assert team.place(task).files == {"one.txt": "mine"}
    assert team.task(task).files == ("one.txt",)
    team.limits = RunLimits(iterations=2)
    team.works_along(team.edits(task, "two.txt"))
    assert team.merge_branch.files == {"one.txt": "mine", "two.txt": "mine"}


def test_work_that_fails_for_good_is_kept_and_its_checkout_goes(team: TeamWorld) -> None:
    task = team.add()

    def half() -> None:
        team.place(task).edit("half.txt")

    team.works_along(says("<task-failed>TASK</task-failed>", does=half))
    assert team.task(task).status is TaskStatus.FAILED
    assert not team.merge_branch.has_checkout(task)
    assert team.merge_branch.files == {}
    [saved] = team.recorded(events.WorkSaved)
    assert isinstance(saved, events.WorkSaved)
    assert saved.ref == f"refs/ralph/{task}/1"


def test_a_worker_waits_for_its_turn_and_a_signal_ends_that(team: TeamWorld) -> None:
    task = team.add()
    team.merge_branch.is_taken = True

    def signal() -> None:
        team.signal = "SIGTERM"

    team.executor.meanwhile = signal
    report = team.works_along(team.edits(task))
    assert report.outcome is RunOutcome.INTERRUPTED
    assert team.task(task).status is TaskStatus.PENDING
    team.signal, team.executor.meanwhile, team.merge_branch.is_taken = None, None, False
    # No session is needed any more.
    team.works_along()
    assert team.merge_branch.merges == [task]
    assert team.task(task).status is TaskStatus.DONE


class Doomed(TeamWorld):
    """Two tasks, and somebody else who merges while the first one is at work."""

    def __init__(self, runs_dir: Path) -> None:
        super().__init__(runs_dir)
        self.gates = (Gate(name="test", command="test"),)
        self.executor.gates = {"test": [0]}
        self.tasks = self.add("first"), self.add("second")
        self.executor.otherwise = says("<task-done>TASK</task-done>", does=self.edit)

    def edit(self) -> None:
        [running] = [one for one in self.tasks if self.is_at_work(one)]
        self.place(running).edit(f"{running}.txt", "mine")
        if running == self.tasks[0]:
            self.merge_branch.others_merge(theirs_txt="theirs")

    def dies(self, crash_point: CrashPoint) -> bool:
        with suppress(Died):
            self.works_along(crash_point=crash_point)
        return crash_point.dead

    def check_all_is_well(self) -> None:
        self.recover()
        report = self.works_along()
        assert report.outcome is RunOutcome.COMPLETE, report
        wanted = {f"{task}.txt": "mine" for task in self.tasks}
        assert self.merge_branch.files == wanted | {"theirs.txt": "theirs"}
        assert sorted(self.merge_branch.merges) == sorted(self.tasks)
        assert self.merge_branch.checkouts == {}
        assert {self.task(one).retry_count for one in self.tasks} == {0}


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
def test_killed_anywhere_the_work_is_merged_once_and_nothing_is_lost(
    tmp_path: Path, *, late: bool
) -> None:
    for calls in range(1000):
        team = Doomed(tmp_path / str(calls))
        if not team.dies(CrashPoint(calls, late=late)):
            assert calls > 50
            return
        team.check_all_is_well()
    pytest.fail("it never came to its end")


def test_a_worker_that_dies_in_a_session_leaves_what_was_seen_of_it(team: TeamWorld) -> None:
    task = team.add("Parser")
    crash_point = CrashPoint()

    def dies() -> None:
        team.place(task).edit("half.txt")
        crash_point.dead = True
        raise Died

    with suppress(Died):
        team.works_along(says("the lexer is done", does=dies), crash_point=crash_point)
    team.recover()
    team.works_along(team.edits(task))
    brief = sorted(team.runs_dir.glob("*.prompt.md"))[-1].read_text()
    assert "its worker died" in brief
    assert "`half.txt`" in brief
    assert not [path for path in team.project_files.pages if "memory" in path.lower()], "it is done"


def test_a_signal_while_a_checkout_is_made_ready_costs_nothing(team: TeamWorld) -> None:
    task = team.add()

    def called_off(_: TaskId) -> FakeWorkspace:
        team.signal = "SIGTERM"
        raise Interrupted

    team.merge_branch.open_checkout = called_off  # type: ignore[assignment, method-assign]
    report = team.works_along()
    assert report.outcome is RunOutcome.INTERRUPTED
    given_back = team.task(task)
    assert (given_back.status, given_back.retry_count, given_back.strikes) == (
        TaskStatus.PENDING,
        0,
        0,
    )
    assert team.store.runs.begin_iteration(TEAM, 1) == 2, "it did not count"


@pytest.mark.parametrize("mark", ["ended", "committed"])
def test_done_means_merged_also_when_the_checkouts_are_removed(team: TeamWorld, mark: str) -> None:
    task = team.add()
    crash_point = CrashPoint()

    def dies(*_: object) -> None:
        crash_point.dead = True
        raise Died

    before = team.merge_branch.rebase if mark == "committed" else team.merge_branch.save_accepted
    setattr(team.merge_branch, before.__name__, dies)
    with suppress(Died):
        team.works_along(team.edits(task), crash_point=crash_point)
    team.merge_branch.checkouts.clear()
    setattr(team.merge_branch, before.__name__, before)
    team.recover()
    again = () if mark == "committed" else (team.edits(task),)
    assert team.works_along(*again).outcome is RunOutcome.COMPLETE
    assert team.merge_branch.merges == [task]
    assert team.merge_branch.files == {"work.txt": "mine"}


def test_a_task_that_one_worker_has_gone_on_with_begins_in_a_new_checkout(team: TeamWorld) -> None:
    """What the old one holds would count as there before the task, and its work as none."""
    task = team.add()

    def is_stopped() -> None:
        team.signal = "SIGINT"

    def half() -> None:
        team.place(task).edit("work.txt", "mine")
        is_stopped()

    team.works_along(says("half", does=half))
    team.signal = None
    team.run(says("half", does=is_stopped))
    team.signal = None
    team.works_along(team.edits(task))
    assert team.task(task).status is TaskStatus.DONE
    assert team.merge_branch.files == {"work.txt": "mine"}


@pytest.mark.parametrize("is_accepted", [True, False])
def test_work_that_a_restored_database_does_not_know_is_done_again(
    team: TeamWorld, *, is_accepted: bool
) -> None:
    task = team.add()
    left = team.merge_branch.open_checkout(task)
    left.edit("work.txt", "mine")
    if is_accepted:
        left.commit_files("accepted", ["work.txt"])
        team.merge_branch.save_accepted(task)
        team.merge_branch.checkouts.clear()
    assert team.works_along(team.edits(task)).outcome is RunOutcome.COMPLETE
    assert team.merge_branch.merges == [task]


def test_work_is_done_again_where_only_an_earlier_checkout_knows_its_states(
    team: TeamWorld,
) -> None:
    """As after a database was restored."""
    task, crash_point, save = team.add(), CrashPoint(), team.merge_branch.save_accepted

    def dies(*_: object) -> None:
        crash_point.dead = True
        raise Died

    def knows_nothing(since: Snapshot, now: Snapshot) -> CheckoutChanges:
        del since, now
        raise UnusableData("git cannot read what it needs")

    setattr(team.merge_branch, save.__name__, dies)
    with suppress(Died):
        team.works_along(team.edits(task), crash_point=crash_point)
    team.merge_branch.save_accepted = save  # type: ignore[method-assign]
    team.merge_branch.checkouts.clear()
    team.merge_branch.open_checkout(task).changes = knows_nothing  # type: ignore[method-assign]
    team.recover()
    assert team.works_along(team.edits(task)).outcome is RunOutcome.COMPLETE
    assert team.merge_branch.merges == [task]


def test_accepted_work_is_merged_though_its_checkout_breaks(team: TeamWorld) -> None:
    task, rebase = team.add(), team.merge_branch.rebase

    def breaks(task: TaskId, trailers: str = "", message: str = "") -> RebaseResult:
        team.merge_branch.rebase = rebase  # type: ignore[method-assign]
        del team.merge_branch.checkouts[task]
        raise RalphError("git cannot read what it needs")

    team.merge_branch.rebase = breaks  # type: ignore[method-assign]
    assert team.works_along(team.edits(task)).outcome is RunOutcome.COMPLETE
    assert team.merge_branch.merges == [task]
    assert team.task(task).strikes == 0


def test_a_checkout_that_breaks_in_a_session_is_a_strike(team: TeamWorld) -> None:
    task = team.add()

    def fails() -> Snapshot:
        raise RalphError("git cannot read what it needs")

    def breaks() -> None:
        place = team.merge_branch.checkouts.pop(task)
        place.snapshot = fails  # type: ignore[method-assign]

    team.works_along(says("<task-done>TASK</task-done>", does=breaks), team.edits(task))
    [struck] = team.recorded(events.TaskStruck)
    assert isinstance(struck, events.TaskStruck)
    assert "its checkout is broken" in (struck.reason or "")
    assert team.merge_branch.merges == [task]
