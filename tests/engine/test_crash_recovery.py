"""After a crash, a signal or a person's deeds in between: what the next run makes of it."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from ralph.core import events
from ralph.core.errors import BranchMoved, Busy, CannotWrite
from ralph.core.gates import Gate
from ralph.core.ids import RunId, TaskId
from ralph.core.process_exit import ProcessExit
from ralph.core.run import AllTasks, RunLimits, RunOutcome, Subtree
from ralph.core.session_ending import EndingKind
from ralph.core.snapshot import Snapshot
from ralph.core.task import TaskDraft, TaskStatus
from ralph.core.transitions import Blocked, Unblocked
from ralph.engine.loop import run
from ralph.ports.agent import AgentHome
from ralph.ports.executor import Command, OutputListener
from ralph.ports.workspace import CommitResult
from ralph.store.messages import ControlWord
from ralph.store.sessions import Checkpoint
from tests.doubles import FakeWorkspace, NoHomes, Play, exits, says
from tests.engine.world import CrashPoint, Died, World

CLAIM = "<task-done>TASK</task-done>"
ONCE = RunLimits(iterations=1)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def gated(world: World) -> World:
    """A world with a gate, green at the baseline."""
    world.gates = (Gate(name="test", command="make test"),)
    world.executor.gates["make test"] = [0]
    return world


def interrupts(world: World) -> Play:
    """A gate during which a signal comes."""

    def play(command: Command, listener: OutputListener) -> ProcessExit:
        world.signal = "SIGINT"
        return exits(0)(command, listener)

    return play


def postpone(world: World, session: Play) -> None:
    """A run whose one session ends, and which is stopped before the verdict."""
    world.executor.gates["make test"] = [0, interrupts(world)]
    assert world.run(session).outcome is RunOutcome.INTERRUPTED
    world.signal = None
    world.executor.gates["make test"] = [0]


def deaths(runs_dir: Path, scene: Callable[[World], None]) -> Iterator[World]:
    """A world for each call at which a run of this scene can die; it is dead in there."""
    for calls in range(1000):
        world = World(runs_dir)
        scene(world)
        try:
            run(world.ctx(CrashPoint(calls)))
        except Died:
            yield world
        else:
            return
    pytest.fail("it never comes to its end")


def accepts(world: World) -> None:
    """A person's file, a gate, and a task whose one session does it."""
    world.gates = (Gate(name="test", command="make test"),)
    world.executor.gates["make test"] = [0]
    world.workspace.edit("mine.txt", "a person's")
    world.add("Write it")
    world.executor.otherwise = world.works()


def test_wherever_a_run_dies_the_next_one_finishes_it(tmp_path: Path) -> None:
    ways = set()
    for world in deaths(tmp_path, accepts):
        assert world.run().outcome is RunOutcome.COMPLETE
        assert world.workspace.commits == ["c0", "Write it"]
        assert world.workspace.head == {"work.txt": "x"}
        assert world.workspace.files == {"work.txt": "x", "mine.txt": "a person's"}
        sessions = world.store.sessions.select()
        assert {session.checkpoint for session in sessions} == {Checkpoint.SETTLED}
        ways.add(tuple(session.ending.ended for session in sessions if session.ending))
    assert ways == {(EndingKind.FINISHED,), (EndingKind.LOST, EndingKind.FINISHED)}


def gives_up(world: World) -> None:
    """A task that fails for good and leaves something behind."""
    world.workspace.edit("mine.txt", "a person's")
    world.add("Hopeless")
    world.executor.otherwise = says(
        "<task-failed>TASK</task-failed>", does=lambda: world.workspace.edit("half.txt")
    )


def test_wherever_a_run_dies_failed_work_is_set_aside_once(tmp_path: Path) -> None:
    for world in deaths(tmp_path, gives_up):
        assert world.run().outcome is RunOutcome.COMPLETE_WITH_FAILURES
        assert world.workspace.files == {"mine.txt": "a person's"}
        (kept,) = world.workspace.saved.values()
        assert kept["half.txt"] == "x"
        assert not world.store.sessions.unfinished_in(world.workspace.path)


