"""One canned run, told as the events that every screen folds; and a way to watch it by hand.

.venv/bin/python tests/ui/event_lists.py [speed]
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from ralph.core import agent_events as agent
from ralph.core import events
from ralph.core.agent_events import AgentEvent
from ralph.core.cost import CostSummary
from ralph.core.gates import GateEvidence
from ralph.core.ids import RunId, SessionId, TaskId, WorkerId
from ralph.core.run import EXIT_CODES, RunOutcome
from ralph.core.task import TaskStatus
from ralph.ports.user_interface import EventSink
from ralph.store.claims import Counts
from ralph.ui.run_view import RunView, WaitingTask

START = datetime(2026, 7, 30, 12, 0, tzinfo=UTC).timestamp()
RUN = RunId("run-7c31")
WORKER = WorkerId("agent-0badcafe")
NASTY = "Fix \x1b[31mred\x1b[0m\nand \x07bell\x9b2J \u202egnp"
GATES = ("lint", "types", "test")


class FrozenClock:
    """Stands still until it is told otherwise."""

    def __init__(self, at: float = START) -> None:
        self.at = at

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.at - START


class Said(NamedTuple):
    """What the agent says, at a moment."""

    at: float
    task: TaskId
    event: AgentEvent


Scene = events.RecordedEvent | Said


class Teller:
    """Writes a story down, second by second."""

    def __init__(self) -> None:
        self.at = START
        self.scenes: list[Scene] = []

    def event(self, event: events.Event, after: float = 1.0) -> None:
        self.at += after
        time = datetime.fromtimestamp(self.at, UTC).isoformat()
        seq = sum(isinstance(scene, events.RecordedEvent) for scene in self.scenes) + 1
        self.scenes.append(events.RecordedEvent(seq=seq, time=time, run_id=RUN, event=event))

    def says(self, task: TaskId, event: AgentEvent, after: float = 1.0) -> None:
        self.at += after
        self.scenes.append(Said(self.at, task, event))

    def moved(
        self,
        kind: type[events.TaskMoved],
        task: TaskId,
        title: str,
        status: TaskStatus,
        *,
        after: float = 0.0,
        **fields: object,
    ) -> None:
        body = {"attempt": 1, "retry_count": 0, "strikes": 0} | fields
        self.event(kind(task_id=task, title=title, status=status, **body), after)  # type: ignore

    def claims(self, task: TaskId, title: str, **fields: object) -> None:
        self.moved(
            events.TaskClaimed,
            task,
            title,
            TaskStatus.IN_PROGRESS,
            worker=WORKER,
            after=1.0,
            **fields,
        )

    def session(self, task: TaskId, title: str, attempt: int = 1) -> None:
        self.event(
            events.SessionStarted(
                session_id=SessionId(f"{task}:{attempt}"),
                task_id=task,
                title=title,
                attempt=attempt,
                agent="claude",
                log=f"/home/ann/demo/.ralph/runs/run-7c31-iter-{attempt}.log",
            ),
            after=0.0,
        )

    def ends(
        self,
        task: TaskId,
        attempt: int = 1,
        *,
        ended: str = "finished",
        detail: str = "",
        cost_usd: float | None = None,
        commits: tuple[str, ...] = (),
        denied: tuple[str, ...] = (),
    ) -> None:
        self.event(
            events.SessionEnded(
                session_id=SessionId(f"{task}:{attempt}"),
                task_id=task,
                ended=ended,
                detail=detail,
                duration_s=61.5,
                cost_usd=cost_usd,
                commits=commits,
                files=("src/a.py", "src/b.py"),
                denied=denied,
            )
        )

    def gates(self, task: TaskId | None, *, fails: str = "") -> None:
        for name in GATES:
            self.event(events.GateStarted(task_id=task, name=name))
            passed = name != fails
            self.event(
                events.GateEnded(
                    task_id=task,
                    name=name,
                    passed=passed,
                    code=0 if passed else 1,
                    duration_s=2.5,
                ),
                after=2.5,
            )


def the_start(teller: Teller) -> None:
    teller.event(
        events.RunStarted(
            run_id=RUN,
            worker=WORKER,
            target="feature search",
            agent="claude",
            checkout="/home/ann/demo",
            gates=GATES,
            sandbox="bubblewrap",
            account="a Claude subscription (max)",
        ),
        after=0.0,
    )
    teller.gates(None)
    teller.event(events.BaselineTaken(run_id=RUN, red=(), green=GATES))
    teller.event(events.Warned(message="ANTHROPIC_API_KEY is not passed to the agent"), after=0.0)


def a_good_task(teller: Teller) -> None:
    task, title = TaskId("t-4f2a01"), "Read the search index from disk"
    teller.claims(task, title)
    teller.session(task, title)
    teller.says(task, agent.AgentStarted(model="opus-5", tools=("Bash",)))
    teller.says(task, agent.Thinking(text="Where is the index kept? Probably beside the database."))
    teller.says(task, agent.ToolUse(name="Read", summary="src/index.py", call="1"))
    teller.says(task, agent.ToolResult(call="1", text="def load(): ..."))
    for piece in ("I will write ", "a reader that ", "maps the file ", "into memory."):
        teller.says(task, agent.Text(text=piece, partial=True), after=0.3)
    teller.says(
        task, agent.Text(text="I will write a reader that maps the file into memory."), after=0.1
    )
    teller.says(task, agent.ToolUse(name="Edit", summary="src/index.py: def load", call="2"))
    teller.says(task, agent.ToolUse(name="Bash", summary="pytest -q tests/index", call="3"))
    teller.says(
        task, agent.SessionResultEvent(text="The index is read.\n<task-done>…", cost_usd=0.21)
    )
    teller.ends(task, cost_usd=0.21, commits=("a1b2c3d",))
    teller.gates(task)
    teller.event(events.GatesWeighed(task_id=task, evidence=GateEvidence.GREEN), after=0.0)
    teller.event(events.WorkCommitted(task_id=task, commit="a1b2c3d4e5f6a7", files=2), after=0.0)
    teller.moved(events.TaskDone, task, title, TaskStatus.DONE)


def a_hard_task(teller: Teller) -> None:
    task, title = TaskId("t-9b1c22"), "Rank results by recency and by how often they were opened"
    teller.claims(task, title)
    teller.session(task, title)
    teller.says(task, agent.ToolUse(name="Bash", summary="pytest -q", call="1"))
    trace = "exit 1\n" + "\n".join(f"E   assert rank({n}) == {n + 1}" for n in range(9))
    teller.says(task, agent.ToolResult(call="1", text=trace, error=True))
    teller.says(task, agent.Text(text="The order of equal ranks is not stable. I sort twice."))
    teller.says(task, agent.ToolDenied(name="WebFetch", summary="https://example.com/\x1b[2J"))
    teller.ends(task, cost_usd=0.4, denied=("WebFetch", "Bash", "Bash"))
    teller.gates(task, fails="test")
    teller.event(events.GatesWeighed(task_id=task, evidence=GateEvidence.BROKEN), after=0.0)
    reason = "gate test fails (exit 1)\nE   assert rank(3) == 4"
    teller.moved(events.TaskRejected, task, title, TaskStatus.PENDING, retry_count=1, reason=reason)
    teller.event(events.GuidanceGiven(text="use a stable sort", task_id=task))
    teller.claims(task, title, attempt=2, retry_count=1)
    teller.event(events.GuidanceDelivered(task_id=task, attempt=2, count=1), after=0.0)
    teller.session(task, title, 2)
    teller.says(task, agent.Text(text="I sort by", partial=True))
    teller.says(task, agent.AgentProblem(message="API Error: 529 overloaded"))
    teller.says(task, agent.AgentRetry(message="overloaded", attempt=1, delay_s=0.5), after=0.1)
    teller.says(task, agent.AgentRetry(message="overloaded", attempt=2, delay_s=4.0))
    teller.says(task, agent.Text(text="I sort by date, then by count."))
    limit = agent.UsageLimit(
        status=agent.LimitStatus.WARNING, window="five_hour", used=0.95, resets_at=START + 7500
    )
    teller.says(task, limit)
    teller.says(task, agent.ToolUse(name="Edit", summary="src/rank.py", call="1"))
    teller.ends(task, 2, cost_usd=0.3)
    teller.gates(task, fails="test")
    teller.event(events.WorkSaved(task_id=task, ref="refs/ralph/t-9b1c22/2"), after=0.0)
    teller.moved(
        events.TaskFailed, task, title, TaskStatus.FAILED, attempt=2, retry_count=1, reason=reason
    )


def a_limit(teller: Teller) -> None:
    task, title = TaskId("t-77aa10"), NASTY
    teller.claims(task, title)
    teller.session(task, title)
    limit = agent.UsageLimit(
        status=agent.LimitStatus.REJECTED, window="five_hour", resets_at=teller.at + 120
    )
    teller.says(task, limit)
    teller.ends(task, ended="usage_limit", detail="the five-hour allowance is used up")
    teller.moved(
        events.TaskReleased, task, title, TaskStatus.PENDING, reason="the allowance is used up"
    )
    until = datetime.fromtimestamp(teller.at + 121, UTC).isoformat()
    teller.event(events.RunWaiting(run_id=RUN, reason="claude: out of quota", until=until))
    teller.at += 120
    chosen = events.AgentChosen(
        run_id=RUN, agent="codex", reason="claude is out", account="an OpenAI API key"
    )
    teller.event(chosen)
    teller.claims(task, title, attempt=2)
    teller.session(task, title, 2)
    teller.says(task, agent.Text(text="Done. \x1b[2J\x1b[H The title\twas \x07 odd."))
    teller.ends(task, 2, commits=("b2c3d4e",))
    teller.gates(task)
    teller.moved(events.TaskDone, task, title, TaskStatus.DONE, attempt=2)


def the_end(teller: Teller, outcome: RunOutcome = RunOutcome.COMPLETE_WITH_FAILURES) -> None:
    teller.event(
        events.RunEnded(
            run_id=RUN,
            outcome=outcome,
            exit_code=EXIT_CODES[outcome],
            done=2,
            failed=1,
            attempts=5,
            commits=2,
            duration_s=round(teller.at - START, 1),
            spent=CostSummary(sessions=5, reported=3, unknown=2, reported_usd=0.91),
        )
    )


def the_story() -> list[Scene]:
    """A good task, a task that fails, a title full of escapes, a wait, and an end."""
    teller = Teller()
    for part in (the_start, a_good_task, a_hard_task, a_limit, the_end):
        part(teller)
    return teller.scenes


def a_board() -> RunView:
    """A run view; the store's counts are made up from what the view has seen."""

    def counts() -> Counts:
        settled = [one.status for one in run_view.finished]
        done, failed = settled.count(TaskStatus.DONE), settled.count(TaskStatus.FAILED)
        at_work = len(run_view.team.tasks)
        return Counts(
            pending=5 - done - failed - at_work, in_progress=at_work, done=2 + done, failed=failed
        )

    run_view = RunView(
        counts=counts,
        upcoming=lambda: ["Show the hits", "Write the manual page", "Measure it"],
        waits=lambda: [WaitingTask("t-c0ffee", "Show the hits", ("t-9b1c22",))],
    )
    return run_view


