"""A worker of a team: its checkouts, the merge, conflicts, and death at any moment."""

from contextlib import suppress
from pathlib import Path

import pytest

from ralph.core import events
from ralph.core.gates import Gate
from ralph.core.ids import TaskId
from ralph.core.limits import Limits
from ralph.core.outcome import Outcome
from ralph.core.task import Status
from ralph.core.team_events import WorkerJoined, WorkerLeft, WorkMerged
from ralph.ports.executor import Interrupted
from ralph.ports.trunk import Rebased
from ralph.testing.doubles import FakeWorkspace, Play, says
from tests.engine.crew import MARKS, TEAM, Crew
from tests.engine.world import Died, Fate


@pytest.fixture
def crew(tmp_path: Path) -> Crew:
    return Crew(tmp_path)


def test_accepted_work_is_merged_and_its_checkout_goes(crew: Crew) -> None:
    task = crew.add()
    report = crew.works_along(crew.edits(task))
    assert report.outcome is Outcome.COMPLETE
    assert crew.trunk.files == {"work.txt": "mine"}
    assert crew.trunk.merges == [task]
    assert not crew.trunk.is_open(task)
    [merged] = crew.told(WorkMerged)
    assert isinstance(merged, WorkMerged)
    assert merged.commit == crew.trunk.tip()
    assert [
        type(one) for one in crew.sink.events if isinstance(one, WorkerJoined | WorkerLeft)
    ] == [
        WorkerJoined,
        WorkerLeft,
    ]


def test_a_task_without_work_needs_no_merge(crew: Crew) -> None:
    task = crew.add(needs_change=False)
    crew.works_along(says("<task-done>TASK</task-done>"))
    assert crew.task(task).status is Status.DONE
    assert crew.trunk.merges == []
    assert crew.told(WorkMerged) == []


def test_gates_run_again_only_when_the_tip_has_moved(crew: Crew) -> None:
    crew.gates = (Gate(name="test", command="test"),)
    crew.executor.gates = {"test": [0]}
    first = crew.add("first")
    crew.works_along(crew.edits(first))
    assert len(crew.told(events.GateEnded)) == 1
    second = crew.add("second")

    def quicker() -> None:
        crew.place(second).edit("other.txt")
        crew.trunk.others_merge(theirs_txt="theirs")

    crew.works_along(says("<task-done>TASK</task-done>", does=quicker))
    assert len(crew.told(events.GateEnded)) == 3
    assert crew.trunk.files == {"work.txt": "mine", "other.txt": "x", "theirs.txt": "theirs"}


def test_others_may_merge_while_the_gates_run(crew: Crew) -> None:
    crew.gates = (Gate(name="test", command="test"),)
    crew.executor.gates = {"test": [0]}
    task = crew.add()
    rebase, theirs = crew.trunk.rebase, ["first", "second"]

    def overtaken(task: TaskId, trailers: str = "", message: str = "") -> Rebased:
        done = rebase(task, trailers, message)
        if theirs:
            crew.trunk.others_merge(**{theirs.pop(): "theirs"})
        return done

    crew.trunk.rebase = overtaken  # type: ignore[method-assign]
    crew.works_along(crew.edits(task))
    assert crew.trunk.merges == [task]
    assert crew.trunk.files == {"work.txt": "mine", "first": "theirs", "second": "theirs"}
    assert len(crew.told(events.GateEnded)) == 3


def test_what_fails_on_top_of_others_goes_back_with_the_reason(crew: Crew) -> None:
    crew.gates = (Gate(name="test", command="test"),)
    crew.executor.gates = {"test": [0, 1, 0]}
    task = crew.add()

    def quicker() -> None:
        crew.place(task).edit("work.txt", "mine")
        crew.trunk.others_merge(theirs_txt="theirs")

    crew.works_along(
        says("<task-done>TASK</task-done>", does=quicker),
        crew.edits(task, text="mended"),
    )
    assert crew.task(task).retry_count == 0
    [conflicted] = crew.told(events.TaskConflicted)
    assert isinstance(conflicted, events.TaskConflicted)
    assert "gate test fails" in (conflicted.reason or "")
    brief = sorted(crew.runs_dir.glob("*.prompt.md"))[-1].read_text()
    assert "gate test fails" in brief
    assert crew.trunk.files == {"work.txt": "mended", "theirs.txt": "theirs"}
    assert crew.trunk.merges == [task]


