"""What a team does, at a glance."""

from argparse import Namespace
from collections.abc import Callable

import pytest

from ralph.cli.log_follow import LogFollower
from ralph.cli.output import TerminalStyle
from ralph.cli.status import lines_that_fit, watch
from ralph.core.agent_events import ToolUse
from ralph.core.cost import CostSummary
from ralph.core.events import (
    MergeBegun,
    MergeQueued,
    RunPaused,
    RunResumed,
    RunWaiting,
    WorkerJoined,
    WorkMerged,
)
from ralph.core.graph import Schedule
from ralph.core.ids import RunId, WorkerId
from ralph.core.run import AllTasks, WaitKind
from ralph.core.times import to_iso
from ralph.core.transitions import Accepted
from ralph.store.claims import Claim, Counts
from ralph.store.messages import ControlWord
from ralph.store.runs import Run
from ralph.ui.project_view import Overview
from ralph.ui.session_stream import stream_of
from ralph.ui.team_overview import TeamOverview
from ralph.ui.terminal import Size
from tests.cli.conftest import Cli
from tests.cli.running import Running, a_run, as_line

LONG_AFTER = 32472144000.0
USE = ToolUse(name="Bash", summary="make test", call="1")


def test_without_a_team_there_is_none(ralph: Cli) -> None:
    assert ralph.json("status")["team"] is None
    with a_run(ralph):
        assert ralph.json("status")["team"] is None


def test_the_old_name_says_what_it_is_called_now(ralph: Cli) -> None:
    answer = ralph("team", "status")
    assert answer.out == ralph("status").out
    assert answer.err == "ralph: warning: `ralph team status` is `ralph status` now\n"


def sits(running: Running, number: int) -> WorkerId:
    worker, slot = WorkerId(f"agent-0000000{number}"), f"teammate-{number}"
    running.store.workers.join(worker, running.run, running.owner, 60.0, slot)
    running.store.events.record(
        WorkerJoined(run_id=running.run, worker=worker, slot=slot), running.run
    )
    return worker


def takes(running: Running, worker: WorkerId) -> Claim:
    claim = running.store.claims.claim(worker, running.run, AllTasks(), Schedule.PRIORITY)
    assert claim is not None
    running.start(claim, b"", USE)
    return claim


def test_who_does_what_who_merges_and_who_waits(ralph: Cli) -> None:
    tasks = [ralph.add(title) for title in ("alpha", "beta", "gamma")]
    with a_run(ralph) as running:
        workers = [sits(running, number) for number in (1, 2, 3, 4)]
        for worker in workers[:3]:
            takes(running, worker)
        running.store.events.record(MergeBegun(task_id=tasks[1]), running.run)  # type: ignore[arg-type]
        running.store.events.record(MergeQueued(task_id=tasks[2]), running.run)  # type: ignore[arg-type]
        shown = ralph("status").out
        answer = ralph.json("status")["team"]
    assert f"run {running.run} is at work" in shown
    assert "teammate-2 merges; waiting to merge: teammate-3" in shown
    rows = {one["slot"]: one for one in answer["workers"]}
    assert [one["task"] for one in rows.values()] == [*tasks, None]
    assert rows["teammate-1"]["doing"] == "Bash make test"
    assert rows["teammate-1"]["elapsed_s"] is not None
    assert rows["teammate-4"]["stage"] == "waits for work"
    assert (answer["merging"], answer["queue"]) == ("teammate-2", ["teammate-3"])
    assert "its run is gone" not in shown


def test_what_holds_up_all_of_them(ralph: Cli) -> None:
    ralph.add("alpha")
    with a_run(ralph) as running:
        sits(running, 1)
        later = RunWaiting(
            run_id=running.run,
            reason="claude: out of quota",
            until=to_iso(LONG_AFTER),
            kind=WaitKind.QUOTA,
        )
        running.store.events.record(later, running.run)
        shown, answer = ralph("status").out, ralph.json("status")
        running.store.events.record(RunResumed(run_id=running.run), running.run)
        after = ralph.json("status")
        running.store.events.record(
            RunPaused(run_id=running.run, reason="by a person"), running.run
        )
        paused = ralph.json("status")
        running.store.messages.send_control(running.run, ControlWord.STOP)
        stopping = ralph("status").out
    assert "waiting for quota: until 2999-01-01" in shown
    assert answer["state"] == "waiting for quota"
    assert "claude: out of quota" in answer["hold"]
    assert answer["team"]["workers"][0]["stage"] == "waits"
    assert (after["state"], after["hold"]) == ("working", "")
    assert after["team"]["workers"][0]["stage"] == "waits for work"
    assert (paused["state"], paused["hold"]) == ("paused", "by a person")
    assert "\nstopping" in stopping


