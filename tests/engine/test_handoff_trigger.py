"""A session that runs out of context hands its task to a fresh one, within the same attempt."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from ralph.adapters.agents.command_agent import CommandAgent
from ralph.core import events, session_events
from ralph.core.agent_events import AgentEvent, ModelRequest, Text, ToolResult, ToolUse
from ralph.core.ids import TaskId, session_id
from ralph.core.process_exit import ProcessExit
from ralph.core.run import RunOutcome
from ralph.core.session_ending import EndingKind
from ralph.core.session_output import MOST
from ralph.core.settings import ContextSection
from ralph.core.task import TaskStatus
from ralph.engine.loop import run
from ralph.ports.agent import AgentSetup
from ralph.ports.executor import Command, OutputListener
from ralph.store.costs import CostFilter
from ralph.store.messages import ControlWord
from tests.doubles import Play
from tests.engine.world import CrashPoint, Died, World

CLAIM = "<task-done>TASK</task-done>"
NOTES = "# Notes\n\n## Session summary\n\nHalf of it works.\n\n## Current task state\n\nThe rest.\n"


class Reporting(CommandAgent):
    """Says how full its context is: `=120000`. What begins with a + is a tool that it uses."""

    def __init__(self, *, hears: bool = True) -> None:
        super().__init__(AgentSetup(command="agent"))
        program = "agent" if hears else ""
        self.traits = replace(CommandAgent.traits, has_hooks=hears, program=program)

    def read(self, block: bytes) -> Iterator[AgentEvent]:
        for line in block.decode().splitlines():
            if line.startswith("="):
                yield ModelRequest(input_tokens=int(line[1:]))
            elif line.startswith("+"):
                yield ToolUse(name="Bash", summary=line[1:], call="1")
                yield ToolResult(call="1", text="x" * 4000)
            else:
                yield Text(text=line)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return handing_over(tmp_path)


def handing_over(runs_dir: Path) -> World:
    world = World(runs_dir)
    world.agents = (Reporting(),)
    world.hooks = ("ralph", "hook")
    world.room = ContextSection(capacity_tokens=100_000, wrap_up="2m")
    return world


def session(world: World, *lines: str | Callable[[], object], ends: int = 0) -> Play:
    """Says line after line, half a minute apart, unless it is stopped."""

    def play(command: Command, listener: OutputListener) -> ProcessExit:
        for line in lines:
            if callable(line):
                line()
                continue
            listener.output(line.replace("TASK", command.env["RALPH_TASK_ID"]).encode())
            world.clock.advance(30.0)
            if stop := listener.tick():
                return ProcessExit(code=-15, stop=stop, duration_s=10.0)
        return ProcessExit(code=ends, duration_s=10.0)

    return play


def edits(world: World, name: str = "work.txt") -> Callable[[], None]:
    return lambda: world.workspace.edit(name)


def briefs(world: World) -> list[str]:
    """In the order in which they were written."""
    found = world.runs_dir.glob("*.prompt.md")
    return [path.read_text() for path in sorted(found, key=lambda path: path.stat().st_mtime_ns)]


def writes(world: World, text: str = NOTES) -> Callable[[], None]:
    return lambda: world.project_files.write("MEMORY.md", text.encode())


def test_a_session_is_asked_in_time_and_a_fresh_one_goes_on(world: World) -> None:
    task = world.add("big one")
    ended = world.run(
        session(world, "=10000", edits(world), "=61000", writes(world), "that is where I am"),
        session(world, "=12000", edits(world, "more.txt"), CLAIM),
    )
    assert ended.outcome is RunOutcome.COMPLETE
    found = world.task(task)
    assert (found.status, found.attempt, found.retry_count, found.strikes) == (
        TaskStatus.DONE,
        1,
        0,
        0,
    )
    (text,) = world.control_socket.sent
    assert "MEMORY.md" in text
    assert "61% full" in text
    assert len(world.recorded(session_events.WrapUpAsked)) == 1
    (handed,) = world.recorded(session_events.SessionHandedOver)
    assert isinstance(handed, session_events.SessionHandedOver)
    assert (handed.number, handed.used, handed.capacity) == (1, 61000, 100_000)
    assert handed.ended == EndingKind.FINISHED
    assert len(world.recorded(events.SessionStarted)) == 2
    assert len(world.recorded(events.SessionEnded)) == 1
    first, second = briefs(world)
    assert "has left this" not in first
    assert "Half of it works." in second
    assert "`work.txt`" in second, "which files were changed is a fact, not a memory"
    assert "MEMORY.md" not in world.project_files.pages, "gone, since the task is done"
    assert world.workspace.head.keys() == {"work.txt", "more.txt"}


def test_both_sessions_are_paid_for_and_on_record(world: World) -> None:
    task = world.add()
    world.run(
        session(world, "=10000", "=61000", "wrapping up"),
        session(world, "=1000", edits(world), CLAIM),
    )
    assert world.store.costs.total(CostFilter(task=task)).sessions == 2
    (segment,) = world.store.sessions.segments(session_id(task, 1))
    assert segment.memory.startswith(f"# Memory of {task}, attempt 1, session 1\n")
    assert segment.log.endswith("-iter-1.log")
    last = world.store.sessions.get(task, 1)
    assert last is not None
    assert last.log.endswith("-iter-1.2.log")
    assert last.duration_s == 20.0, "of the attempt"
    (recorded,) = world.recorded(events.SessionEnded)
    assert isinstance(recorded, events.SessionEnded)
    assert recorded.duration_s == 10.0, "its own: the archive has a line for each"
    assert last.ending is not None
    assert last.ending.context_tokens == 1000


def test_who_does_not_wrap_up_is_ended_and_remembered_by_what_was_seen(world: World) -> None:
    world.add()
    deaf = ("=10000", "=61000", *["+ls", "I am looking for it"] * 4, "never said")
    world.run(session(world, edits(world), *deaf), session(world, CLAIM))
    (handed,) = world.recorded(session_events.SessionHandedOver)
    assert isinstance(handed, session_events.SessionHandedOver)
    assert handed.ended == EndingKind.HANDED_OVER
    second = briefs(world)[1]
    assert "> > I am looking for it" in second
    assert "- Bash: ls" in second
    assert "`work.txt`" in second
    assert "never said" not in second


def test_who_cannot_hear_is_ended_between_two_tools(world: World) -> None:
    world.agents = (Reporting(hears=False),)
    task = world.add()
    world.run(session(world, edits(world), "=10000", "=61000", "never said"), session(world, CLAIM))
    assert world.control_socket.sent == []
    assert world.task(task).status is TaskStatus.DONE


def test_without_reports_the_context_is_estimated(world: World) -> None:
    world.room = ContextSection(capacity_tokens=10_000)
    world.add()
    world.run(
        session(world, edits(world), "+a", "+b", "+c", "+d", "never said"), session(world, CLAIM)
    )
    (handed,) = world.recorded(session_events.SessionHandedOver)
    assert isinstance(handed, session_events.SessionHandedOver)
    assert handed.used > 6000


def test_who_is_finished_after_all_hands_nothing_over(world: World) -> None:
    task = world.add()
    world.run(session(world, edits(world), "=10000", "=61000", CLAIM))
    assert world.task(task).status is TaskStatus.DONE
    assert world.recorded(session_events.SessionHandedOver) == []


def test_a_model_may_have_a_window_of_its_own(world: World) -> None:
    world.room = ContextSection(capacity_tokens=100_000, windows={"": 1_000_000})
    world.add()
    world.run(session(world, edits(world), "=90000", CLAIM))
    assert world.recorded(session_events.WrapUpAsked) == []


@pytest.mark.parametrize(
    "room", [ContextSection(handoff_at=0.0), ContextSection(capacity_tokens=0)]
)
def test_it_can_be_switched_off(world: World, room: ContextSection) -> None:
    world.room = room
    world.add()
    world.run(session(world, edits(world), "=900000", CLAIM))
    assert world.recorded(session_events.WrapUpAsked) == []


def test_a_brief_that_fills_the_context_is_no_reason(world: World) -> None:
    world.add()
    world.run(session(world, edits(world), "=70000", "=78000", CLAIM))
    assert world.recorded(session_events.WrapUpAsked) == []


def test_hand_offs_have_an_end(world: World) -> None:
    task = world.add()
    again = [session(world, "=10000", "=61000", "not yet") for _ in range(MOST)]
    world.run(*again, session(world, edits(world), "=10000", "=79000", CLAIM))
    assert len(world.recorded(session_events.SessionHandedOver)) == MOST
    assert (world.task(task).status, world.task(task).attempt) == (TaskStatus.DONE, 1)


def test_a_person_can_want_it(world: World) -> None:
    world.add()

    def asks() -> None:
        world.store.messages.send_control(world.store.runs.newest()[0].id, ControlWord.HAND_OFF)

    world.run(
        session(world, edits(world), "=1000", asks, "=1100", "wrapped up"), session(world, CLAIM)
    )
    (handed,) = world.recorded(session_events.SessionHandedOver)
    assert isinstance(handed, session_events.SessionHandedOver)
    assert handed.reason == "a person wants a fresh session"


def test_a_wish_about_another_task_is_not_ours(world: World) -> None:
    """In a team all workers hear it."""
    task = world.add()

    def asks() -> None:
        world.store.messages.send_control(
            world.store.runs.newest()[0].id, ControlWord.HAND_OFF, TaskId("t-another")
        )

    world.run(session(world, edits(world), asks, "=1100", CLAIM))
    assert world.task(task).status is TaskStatus.DONE
    assert world.recorded(session_events.WrapUpAsked) == []


def test_what_was_learned_before_a_hand_off_is_kept(world: World) -> None:
    task = world.add()
    lesson = "<knowledge title='x' tags='y'>The port is 8080.</knowledge>"
    world.run(
        session(world, "=10000", "=61000", lesson.replace("'", '"')),
        session(world, edits(world), CLAIM),
    )
    assert [one.text for one in world.store.memories.select(task=task)] == ["The port is 8080."]


def test_a_stop_that_comes_in_between_ends_the_attempt_at_no_cost(world: World) -> None:
    task = world.add()

    def stops() -> None:
        world.store.messages.send_control(world.store.runs.newest()[0].id, ControlWord.STOP)

    ended = world.run(
        session(world, edits(world), "=10000", "=61000", stops, writes(world), "wrapped up"),
    )
    assert ended.outcome is RunOutcome.PAUSED
    found = world.task(task)
    assert (found.status, found.retry_count, found.strikes) == (TaskStatus.PENDING, 0, 0)
    assert world.store.costs.total(CostFilter()).sessions == 1, "booked once"
    world.run(session(world, CLAIM))
    assert "Half of it works." in briefs(world)[-1]


def test_a_session_that_dies_leaves_what_was_seen_of_it(world: World) -> None:
    task = world.add()
    world.limits = replace(world.limits, iterations=1)
    world.run(session(world, edits(world), "+make", "it is the parser", ends=3))
    text = world.project_files.pages["MEMORY.md"]
    assert text.startswith(f"# Memory of {task}, attempt 1, session 1\n")
    for title in (
        "Session summary",
        "Completed tasks",
        "Current task state",
        "Learnings",
        "Files modified",
    ):
        assert f"\n## {title}\n" in text
    world.run(session(world, CLAIM))
    assert "it is the parser" in briefs(world)[-1]
    assert "MEMORY.md" not in world.project_files.pages


def test_one_whose_tools_nobody_sees_is_remembered_by_what_it_has_changed(world: World) -> None:
    world.agents = (CommandAgent(AgentSetup(command="agent")),)
    world.add()
    world.limits = replace(world.limits, iterations=1)
    world.run(session(world, "nothing works", ends=3))
    assert "MEMORY.md" not in world.project_files.pages, "there is nothing to go on with"
    world.run(session(world, edits(world), "it is the parser", ends=3))
    text = world.project_files.pages["MEMORY.md"]
    assert "> it is the parser" in text
    assert "- `work.txt`" in text


def test_a_wish_while_the_work_is_checked_is_answered(world: World) -> None:
    world.verify = True
    world.add()

    def asks() -> None:
        world.store.messages.send_control(world.store.runs.newest()[0].id, ControlWord.HAND_OFF)

    world.run(session(world, edits(world), CLAIM), session(world, asks, "hm", "<verify-pass/>"))
    assert world.recorded(session_events.WrapUpAsked) == []
    lines = [one.message for one in world.recorded(events.Warned) if isinstance(one, events.Warned)]
    assert "no session is at work that could hand over" in lines


def test_a_kill_in_the_second_session_loses_neither_session(world: World) -> None:
    task = world.add()

    crash_point = CrashPoint()

    def dies() -> None:
        crash_point.dead = True
        raise Died

    world.executor.sessions = [
        session(world, edits(world), "=10000", "=61000", writes(world), "wrapped up"),
        session(world, edits(world, "more.txt"), "+make", "nearly there", dies),
    ]
    ctx = world.ctx(crash_point)
    with pytest.raises(Died):
        run(ctx)
    world.sink.events.clear()
    world.run(session(world, CLAIM))
    found = world.task(task)
    assert (found.status, found.attempt, found.retry_count, found.strikes) == (
        TaskStatus.DONE,
        2,
        0,
        0,
    )
    text = briefs(world)[-1]
    assert "nearly there" in text, "what was seen of the second"
    assert "Half of it works." in text, "and what the first had written"
    assert world.workspace.head.keys() == {"work.txt", "more.txt"}
    assert world.store.costs.total(CostFilter(task=task)).sessions == 3


def test_a_persons_own_file_is_left_alone(world: World) -> None:
    world.project_files.write("MEMORY.md", b"# What I remember\n")
    task = world.add()
    world.run(
        session(world, edits(world), "=10000", "=61000", "## Session summary\n\nHalf of it."),
        session(world, CLAIM),
    )
    assert "MEMORY.md" not in world.control_socket.sent[0]
    assert world.project_files.pages == {"MEMORY.md": "# What I remember\n"}
    assert "Half of it." in briefs(world)[1]
    assert world.task(task).status is TaskStatus.DONE


def test_what_a_plain_command_prints_is_no_context(world: World) -> None:
    world.agents = (CommandAgent(AgentSetup(command="agent")),)
    world.room = ContextSection(capacity_tokens=10_000)
    task = world.add()
    world.run(session(world, edits(world), "x" * 1_000_000, "\n" + CLAIM))
    assert world.task(task).status is TaskStatus.DONE
    assert world.recorded(session_events.WrapUpAsked) == []


@pytest.mark.parametrize("late", [False, True])
def test_a_death_at_any_moment_of_a_hand_off_loses_nothing(tmp_path: Path, *, late: bool) -> None:
    for calls in range(1000):
        world = handing_over(tmp_path / str(calls))
        task = world.add()
        crash_point = CrashPoint(calls, late=late)

        def plays(command: Command, listener: OutputListener, world: World = world) -> ProcessExit:
            if "work.txt" in world.workspace.files:
                return session(world, CLAIM)(command, listener)
            world.project_files.times["MEMORY.md"] = world.clock.now()
            first = (edits(world), "=10000", "=61000", writes(world), "wrapped up")
            return session(world, *first)(command, listener)

        world.executor.sessions = [plays] * 9
        with suppress(Died):
            run(world.ctx(crash_point))
        if not crash_point.dead:
            break
        world.executor.sessions = [plays] * 9
        run(world.ctx())
        found = world.task(task)
        assert (found.status, found.retry_count, found.strikes) == (TaskStatus.DONE, 0, 0), calls
        assert "MEMORY.md" not in world.project_files.pages, calls
        assert world.workspace.head.keys() == {"work.txt"}, calls
    else:
        pytest.fail("it never ends")