def clashing(crew: Crew, task: str) -> Play:
    """A session during which somebody else changes the same file."""

    def both() -> None:
        crew.place(crew.task(task).id).edit("work.txt", "mine")  # type: ignore[arg-type]
        crew.trunk.others_merge(work_txt="theirs")

    return says("<task-done>TASK</task-done>", does=both)


def test_a_conflict_is_given_to_a_session_with_both_sides_at_no_cost(crew: Crew) -> None:
    task = crew.add()
    seen: list[dict[str, str]] = []

    def join() -> None:
        seen.append(dict(crew.place(task).files))
        crew.place(task).edit("work.txt", "theirs and mine")

    crew.works_along(clashing(crew, task), says("<task-done>TASK</task-done>", does=join))
    assert seen == [{"work.txt": MARKS}]
    assert crew.trunk.files == {"work.txt": "theirs and mine"}
    done = crew.task(task)
    assert (done.status, done.retry_count, done.strikes) == (Status.DONE, 0, 0)
    assert list(crew.trunk.saved.values()) == [{"work.txt": "mine"}]
    brief = sorted(crew.runs_dir.glob("*.prompt.md"))[-1].read_text()
    assert "conflict markers" in brief
    assert f"git show refs/ralph/conflict/{task}/1:PATH" in brief


def test_who_cannot_join_both_sides_starts_over_from_the_tip(crew: Crew) -> None:
    crew.gates = (Gate(name="test", command="test"),)
    crew.executor.gates = {"test": [0, 1, 0]}
    task = crew.add()
    seen: list[dict[str, str]] = []

    def again() -> None:
        seen.append(dict(crew.place(task).files))
        crew.place(task).edit("more.txt", "mine")

    crew.works_along(
        clashing(crew, task),
        crew.edits(task, text="a bad join"),
        says("<task-done>TASK</task-done>", does=again),
    )
    assert seen == [{"work.txt": "theirs"}]
    assert crew.trunk.files == {"work.txt": "theirs", "more.txt": "mine"}
    assert crew.task(task).retry_count == 1
    assert {"work.txt": "a bad join"} in crew.trunk.saved.values()


def test_endless_conflicts_use_up_the_retries(crew: Crew) -> None:
    task = crew.add(max_retries=1)
    number = iter(range(100))

    def clash() -> None:
        at = next(number)
        crew.place(task).edit("work.txt", f"mine {at}")
        crew.trunk.others_merge(work_txt=f"theirs {at}")

    crew.executor.otherwise = says("<task-done>TASK</task-done>", does=clash)
    crew.works_along()
    failed = crew.task(task)
    assert failed.status is Status.FAILED
    assert next(number) == 8 + 2
    assert crew.trunk.merges == []
    assert not crew.trunk.is_open(task)


def test_rejected_work_stays_in_its_checkout_for_whoever_comes_next(crew: Crew) -> None:
    crew.gates = (Gate(name="test", command="test"),)
    crew.executor.gates = {"test": [1, 0]}
    crew.limits = Limits(iterations=1)
    task = crew.add()
    first = crew.works_along(crew.edits(task, "one.txt"))
    assert first.outcome is Outcome.LIMIT_REACHED
    assert crew.place(task).files == {"one.txt": "mine"}
    assert crew.task(task).files == ("one.txt",)
    crew.limits = Limits(iterations=2)
    crew.works_along(crew.edits(task, "two.txt"))
    assert crew.trunk.files == {"one.txt": "mine", "two.txt": "mine"}


def test_work_that_fails_for_good_is_kept_and_its_checkout_goes(crew: Crew) -> None:
    task = crew.add()

    def half() -> None:
        crew.place(task).edit("half.txt")

    crew.works_along(says("<task-failed>TASK</task-failed>", does=half))
    assert crew.task(task).status is Status.FAILED
    assert not crew.trunk.is_open(task)
    assert crew.trunk.files == {}
    [saved] = crew.told(events.WorkSaved)
    assert isinstance(saved, events.WorkSaved)
    assert saved.ref == f"refs/ralph/{task}/1"