def test_a_dead_run_is_over_and_what_it_left_running_is_ended(world: World) -> None:
    """Also one that held no claim: it died while the gates ran for the baseline."""
    world.gates = (Gate(name="test", command="make test"),)

    crash_point = CrashPoint()

    def kills(command: Command, listener: OutputListener) -> ProcessExit:
        crash_point.dead = True
        raise Died

    world.executor.gates["make test"] = [kills, 0]
    world.add()
    with pytest.raises(Died):
        run(world.ctx(crash_point))
    world.run(world.works())
    assert world.executor.swept == ["RALPH_SESSION=agent-1"]
    assert [one.outcome for one in world.store.runs.newest()] == [
        RunOutcome.COMPLETE,
        RunOutcome.ERROR,
    ]
    assert world.store.runs.live() == []


def test_what_a_dead_session_is_taken_to_have_left_is_named(world: World) -> None:
    world.workspace.edit("mine.txt", "a person's")
    world.add()
    crash_point = CrashPoint()

    def dies() -> None:
        world.workspace.edit("half.txt")
        crash_point.dead = True
        raise Died

    world.executor.sessions = [says("", does=dies)]
    with pytest.raises(Died):
        run(world.ctx(crash_point))
    world.workspace.edit("since.txt", "nobody knows whose")
    world.run(world.works())
    (said,) = [str(one) for one in world.recorded(events.Warned) if "died and left" in str(one)]
    assert "half.txt, since.txt" in said
    assert "mine.txt" not in said


def test_a_login_is_saved_when_nobody_can_refresh_it_any_more(world: World) -> None:
    class Saving(NoHomes):
        swept: tuple[str, ...] = ()

        def remove_leftovers(self, homes: Mapping[str, AgentHome]) -> None:
            self.swept = tuple(world.executor.swept)

    world.homes = saving = Saving()
    world.add()
    crash_point = CrashPoint()

    def dies() -> None:
        crash_point.dead = True
        raise Died

    world.executor.sessions = [says("", does=dies)]
    with pytest.raises(Died):
        run(world.ctx(crash_point))
    world.run(world.works())
    assert saving.swept == ("RALPH_SESSION=agent-1",)


# What a person does while work lies in the checkout


def test_what_a_person_writes_between_runs_is_never_committed(gated: World) -> None:
    gated.executor.gates["make test"] = [0, 1, 1, 0]
    gated.limits = ONCE
    gated.add("Write it")
    gated.run(gated.works(text="bad"))
    gated.workspace.edit("mine.txt", "a person's")
    gated.run(gated.works(text="still bad"))
    ended = gated.run(gated.works(text="good"))
    assert ended.done == 1
    assert gated.workspace.head == {"work.txt": "good"}
    assert gated.workspace.files == {"work.txt": "good", "mine.txt": "a person's"}


def test_what_a_person_writes_between_runs_outlives_the_failure_of_a_task(world: World) -> None:
    task = world.add(max_retries=0)
    world.limits = ONCE
    world.run(says("hm", does=lambda: world.workspace.edit("half.txt")))
    world.workspace.edit("mine.txt", "a person's")
    world.run(says("<task-failed>TASK</task-failed>"))
    assert world.task(task).status is TaskStatus.FAILED
    assert world.workspace.files == {"mine.txt": "a person's"}


def test_a_persons_commit_between_runs_outlives_the_failure_of_a_task(world: World) -> None:
    world.add(max_retries=0)
    world.limits = ONCE
    world.run(says("hm", does=lambda: world.workspace.edit("half.txt")))
    world.workspace.edit("fix.txt", "a person's")
    world.workspace.commit_files("A fix", ["fix.txt"])
    world.run(says("<task-failed>TASK</task-failed>"))
    assert world.workspace.commits == ["c0", "A fix"]
    assert world.workspace.files == {"fix.txt": "a person's"}


def test_a_session_is_judged_although_a_person_has_committed_meanwhile(gated: World) -> None:
    gated.add("Write it")
    postpone(gated, gated.works())
    gated.workspace.edit("fix.txt", "a person's")
    gated.workspace.commit_files("A fix", ["fix.txt"])
    assert gated.run().outcome is RunOutcome.COMPLETE
    assert gated.workspace.commits == ["c0", "A fix", "Write it"]
    assert gated.workspace.head == {"fix.txt": "a person's", "work.txt": "x"}