def test_what_it_came_to_is_there_afterwards(ralph: Cli) -> None:
    task = ralph.add("alpha")
    with a_run(ralph) as running:
        claim = takes(running, sits(running, 1))
        merged = WorkMerged(task_id=claim.task.id, branch="main", commit="c0")
        running.store.claims.settle(
            claim, Accepted(), message="done", fail_fast=False, run=running.run, events=(merged,)
        )
        running.finish()
    status = ralph.json("status")
    team = status["team"]
    assert team["merges"] == 1
    assert status["runs"] == []
    assert team["workers"][0]["accepted"] == 1
    assert team["workers"][0]["task"] is None
    assert "1 merge, 0 conflicts" in ralph("status", "--watch").out
    assert ralph.json("status")["working"] == []
    assert ralph.json("task", "show", task)["status"] == "done"


def a_status(runs: list[Run], merges: int) -> Overview:
    return Overview(
        counts=Counts(),
        runs=runs,
        working=[],
        ready=[],
        failed=[],
        blocked=[],
        last_run=None,
        spent={run.id: CostSummary() for run in runs},
        limited={},
        breakers={},
        kept={},
        team=TeamOverview(merges=merges),
    )


def test_watching_ends_with_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(
        id=RunId("run-1"),
        worker=WorkerId("w"),
        target="all tasks",
        agent="scripted",
        checkout="/x",
        started_at="",
    )
    looks = [
        a_status([run], 1),
        a_status([run], 1),
        a_status([], 2),
    ]
    waited: list[float] = []
    watch(lambda: looks.pop(0), TerminalStyle(Namespace(color="never")), lambda: waited.append(1.0))
    shown = capsys.readouterr().out
    assert (shown.count("1 merge,"), shown.count("2 merges,")) == (1, 1)
    assert waited == [1.0, 1.0]


def test_what_is_watched_fits_the_window_also_where_lines_are_folded() -> None:
    lines = ["a" * 10, "\x1b[1m" + "b" * 25 + "\x1b[0m", "", "c"]
    assert lines_that_fit(lines, Size(10, 7)) == lines
    assert lines_that_fit(lines, Size(10, 6)) == lines[:3]
    assert lines_that_fit(lines, Size(10, 4)) == lines[:1]


def test_json_is_printed_once(ralph: Cli) -> None:
    assert "do not go together" in ralph("status", "--json", "--watch", code=64).err


def test_following_the_logs_of_a_team_names_who_speaks(ralph: Cli) -> None:
    ralph.add("alpha")
    ralph.add("beta")
    with a_run(ralph) as running:
        first, second = sits(running, 1), sits(running, 2)
        claim = takes(running, first)
        began = running.store.sessions.select(task=claim.task.id)[-1]
        other: list[Claim] = []

        def says() -> None:
            with (ralph.path / stream_of(began.log)).open("ab") as file:
                file.write(as_line(ToolUse(name="Read", summary="one.py", call="2")))

        steps: list[Callable[[], object]] = [
            says,
            lambda: other.append(takes(running, second)),
            lambda: running.end(began, claim),
            running.finish,
        ]

        def wait() -> None:
            steps.pop(0)()

        follower = LogFollower(running.view, run=running.run, wait=wait)
        ralph.capsys.readouterr()
        assert follower.follow(running.store.events.last_seq()) == 0
        shown = ralph.capsys.readouterr().out
    assert f"teammate-1 {claim.task.id} | > Read  one.py\n" in shown
    assert f"teammate-2 {other[0].task.id} | > Bash  make test\n" in shown
    assert f"teammate-1 {claim.task.id} session finished" in shown