def test_a_worker_waits_for_its_turn_and_a_signal_ends_that(crew: Crew) -> None:
    task = crew.add()
    crew.trunk.is_taken = True

    def signal() -> None:
        crew.signal = "SIGTERM"

    crew.executor.meanwhile = signal
    report = crew.works_along(crew.edits(task))
    assert report.outcome is Outcome.INTERRUPTED
    assert crew.task(task).status is Status.PENDING
    crew.signal, crew.executor.meanwhile, crew.trunk.is_taken = None, None, False
    # No session is needed any more.
    crew.works_along()
    assert crew.trunk.merges == [task]
    assert crew.task(task).status is Status.DONE


class Doomed(Crew):
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
            self.trunk.others_merge(theirs_txt="theirs")

    def dies(self, fate: Fate) -> bool:
        with suppress(Died):
            self.works_along(fate=fate)
        return fate.dead

    def check_all_is_well(self) -> None:
        self.recover()
        report = self.works_along()
        assert report.outcome is Outcome.COMPLETE, report
        wanted = {f"{task}.txt": "mine" for task in self.tasks}
        assert self.trunk.files == wanted | {"theirs.txt": "theirs"}
        assert sorted(self.trunk.merges) == sorted(self.tasks)
        assert self.trunk.checkouts == {}
        assert {self.task(one).retry_count for one in self.tasks} == {0}


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
def test_killed_anywhere_the_work_is_merged_once_and_nothing_is_lost(
    tmp_path: Path, *, late: bool
) -> None:
    for calls in range(1000):
        crew = Doomed(tmp_path / str(calls))
        if not crew.dies(Fate(calls, late=late)):
            assert calls > 50
            return
        crew.check_all_is_well()
    pytest.fail("it never came to its end")


def test_a_worker_that_dies_in_a_session_leaves_what_was_seen_of_it(crew: Crew) -> None:
    task = crew.add("Parser")
    fate = Fate()

    def dies() -> None:
        crew.place(task).edit("half.txt")
        fate.dead = True
        raise Died

    with suppress(Died):
        crew.works_along(says("the lexer is done", does=dies), fate=fate)
    crew.recover()
    crew.works_along(crew.edits(task))
    brief = sorted(crew.runs_dir.glob("*.prompt.md"))[-1].read_text()
    assert "its worker died" in brief
    assert "`half.txt`" in brief
    assert not [path for path in crew.library.pages if "memory" in path.lower()], "it is done"


def test_a_signal_while_a_checkout_is_made_ready_costs_nothing(crew: Crew) -> None:
    task = crew.add()

    def called_off(_: TaskId) -> FakeWorkspace:
        crew.signal = "SIGTERM"
        raise Interrupted

    crew.trunk.open = called_off  # type: ignore[method-assign]
    report = crew.works_along()
    assert report.outcome is Outcome.INTERRUPTED
    given_back = crew.task(task)
    assert (given_back.status, given_back.retry_count, given_back.strikes) == (Status.PENDING, 0, 0)
    assert crew.store.begin_iteration(TEAM, 1) == 2, "it did not count"


@pytest.mark.parametrize("mark", ["ended", "committed"])
def test_done_means_merged_also_when_the_checkouts_are_removed(crew: Crew, mark: str) -> None:
    task = crew.add()
    fate = Fate()

    def dies(*_: object) -> None:
        fate.dead = True
        raise Died

    before = crew.trunk.rebase if mark == "committed" else crew.trunk.keep
    setattr(crew.trunk, before.__name__, dies)
    with suppress(Died):
        crew.works_along(crew.edits(task), fate=fate)
    crew.trunk.checkouts.clear()
    setattr(crew.trunk, before.__name__, before)
    crew.recover()
    again = () if mark == "committed" else (crew.edits(task),)
    assert crew.works_along(*again).outcome is Outcome.COMPLETE
    assert crew.trunk.merges == [task]
    assert crew.trunk.files == {"work.txt": "mine"}
