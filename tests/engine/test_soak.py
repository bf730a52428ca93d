"""Whatever agents, gates, people and power cuts do: what a run promises holds.

Hypothesis makes up the story: sessions, gates, what a person does between runs, and the call at
which a process dies. The promises are checked after every run, and once more when all has been
brought to its end.
"""

import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from ralph.core import events
from ralph.core.errors import RalphError
from ralph.core.gates import Gate
from ralph.core.ids import RunId, TaskId
from ralph.core.process_exit import ProcessExit
from ralph.core.run import RunLimits, RunOutcome
from ralph.core.session_ending import EndingKind
from ralph.core.settings import BreakerSection
from ralph.core.task import Task, TaskDraft, TaskStatus
from ralph.core.transitions import Blocked, Unblocked
from ralph.engine.loop import run
from ralph.ports.executor import Command, OutputListener
from ralph.store.messages import ControlWord
from ralph.store.sessions import Checkpoint
from ralph.store.tasks import TaskFilter
from tests.doubles import Play, exits
from tests.engine.world import CrashPoint, Died, World

GATE = "make test"
CLAIM = "<task-done>TASK</task-done>"
NO_BREAKER = BreakerSection(failures=0, stagnation=0)


def files_of(task: TaskId) -> list[str]:
    """What its sessions write."""
    return [f"{task}.c", f"{task}.h"]