def play(scenes: list[Scene], sink: EventSink, clock: FrozenClock) -> None:
    """Show a story on a screen, with the clock at each scene's moment."""
    for scene in scenes:
        show(scene, sink, clock)


def show(scene: Scene, sink: EventSink, clock: FrozenClock) -> None:
    if isinstance(scene, Said):
        clock.at = scene.at
        sink.agent_event(scene.task, scene.event)
    else:
        clock.at = datetime.fromisoformat(scene.time).timestamp()
        sink.event(scene)
    sink.tick()


def _moments(scenes: list[Scene], step: float) -> Iterator[tuple[float, Scene | None]]:
    at = START
    for scene in scenes:
        then = (
            scene.at if isinstance(scene, Said) else datetime.fromisoformat(scene.time).timestamp()
        )
        while at + step < then:
            at += step
            yield at, None
        at = then
        yield at, scene


def watch(
    speed: float, sleep: Callable[[float], None], make: Callable[[FrozenClock], EventSink]
) -> None:
    """Replay the story on a real terminal, to be looked at."""
    clock = FrozenClock()
    sink = make(clock)
    before = START
    try:
        for at, scene in _moments(the_story(), 0.5):
            sleep((at - before) / speed)
            before = clock.at = at
            if scene is None:
                sink.tick()
            else:
                show(scene, sink, clock)
    finally:
        sink.close()


if __name__ == "__main__":
    import sys
    import time

    from ralph.ui.screens import choose_screen

    watch(
        float(sys.argv[1]) if len(sys.argv) > 1 else 1.0,
        time.sleep,
        lambda clock: choose_screen(sys.stdout, clock=clock, run_view=a_board()),
    )