def test_a_persons_commit_is_no_work_of_a_session(world: World) -> None:
    def lazy(world: World) -> None:
        world.limits = ONCE
        world.add(max_retries=0)
        world.executor.otherwise = says(CLAIM)

    for dead in deaths(world.runs_dir, lazy):
        if [session.checkpoint for session in dead.store.sessions.select()] != [Checkpoint.ENDED]:
            continue
        dead.workspace.edit("fix.txt", "a person's")
        dead.workspace.commit_files("A fix", ["fix.txt"])
        assert dead.run().outcome is RunOutcome.COMPLETE_WITH_FAILURES
        return
    pytest.fail("no session was left to judge")


def test_work_that_was_committed_before_the_crash_is_not_done_again(world: World) -> None:
    """Whatever a person makes of the files afterwards."""
    for dead in deaths(world.runs_dir, accepts):
        if len(dead.workspace.commits) == 1 or not dead.store.claims.has_open(AllTasks()):
            continue
        dead.workspace.edit("work.txt", "a person's")
        assert dead.run().outcome is RunOutcome.COMPLETE
        assert dead.workspace.commits == ["c0", "Write it"]
        assert dead.workspace.files["work.txt"] == "a person's"
        assert len(dead.store.sessions.select()) == 1
        return
    pytest.fail("it never died between commit and settlement")


def test_a_session_whose_work_a_person_threw_away_is_repeated(gated: World) -> None:
    gated.add("Write it")
    postpone(gated, gated.works())
    gated.workspace.throw_away("work.txt")
    assert gated.run(gated.works(text="again")).outcome is RunOutcome.COMPLETE
    assert gated.workspace.head == {"work.txt": "again"}


def test_a_session_whose_work_was_set_aside_is_repeated(gated: World) -> None:
    task = gated.add("Write it")
    postpone(gated, gated.works())
    gated.store.tasks.apply(task, [Blocked("not now")])
    assert gated.run().outcome is RunOutcome.BLOCKED
    assert gated.workspace.files == {}
    gated.store.tasks.apply(task, [Unblocked()])
    gated.run(gated.works(text="again"))
    assert gated.workspace.head == {"work.txt": "again"}


def test_a_session_of_a_task_that_was_reset_is_repeated(gated: World) -> None:
    task = gated.add("Write it")
    postpone(gated, gated.works())
    gated.store.tasks.reset(task)
    gated.run(gated.works(text="again"))
    assert gated.workspace.head == {"work.txt": "again"}


def test_work_that_lies_elsewhere_is_not_compared_with_this_checkout(world: World) -> None:
    task = world.add("Write it")
    world.limits = ONCE
    world.run(says("hm", does=lambda: world.workspace.edit("half.txt")))
    first, world.workspace = world.workspace, FakeWorkspace()
    world.workspace.path = "/elsewhere"
    world.workspace.edit("other.txt", "a person's")
    world.run(world.works())
    assert world.workspace.head == {"work.txt": "x"}
    assert world.task(task).status is TaskStatus.DONE
    world.workspace = first
    world.add("Next")
    world.run(world.works())
    assert world.workspace.head == {"work.txt": "x"}


# What a run must not do


def test_the_end_of_another_run_is_not_shown_as_ours(world: World) -> None:
    world.add()

    def other() -> None:
        theirs = events.RunEnded(run_id=RunId("other"), outcome=RunOutcome.COMPLETE, exit_code=0)
        world.store.events.record(theirs, RunId("other"))

    ended = world.run(says(CLAIM, does=lambda: (other(), world.workspace.edit("work.txt"))))
    assert world.recorded(events.RunEnded) == [ended]


def test_a_run_with_a_target_does_not_go_on_with_another_task(world: World) -> None:
    left = world.add("left over")
    asked = world.add("asked for")
    world.limits = ONCE
    world.run(says("hm", does=lambda: world.workspace.edit("half.txt")))
    world.target = Subtree(asked)
    world.run(world.works())
    assert world.task(asked).status is TaskStatus.DONE
    assert (world.task(left).status, world.task(left).attempt) == (TaskStatus.PENDING, 1)
    assert world.workspace.head == {"work.txt": "x"}
    assert world.workspace.saved == {f"refs/ralph/{left}/1": {"half.txt": "x"}}


def test_a_paid_session_is_judged_whatever_the_target(gated: World) -> None:
    left = gated.add("left over")
    asked = gated.add("asked for")
    postpone(gated, gated.works("left.txt"))
    gated.target = Subtree(asked)
    gated.run(gated.works())
    assert gated.task(left).status is TaskStatus.DONE
    assert gated.workspace.head == {"left.txt": "x", "work.txt": "x"}