class Life(World):
    """A world with a person in it, who keeps book of what must never be lost."""

    def __init__(self, runs_dir: Path) -> None:
        super().__init__(runs_dir)
        self.gates = (Gate(name="test", command=GATE),)
        self.count = 0
        self.mine: dict[str, str] = {}
        """A person's uncommitted files."""
        self.published: dict[str, str] = {}
        """A person's committed files."""
        self.wrote: dict[TaskId, str] = {}
        """What the last session of each task has written into the task's files."""
        self.by_hand: set[TaskId] = set()
        """Tasks that somebody else than the judge has settled: their files are anybody's."""
        self.thrown: set[str] = set()
        """What a person has thrown away."""
        self.meddled: set[str] = set()
        """Files of sessions that a person has changed, so that they are a person's now."""

    def fresh(self) -> str:
        """A text that was never there before."""
        self.count += 1
        return f"text {self.count}"

    def live(self, crash_point: CrashPoint) -> events.RunEnded | None:
        """One run, to its end or its death."""
        self.signal = None
        before = self.store.events.last_seq()
        try:
            run(self.ctx(crash_point))
        except Died:
            # Nothing is known any more about the work of a task that is gone.
            self.by_hand |= {task for task in self.wrote if not self.knows(task)}
            return None
        except RalphError as error:
            note(f"run {self.number} ended with {error!r}")
        recorded = [one.event for one in self.store.events.select(after=before, limit=0)]
        ends = [one for one in recorded if isinstance(one, events.RunEnded)]
        assert [one.run_id for one in ends] == [f"run-{self.number}"]
        assert recorded[-1] is ends[0], "the outcome is the last event"
        assert not self.tasks(TaskStatus.IN_PROGRESS), "nothing is stuck"
        ended = ends[0]
        note(f"run {self.number}: {ended.outcome}, {ended.reason}")
        return ended

    def knows(self, task: TaskId) -> bool:
        return any(one.id == task for one in self.tasks())

    def tasks(self, *statuses: TaskStatus) -> list[Task]:
        return self.store.tasks.select(TaskFilter(statuses=frozenset(statuses)))

    # What sessions do

    def session(self, kind: str) -> Play:
        def play(command: Command, listener: OutputListener) -> ProcessExit:
            note(f"  session of {command.env['RALPH_TASK_ID']}: {kind}")
            task = TaskId(command.env["RALPH_TASK_ID"])
            stop, code, text = self.act(kind, task)
            listener.output(text.replace("TASK", task).encode())
            self.clock.advance(1.0)
            stop = stop or listener.tick()
            return ProcessExit(code=-15 if stop else code, stop=stop, duration_s=1.0)

        return play

    def act(self, kind: str, task: TaskId) -> tuple[EndingKind | None, int, str]:  # noqa: C901 - one table
        if kind not in ("lazy", "silent"):
            self.wrote[task] = self.fresh()
            for name in files_of(task):
                self.workspace.edit(name, self.wrote[task])
        match kind:
            case "commits":
                self.workspace.commit_files("by the agent", files_of(task))
            case "fails":
                return None, 0, "<task-failed>TASK</task-failed>"
            case "chats":
                return None, 0, "I have done what I could"
            case "silent":
                return None, 0, ""
            case "breaks":
                return None, 1, "trouble"
            case "confused":
                return None, 0, "<task-done>t-ffffff</task-done>"
            case "despairs":
                return None, 0, "<promise>FAILURE</promise>"
            case "hangs":
                return EndingKind.TIMED_OUT, 0, "thinking"
            case "missing":
                return None, 127, ""
            case "is interrupted":
                self.signal = "SIGINT"
            case "is stopped":
                self.store.messages.send_control(RunId(f"run-{self.number}"), ControlWord.STOP)
            case "is stopped now":
                self.store.messages.send_control(RunId(f"run-{self.number}"), ControlWord.STOP_NOW)
            case "is skipped":
                self.store.messages.send_control(
                    RunId(f"run-{self.number}"), ControlWord.SKIP, task
                )
            case "is deleted":
                self.store.tasks.delete(task)
            case "is done by hand":
                self.store.tasks.force_done(task)
                self.by_hand.add(task)
            case "is reset":
                self.store.tasks.reset(task)
            case "blocks itself":
                self.store.tasks.apply(task, [Blocked("by the agent")])
            case "splits":
                self.store.tasks.add(TaskDraft(title="a part", parent_id=task))
            case _:
                assert kind in ("works", "lazy"), kind
        return None, 0, CLAIM

    def gate(self, kind: str | int) -> int | Play:
        if isinstance(kind, int):
            return kind

        def play(command: Command, listener: OutputListener) -> ProcessExit:
            note(f"  gate: {kind}")
            if kind == "interrupted":
                self.signal = "SIGTERM"
            else:
                for task in self.tasks(TaskStatus.IN_PROGRESS):
                    self.store.messages.send_control(
                        RunId(f"run-{self.number}"), ControlWord.SKIP, task.id
                    )
            return exits(0)(command, listener)

        return play

    # What a person does between runs

    def person(self, deed: str, which: int) -> None:
        note(f"  person: {deed} {which}")
        match deed:
            case "writes":
                name = f"mine-{which % 2}.txt"
                self.mine[name] = self.fresh()
                self.workspace.edit(name, self.mine[name])
            case "publishes" if self.mine:
                name = sorted(self.mine)[which % len(self.mine)]
                self.published[name] = self.mine.pop(name)
                self.workspace.commit_files("by a person", [name])
            case "meddles":
                dirty = [name for name in self.workspace.snapshot().dirty if name.endswith(".c")]
                for name in dirty[which % 2 :]:
                    self.meddled.add(name)
                    self.workspace.edit(name, self.fresh())
            case "throws away":
                for name in self.workspace.snapshot().dirty:
                    if name.startswith("t-"):
                        self.workspace.throw_away(name)
                        self.thrown.add(self.wrote[TaskId(name.partition(".")[0])])
            case "adds":
                self.store.tasks.add(TaskDraft(title="another", max_retries=1))
            case _:
                self.steer(deed, which)

    def steer(self, deed: str, which: int) -> None:
        tasks = self.tasks()
        if not tasks:
            return
        task = tasks[which % len(tasks)].id
        does: dict[str, Callable[[TaskId], object]] = {
            "retries": self.store.tasks.retry,
            "resets": self.store.tasks.reset,
            "deletes": self.store.tasks.delete,
            "fails": partial(self.store.tasks.force_failed, reason="a person says so"),
            "finishes": self.store.tasks.force_done,
            "blocks": lambda one: self.store.tasks.apply(one, [Blocked("not now")]),
            "unblocks": lambda one: self.store.tasks.apply(one, [Unblocked()]),
        }
        family = {one.id for one in self.store.tasks.subtree(task)}
        above = self.store.tasks.find(task)
        while above.parent_id is not None:
            above = self.store.tasks.find(above.parent_id)
            family.add(above.id)
        try:
            does.get(deed, lambda _: None)(task)  # type: ignore[no-untyped-call]
        except RalphError:
            return
        if deed in ("finishes", "deletes"):
            # With it a parent may be done. What their sessions have left is a person's now.
            self.by_hand |= family

    # What must hold

    def check_promises(self) -> None:
        space = self.workspace
        assert self.store.check() == []
        for name, text in self.mine.items():
            assert space.files.get(name) == text, f"{name} is a person's, and lost"
            assert space.head.get(name) != text, f"{name} is a person's, and committed"
        for name, text in self.published.items():
            assert space.head.get(name) == text, f"a person's commit of {name} is gone"
        kept = [space.head, space.files, *space.saved.values()]
        for task, text in self.wrote.items():
            if task not in self.by_hand and text not in self.thrown:
                assert any(text in one.values() for one in kept), f"the work of {task} is lost"
        for one in self.tasks():
            assert one.retry_count <= one.max_retries
            if one.status is TaskStatus.DONE and one.id not in self.by_hand and self.is_leaf(one):
                done = {space.head.get(name) for name in set(files_of(one.id)) - self.meddled}
                assert done == {self.wrote[one.id]}, f"the work of {one.id} is not committed"

    def is_leaf(self, task: Task) -> bool:
        return not self.store.tasks.children(task.id)

    def check_rest(self) -> None:
        """After a run in which nothing went wrong any more."""
        for session in self.store.sessions.select():
            assert session.checkpoint is Checkpoint.SETTLED or session.task_id in self.by_hand
        ours = {name for task in self.by_hand for name in files_of(task)} | self.meddled
        left = set(self.workspace.snapshot().dirty) - self.mine.keys() - ours
        assert not left, "the checkout is clean but for a person's files"


