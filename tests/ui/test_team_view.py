"""What screens show where several workers build one branch."""

import io
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from event_lists import RUN, START, FrozenClock, Teller, a_board, show, the_start

from ralph.core import agent_events as agent
from ralph.core import events
from ralph.core.agent_events import AgentEvent
from ralph.core.ids import SessionId, TaskId, WorkerId
from ralph.core.run import RunOutcome
from ralph.core.task import TaskStatus
from ralph.ui.closing_summary import closing_summary
from ralph.ui.live_frame import live_frame
from ralph.ui.plain_screen import PlainScreen, SilentScreen
from ralph.ui.run_view import RunView
from ralph.ui.screens import AttachedScreen
from ralph.ui.session_stream import MOST_BYTES, FileTail, SessionTails, decode_events
from ralph.ui.team_view import TaskStage
from ralph.ui.terminal import Size

ALPHA, BETA, GAMMA = TaskId("t-00000a"), TaskId("t-00000b"), TaskId("t-00000c")
ANN, BOB = WorkerId("w-1"), WorkerId("w-2")


def joins(teller: Teller, worker: WorkerId, slot: str) -> None:
    teller.event(events.WorkerJoined(run_id=RUN, worker=worker, slot=slot))


def claims(teller: Teller, task: TaskId, title: str, worker: WorkerId, **fields: object) -> None:
    teller.moved(
        events.TaskClaimed, task, title, TaskStatus.IN_PROGRESS, worker=worker, after=1.0, **fields
    )


def two_at_work(teller: Teller) -> None:
    joins(teller, ANN, "teammate-1")
    joins(teller, BOB, "teammate-2")
    claims(teller, ALPHA, "Read the index", ANN)
    teller.session(ALPHA, "Read the index")
    claims(teller, BETA, "Rank the results", BOB)
    teller.session(BETA, "Rank the results")
    teller.says(ALPHA, agent.ToolUse(name="Read", summary="src/index.py", call="1"))
    teller.says(BETA, agent.Text(text="I sort by date."))


def one_merges_and_one_waits(teller: Teller) -> None:
    for task in (ALPHA, BETA):
        teller.ends(task, cost_usd=0.2)
        teller.gates(task)
    teller.event(events.MergeBegun(task_id=ALPHA))
    teller.event(events.MergeQueued(task_id=BETA))
    teller.event(events.GateStarted(task_id=ALPHA, name="test"))


def all_comes_together(teller: Teller) -> None:
    teller.event(events.WorkMerged(task_id=ALPHA, branch="main", commit="a1b2c3d4e5f6"))
    teller.moved(events.TaskDone, ALPHA, "Read the index", TaskStatus.DONE)
    teller.event(events.MergeBegun(task_id=BETA))
    reason = "it does not fit src/index.py"
    teller.moved(events.TaskConflicted, BETA, "Rank the results", TaskStatus.PENDING, reason=reason)
    dies = events.WorkerLeft(
        run_id=RUN, worker=BOB, slot="teammate-2", outcome=None, reason="killed by SIGKILL"
    )
    teller.event(dies)
    joins(teller, WorkerId("w-3"), "teammate-2")
    claims(teller, BETA, "Rank the results", WorkerId("w-3"), attempt=2)


def a_team(*parts: object) -> RunView:
    teller, run_view = Teller(), a_board()
    for part in (the_start, *parts):
        part(teller)  # type: ignore[operator]
    for scene in teller.scenes:
        if isinstance(scene, events.RecordedEvent):
            run_view.add(scene)
        else:
            run_view.team.add_agent_event(scene.task, scene.event, scene.at)
    return run_view  # type: ignore[no-any-return]


def test_every_slot_has_its_task_and_what_its_agent_does() -> None:
    team = a_team(two_at_work).team
    rows = [(slot.name, hand and (hand.task_id, hand.stage)) for slot, hand in team.rows()]
    assert rows == [
        ("teammate-1", (ALPHA, TaskStage.WORKING)),
        ("teammate-2", (BETA, TaskStage.WORKING)),
    ]
    assert [doing.tool for doing in team.tasks[ALPHA].activity.actions] == ["Read"]
    assert [doing.text for doing in team.tasks[BETA].activity.actions] == ["I sort by date."]


