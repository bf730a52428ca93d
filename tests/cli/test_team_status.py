"""What a team does, at a glance."""

from argparse import Namespace
from collections.abc import Callable

import pytest

from ralph.cli.following import Follower
from ralph.cli.hearing import stream_of
from ralph.cli.screen import Screen
from ralph.cli.team.overview import Overview
from ralph.cli.team.watching import watch
from ralph.core.agent_events import ToolUse
from ralph.core.events import RunPaused, RunResumed, RunWaiting
from ralph.core.ids import RunId, WorkerId
from ralph.core.moment import iso
from ralph.core.order import Schedule
from ralph.core.target import Everything
from ralph.core.team_events import MergeBegun, MergeQueued, WorkerJoined, WorkMerged
from ralph.core.transitions import Accepted
from ralph.ports.claims import Claim
from ralph.ports.history import Run
from tests.cli.conftest import Cli
from tests.cli.running import Running, a_run, as_line

LONG_AFTER = 32472144000.0
USE = ToolUse(name="Bash", summary="make test", call="1")


def test_without_a_team(ralph: Cli) -> None:
    assert "ralph run --workers N" in ralph("team", "status").out
    assert ralph.json("team", "status")["run"] is None
    with a_run(ralph):
        assert ralph.json("team", "status")["run"] is None


def sits(running: Running, number: int) -> WorkerId:
    worker, seat = WorkerId(f"agent-0000000{number}"), f"teammate-{number}"
    running.store.join(worker, running.run, running.owner, 60.0, seat)
    running.store.record(WorkerJoined(run_id=running.run, worker=worker, seat=seat), running.run)
    return worker


def takes(running: Running, worker: WorkerId) -> Claim:
    claim = running.store.claim(worker, running.run, Everything(), Schedule.PRIORITY)
    assert claim is not None
    running.start(claim, b"", USE)
    return claim


def test_who_does_what_who_merges_and_who_waits(ralph: Cli) -> None:
    tasks = [ralph.add(title) for title in ("alpha", "beta", "gamma")]
    with a_run(ralph) as running:
        workers = [sits(running, number) for number in (1, 2, 3, 4)]
        for worker in workers[:3]:
            takes(running, worker)
        running.store.record(MergeBegun(task_id=tasks[1]), running.run)  # type: ignore[arg-type]
        running.store.record(MergeQueued(task_id=tasks[2]), running.run)  # type: ignore[arg-type]
        shown = ralph("team", "status").out
        told = ralph.json("team", "status")
        status = ralph("status").out
    assert f"run {running.run} is at work" in shown
    assert "teammate-2 merges; waiting to merge: teammate-3" in shown
    rows = {one["seat"]: one for one in told["workers"]}
    assert [one["task"] for one in rows.values()] == [*tasks, None]
    assert rows["teammate-1"]["doing"] == "Bash make test"
    assert rows["teammate-1"]["elapsed_s"] is not None
    assert rows["teammate-4"]["stage"] == "waits for work"
    assert (told["merging"], told["queue"]) == ("teammate-2", ["teammate-3"])
    assert "(teammate-1, attempt 1" in status
    assert "its run is gone" not in status


def test_what_holds_up_all_of_them(ralph: Cli) -> None:
    ralph.add("alpha")
    with a_run(ralph) as running:
        sits(running, 1)
        later = RunWaiting(run_id=running.run, reason="claude: out of quota", until=iso(LONG_AFTER))
        running.store.record(later, running.run)
        shown, told = ralph("team", "status").out, ralph.json("team", "status")
        running.store.record(RunResumed(run_id=running.run), running.run)
        after = ralph.json("team", "status")
        running.store.record(RunPaused(run_id=running.run, reason="by a person"), running.run)
        paused = ralph.json("team", "status")
    assert "waits until 2999-01-01" in shown
    assert "claude: out of quota" in told["hold"]
    assert told["workers"][0]["stage"] == "waits"
    assert (after["hold"], after["workers"][0]["stage"]) == ("", "waits for work")
    assert paused["hold"] == "by a person"


def test_what_it_came_to_is_there_afterwards(ralph: Cli) -> None:
    task = ralph.add("alpha")
    with a_run(ralph) as running:
        claim = takes(running, sits(running, 1))
        merged = WorkMerged(task_id=claim.task.id, branch="main", commit="c0")
        running.store.settle(
            claim, Accepted(), message="done", fail_fast=False, run=running.run, events=(merged,)
        )
        running.finish()
    told = ralph.json("team", "status")
    assert told["merges"] == 1
    assert not told["is_alive"]
    assert told["workers"][0]["accepted"] == 1
    assert told["workers"][0]["task"] is None
    assert "1 merge, 0 conflicts" in ralph("team", "status", "--watch").out
    assert ralph.json("status")["working"] == []
    assert ralph.json("task", "show", task)["status"] == "done"


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
        Overview(run=run, is_alive=True, merges=1),
        Overview(run=run, is_alive=True, merges=1),
        Overview(run=run, is_alive=False, merges=2),
    ]
    waited: list[float] = []
    watch(lambda: looks.pop(0), Screen(Namespace(color="never")), 1.0, waited.append)
    shown = capsys.readouterr().out
    assert (shown.count("1 merge,"), shown.count("2 merges,")) == (1, 1)
    assert waited == [1.0, 1.0]


def test_json_is_printed_once(ralph: Cli) -> None:
    assert "do not go together" in ralph("team", "status", "--json", "--watch", code=64).err


def test_following_the_logs_of_a_team_names_who_speaks(ralph: Cli) -> None:
    ralph.add("alpha")
    ralph.add("beta")
    with a_run(ralph) as running:
        first, second = sits(running, 1), sits(running, 2)
        claim = takes(running, first)
        began = running.store.sessions(task=claim.task.id)[-1]
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

        follower = Follower(running.store, str(ralph.path), run=running.run, wait=wait)
        ralph.capsys.readouterr()
        assert follower.follow(running.store.last_seq()) == 0
        shown = ralph.capsys.readouterr().out
    assert f"teammate-1 {claim.task.id} | > Read  one.py\n" in shown
    assert f"teammate-2 {other[0].task.id} | > Bash  make test\n" in shown
    assert f"teammate-1 {claim.task.id} session finished" in shown