SESSIONS = st.sampled_from(
    [
        "works",
        "commits",
        "lazy",
        "fails",
        "chats",
        "silent",
        "breaks",
        "confused",
        "despairs",
        "hangs",
        "missing",
        "is interrupted",
        "is stopped",
        "is stopped now",
        "is skipped",
        "is deleted",
        "is done by hand",
        "is reset",
        "blocks itself",
        "splits",
    ]
)
GATES = st.sampled_from([0, 0, 0, 1, 1, "interrupted", "skipped"])
DEEDS = st.sampled_from(
    [
        "writes",
        "publishes",
        "meddles",
        "throws away",
        "adds",
        "retries",
        "resets",
        "deletes",
        "fails",
        "finishes",
        "blocks",
        "unblocks",
    ]
)
RUNS = st.fixed_dictionaries(
    {
        "sessions": st.lists(SESSIONS, max_size=4),
        "gates": st.lists(GATES, max_size=5),
        "limit": st.integers(0, 3),
        "dies": st.one_of(st.none(), st.integers(0, 120)),
        "late": st.booleans(),
        "then": st.lists(st.tuples(DEEDS, st.integers(0, 5)), max_size=3),
    }
)


ALWAYS = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)
STORIES = given(tasks=st.integers(1, 3), story=st.lists(RUNS, min_size=1, max_size=4))


@ALWAYS
@STORIES
def test_the_promises_hold_whatever_happens(tasks: int, story: list[dict[str, Any]]) -> None:
    _live_through(tasks, story)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@settings(ALWAYS, max_examples=20_000)
@STORIES
def test_the_promises_hold_for_a_long_time(tasks: int, story: list[dict[str, Any]]) -> None:
    _live_through(tasks, story)


def _live_through(tasks: int, story: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as runs_dir:
        life = Life(Path(runs_dir))
        for number in range(tasks):
            life.store.tasks.add(TaskDraft(title=f"task {number}", max_retries=1))
        life.person("writes", 0)
        for chapter in story:
            _tell(life, chapter)
            life.check_promises()
        _bring_to_an_end(life)


def _tell(life: Life, chapter: dict[str, Any]) -> None:
    life.limits = RunLimits(iterations=chapter["limit"])
    life.executor.sessions = [life.session(kind) for kind in chapter["sessions"]]
    life.executor.otherwise = life.session("works")
    life.executor.gates[GATE] = [*map(life.gate, chapter["gates"]), 0]
    dies = chapter["dies"]
    crash_point = CrashPoint() if dies is None else CrashPoint(dies, late=chapter["late"])
    note(f"run {life.number + 1}: {chapter}")
    ended = life.live(crash_point)
    if ended is None:
        # Nothing tells a person's edits from those of a session that died at work, until the
        # next run has seen them.
        return
    for deed, which in chapter["then"]:
        life.person(deed, which)


def _bring_to_an_end(life: Life) -> None:
    """Nothing goes wrong any more: first what can run does, then what has failed gets new tries."""
    for task in life.tasks(TaskStatus.BLOCKED):
        life.store.tasks.apply(task.id, [Unblocked()])
    life.limits, life.breaker = RunLimits(), NO_BREAKER
    life.executor.sessions = []
    life.executor.gates[GATE] = [0]
    for _ in range(5):
        ended = life.live(CrashPoint())
        if ended is None or ended.outcome not in (RunOutcome.FAILURE, RunOutcome.ERROR):
            break  # those were sessions of before, judged only now
    life.check_promises()
    life.check_rest()
    for task in life.tasks(TaskStatus.FAILED):
        with suppress(RalphError):  # its parent's retry may have been its own
            life.store.tasks.retry(task.id)
    ended = life.live(CrashPoint())
    assert ended is not None
    # Only a person's files stand in the way of those that are not done by now.
    assert ended.outcome in (RunOutcome.COMPLETE, RunOutcome.NO_PLAN) or life.by_hand
    life.check_promises()
    life.check_rest()