def test_who_merges_and_who_waits_for_that() -> None:
    team = a_team(two_at_work, one_merges_and_one_waits).team
    assert team.merging is not None
    assert (team.merging.task_id, team.merging.doing) == (ALPHA, "merges, gate test")
    assert [hand.task_id for hand in team.queue] == [BETA]


def test_what_a_team_came_to() -> None:
    run_view = a_team(two_at_work, one_merges_and_one_waits, all_comes_together)
    team = run_view.team
    assert (team.merges, team.conflicts, team.deaths) == (1, 1, 1)
    assert [slot.done for slot, _ in team.rows()] == [1, 0]
    assert team.tasks[BETA].attempt == 2
    assert team.worker_of(ALPHA) == "teammate-1"
    assert run_view.finished[-1].duration_s is not None
    assert run_view.current is None
    ended = events.RunEnded(run_id=RUN, outcome=RunOutcome.COMPLETE, exit_code=0, done=1)
    text = "\n".join(line.text for line in closing_summary(ended, run_view))
    assert "1 merge · 1 conflict · 1 worker died" in text
    assert "teammate-1  1 done · 0 not accepted" in text


def test_an_open_breaker_is_the_slots_own() -> None:
    def opens(teller: Teller) -> None:
        opened = events.BreakerOpened(
            run_id=RUN, slot="teammate-2", reason="3 failures in a row", recovery="person"
        )
        teller.event(opened)

    run_view = a_team(two_at_work, opens)
    assert run_view.wait is None
    assert run_view.team.workers["teammate-2"].breaker == "3 failures in a row"


def test_a_team_of_which_all_cool_down_waits_in_sight(utc: None) -> None:
    stream, clock, run_view = io.StringIO(), FrozenClock(), a_board()
    plain, teller, seen = PlainScreen(stream, clock, run_view), Teller(), []
    until = datetime.fromtimestamp(START + 300, UTC).isoformat()
    joins(teller, ANN, "teammate-1")
    joins(teller, BOB, "teammate-2")
    for slot in ("teammate-1", "teammate-2"):
        opened = events.BreakerOpened(
            run_id=RUN, slot=slot, reason="3 failures", recovery="back_off", until=until
        )
        teller.event(opened)
    for scene in teller.scenes:
        show(scene, plain, clock)
        seen.append(run_view.wait is not None)
    text = stream.getvalue()
    assert "teammate-1 breaker open (one session is tried after a while, goes on at 12:05" in text
    assert seen == [False, False, False, True]


def test_a_task_of_another_run_is_nobodys() -> None:
    def elsewhere(teller: Teller) -> None:
        claims(teller, GAMMA, "elsewhere", WorkerId("w-9"))
        teller.session(GAMMA, "elsewhere")

    team = a_team(two_at_work, elsewhere).team
    assert GAMMA not in team.tasks
    assert team.worker_of(GAMMA) == ""


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (120, 40), (200, 50), (40, 10), (30, 6)])
@pytest.mark.parametrize("workers", [1, 2, 4, 8, 30])
def test_a_team_fits_every_window(columns: int, lines: int, workers: int) -> None:
    def many_at_work(teller: Teller) -> None:
        for number in range(1, workers + 1):
            worker, task = WorkerId(f"w-{number}"), TaskId(f"t-{number:06x}")
            joins(teller, worker, f"teammate-{number}")
            claims(teller, task, f"Part {number}", worker)
            teller.session(task, f"Part {number}")
            teller.says(task, agent.Text(text="word " * 200))

    rows = live_frame(a_team(many_at_work), START + 100, Size(columns, lines), 1)
    assert len(rows) < lines
    assert all(row.cell_len < columns for row in rows)
    shown = "\n".join(row.plain for row in rows)
    assert "Ralph" in shown
    assert "teammate-1 " in shown or lines < 10
    if lines >= 24:
        seen = sum(f"teammate-{number} " in shown for number in range(1, workers + 1))
        assert seen == workers or f"and {workers - seen} more workers" in shown
        assert "Part 1" in shown