def test_a_task_below_the_target_goes_on(world: World) -> None:
    top = world.add("top")
    below = world.add("below", parent_id=top)
    world.target = Subtree(top)
    world.limits = ONCE
    world.run(says("hm", does=lambda: world.workspace.edit("half.txt")))
    world.run(world.works())
    assert world.task(below).status is TaskStatus.DONE
    assert world.workspace.head == {"half.txt": "x", "work.txt": "x"}


def test_a_skip_while_the_gates_run_ends_the_matter(gated: World) -> None:
    first = gated.add("skip me")
    gated.add("other", priority=1)

    def skips(command: Command, listener: OutputListener) -> ProcessExit:
        gated.store.messages.send_control(RunId("run-1"), ControlWord.SKIP, first)
        return exits(0)(command, listener)

    gated.executor.gates["make test"] = [0, skips, 0]
    ended = gated.run(gated.works("half.txt"), gated.works())
    assert ended.outcome is RunOutcome.BLOCKED
    assert gated.task(first).status is TaskStatus.BLOCKED
    assert len(gated.recorded(events.GateStarted)) == 3
    assert gated.workspace.head == {"work.txt": "x"}


def test_a_commit_that_is_refused_leaves_no_task_in_progress(world: World) -> None:
    class Locked(FakeWorkspace):
        def commit(
            self,
            since: Snapshot,
            upto: Snapshot,
            message: str,
            keep: frozenset[str],
            own: frozenset[str] = frozenset(),
        ) -> CommitResult:
            raise Busy("another git command is at work")

    world.workspace = Locked()
    task = world.add("Write it")
    with pytest.raises(Busy, match="another git command is at work"):
        world.run(world.works())
    assert world.task(task).status is TaskStatus.PENDING
    files, world.workspace = world.workspace, FakeWorkspace()
    vars(world.workspace).update(vars(files))
    assert world.run().outcome is RunOutcome.COMPLETE
    assert world.workspace.head == {"work.txt": "x"}
    assert len(world.store.sessions.select()) == 1


def test_a_person_who_commits_at_the_same_moment_ends_no_run(world: World) -> None:
    class Overtaken(FakeWorkspace):
        left = 2

        def commit(
            self,
            since: Snapshot,
            upto: Snapshot,
            message: str,
            keep: frozenset[str],
            own: frozenset[str] = frozenset(),
        ) -> CommitResult:
            self.left -= 1
            if self.left >= 0:
                raise BranchMoved("refs/heads/main was moved by another process")
            return super().commit(since, upto, message, keep, own)

    world.workspace = Overtaken()
    first, second = world.add("first"), world.add("second")
    assert world.run(world.works("a"), world.works("b")).outcome is RunOutcome.COMPLETE
    assert [world.task(task).retry_count for task in (first, second)] == [0, 0]
    assert world.workspace.head == {"a": "x", "b": "x"}
    assert len(world.store.sessions.select()) == 2


def test_an_agent_that_blocks_its_own_task_for_ever_is_stopped(world: World) -> None:
    world.add()

    def plays(command: Command, listener: OutputListener) -> ProcessExit:
        world.store.tasks.add(TaskDraft(title="one more"))
        world.store.tasks.apply(TaskId(command.env["RALPH_TASK_ID"]), [Blocked("cannot")])
        world.clock.advance(1.0)
        return ProcessExit(code=-15, stop=listener.tick())

    world.executor.otherwise = plays
    assert world.run().outcome is RunOutcome.PAUSED


def test_work_of_a_session_that_has_split_its_task_up_is_kept(world: World) -> None:
    top = world.add("top")

    def split() -> None:
        world.workspace.edit("ground.txt")
        world.store.tasks.add(TaskDraft(title="part", parent_id=top))

    assert world.run(says(CLAIM, does=split), world.works()).outcome is RunOutcome.COMPLETE
    assert world.workspace.commits == ["c0", "top", "part"]
    assert world.workspace.head == {"ground.txt": "x", "work.txt": "x"}


def test_a_run_that_cannot_keep_a_reserve_ends_like_any_other(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise CannotWrite("no space left")

    monkeypatch.setattr(world.store.db, "keep_reserve", refuse)
    world.add()
    with pytest.raises(CannotWrite):
        world.run()
    assert [one.outcome for one in world.store.runs.newest()] == [RunOutcome.ERROR]
