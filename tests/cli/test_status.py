"""What is going on, at a glance."""

import time

import pytest

from ralph.cli.output import format_local
from ralph.core.breaker import Breaker, BreakerCause, BreakerState
from ralph.core.run import RunOutcome
from tests.cli.conftest import Cli
from tests.cli.running import a_run
from tests.privileges import ordinary


def test_an_empty_project(ralph: Cli) -> None:
    assert "no tasks yet" in ralph("status").out
    state = ralph.json("status")
    assert state["counts"] == {
        "pending": 0,
        "in_progress": 0,
        "done": 0,
        "blocked": 0,
        "failed": 0,
    }
    assert state["runs"] == []
    assert state["last_run"] is None


def test_counts_next_and_what_is_stuck(ralph: Cli) -> None:
    ralph("task", "done", ralph.add("finished"))
    ralph("task", "fail", ralph.add("broken"), "-r", "why it failed\nmore")
    ralph("task", "block", ralph.add("held"), "-r", "why it waits")
    upcoming = ralph.add("upcoming")
    shown = ralph("status").out
    assert shown.splitlines()[0] == "4 tasks: 1 done, 1 pending, 1 blocked, 1 failed"
    assert "nothing has run yet" in shown
    assert upcoming in shown
    assert "why it failed\n" in shown
    assert "more" not in shown
    assert "why it waits" in shown
    state = ralph.json("status")
    assert [task["id"] for task in state["ready"]] == [upcoming]
    assert state["failed"][0]["reason"] == "why it failed\nmore"


def test_many_stuck_tasks_are_counted(ralph: Cli) -> None:
    for n in range(8):
        ralph("task", "block", ralph.add(f"held {n}"))
    assert "and 3 more (ralph task list --status blocked)" in ralph("status").out


def test_a_living_run_and_the_task_in_its_hands(ralph: Cli) -> None:
    task = ralph.add("work")
    with a_run(ralph) as running:
        claim = running.claim()
        running.start(claim)
        shown = ralph("status").out
        state = ralph.json("status")
    assert f"run {running.run} is at work on all tasks with scripted" in shown
    assert "sandbox off" in shown
    assert f"{task}  work  (attempt 1, " in shown
    assert ".ralph/runs/" in shown
    assert [run["id"] for run in state["runs"]] == [running.run]
    assert state["working"][0]["task"]["id"] == task
    assert state["working"][0]["is_stale"] is False


def test_an_agent_that_is_out_of_quota_is_waited_for_in_sight(ralph: Cli) -> None:
    ralph.add("work")
    with a_run(ralph) as running:
        assert ralph.json("status")["limited"] == {}
        running.pay(resets_at=time.time() + 3600)
        shown = ralph("status").out
        until = ralph.json("status")["limited"]["scripted"]
    assert f"scripted is out of quota until {format_local(until)}" in shown


def test_a_run_that_was_killed_is_not_called_alive(ralph: Cli) -> None:
    ralph.add("work")
    with a_run(ralph, alive=False) as running:
        running.start(running.claim())
    shown = ralph("status").out
    assert f"run {running.run} died; the next run goes on" in shown
    assert "its run is gone" in shown
    assert ralph.json("status")["runs"] == []
    assert ralph.json("status")["working"][0]["is_stale"] is True


def test_how_the_last_run_ended(ralph: Cli) -> None:
    with a_run(ralph) as running:
        running.finish(RunOutcome.COMPLETE_WITH_FAILURES)
    assert "complete-with-failures: enough" in ralph("status").out
    assert ralph.json("status")["last_run"]["outcome"] == "complete-with-failures"


def test_a_breaker_is_shown_while_it_counts(ralph: Cli) -> None:
    """Yesterday's does not, and what is switched off does not either."""
    now = time.time()
    with ralph.store() as store:
        for slot, at in (("teammate-1", now), ("teammate-2", now - 86_400)):
            one = Breaker(
                state=BreakerState.OPEN, cause=BreakerCause.FAILURES, failures=3, reason="hm", at=at
            )
            store.breakers.save(slot, one)
    assert list(ralph.json("status")["breakers"]) == ["teammate-1"]
    (ralph.path / ".ralph.toml").write_text("[breaker]\nfailures = 0\n")
    assert ralph.json("status")["breakers"] == {}


def test_a_reset_does_not_make_money(ralph: Cli) -> None:
    reason = "$2.00 of $1.00 for this project are spent; [budget] project_usd sets that"
    with ralph.store() as store:
        one = Breaker(
            state=BreakerState.OPEN, cause=BreakerCause.BUDGET, reason=reason, at=time.time()
        )
        store.breakers.save("teammate-1", one)
    assert reason in ralph("status").out
    assert f"a limit that is still spent opens it again: {reason}" in ralph("breaker", "reset").out
    assert ralph.json("status")["breakers"] == {}


@pytest.mark.parametrize(
    "command",
    [
        "status",
        "logs",
        "costs",
        "task list --all",
        "task tree",
        "task export",
        "feature list",
        "memory list",
        "team status",
    ],
)
def test_commands_that_read_need_not_write(ralph: Cli, command: str) -> None:
    with a_run(ralph) as running:
        ralph.add("work")
        running.start(running.claim())
    state = ralph.path / ".ralph"
    for path in (*state.rglob("*"), state):
        path.chmod(path.stat().st_mode & ~0o222)
    try:
        with ordinary():
            assert ralph(*command.split()).code == 0
    finally:
        for path in (state, *state.rglob("*")):
            path.chmod(path.stat().st_mode | 0o200)