def test_plain_lines_name_who_speaks(utc: None) -> None:
    stream, clock = io.StringIO(), FrozenClock()
    plain = PlainScreen(stream, clock, a_board())
    teller = Teller()
    for part in (the_start, two_at_work, one_merges_and_one_waits, all_comes_together):
        part(teller)
    for scene in teller.scenes:
        show(scene, plain, clock)
    text = stream.getvalue()
    assert "teammate-1 t-00000a   Read: src/index.py" in text
    assert "teammate-2 t-00000b   says: I sort by date." in text
    assert "teammate-2 t-00000b waits to merge" in text
    assert "teammate-1 t-00000a done: Read the index" in text


def test_what_holds_up_the_whole_team_is_told_once(utc: None) -> None:
    def all_pause(teller: Teller) -> None:
        for _ in range(3):
            teller.event(events.RunPaused(run_id=RUN, reason="paused by a person"))
        for _ in range(3):
            teller.event(events.RunResumed(run_id=RUN))
        for second in range(3):
            until = datetime.fromtimestamp(START + 7200 + second, UTC).isoformat()
            teller.event(events.RunWaiting(run_id=RUN, reason="out of quota", until=until))

    stream, clock = io.StringIO(), FrozenClock()
    plain = PlainScreen(stream, clock, a_board())
    teller = Teller()
    for part in (the_start, two_at_work, all_pause):
        part(teller)
    for scene in teller.scenes:
        show(scene, plain, clock)
    text = stream.getvalue()
    assert [text.count(word) for word in (" paused: ", " resumed\n", " waiting (")] == [1, 1, 1]


class RecordingScreen(SilentScreen):
    """Remembers who said what."""

    def __init__(self) -> None:
        self.words: list[tuple[TaskId, AgentEvent]] = []

    def agent_event(self, task: TaskId, event: AgentEvent) -> None:
        self.words.append((task, event))


def test_what_other_processes_write_is_read_along(tmp_path: Path) -> None:
    heard, clock = RecordingScreen(), FrozenClock()
    screen = AttachedScreen(heard, SessionTails(str(tmp_path)), clock)
    started = events.SessionStarted(
        session_id=SessionId("s"), task_id=ALPHA, title="a", attempt=1, agent="x", log="a.log"
    )
    screen.event(events.RecordedEvent(seq=1, time="", run_id=RUN, event=started))
    screen.tick()
    words = [agent.Text(text="one"), agent.Text(text="two"), agent.Text(text="three")]
    lines = [msgspec.json.encode(word) + b"\n" for word in words]
    stream = tmp_path / "a.jsonl"
    stream.write_bytes(lines[0] + lines[1][:5])
    clock.at += 1
    screen.tick()
    stream.write_bytes(b"".join(lines[:2]) + b"no json\n")
    clock.at += 1
    screen.tick()
    assert heard.words == [(ALPHA, words[0]), (ALPHA, words[1])]
    stream.write_bytes(b"".join(lines[:2]) + b"no json\n" + lines[2])
    ended = events.SessionEnded(session_id=SessionId("s"), task_id=ALPHA, ended="finished")
    screen.event(events.RecordedEvent(seq=2, time="", run_id=RUN, event=ended))
    assert heard.words[-1] == (ALPHA, words[2])


def test_of_a_flood_the_newest_is_read(tmp_path: Path) -> None:
    stream = tmp_path / "a.jsonl"
    line = msgspec.json.encode(agent.Text(text="x" * 1000)) + b"\n"
    last = agent.Text(text="last")
    stream.write_bytes(line * 1000 + msgspec.json.encode(last) + b"\n")
    found = [*decode_events(FileTail(str(stream), newest=MOST_BYTES).lines() or b"")]
    assert found[-1] == last
    assert len(found) <= MOST_BYTES // 1000 + 1
