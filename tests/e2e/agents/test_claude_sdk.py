"""The real Claude Agent SDK leads the real program: the same tool permissions, the same judge."""

import signal

import pytest

from ralph.testing.model import ScriptedCall, Shell, do, say
from tests.e2e.agents.conftest import Real
from tests.e2e.agents.real import CLAIM, work
from tests.e2e.conftest import wait_for
from tests.e2e.crash_points import store_of
from tests.e2e.fault_helpers import ended

DONE = "mcp__ralph__ralph_mark_task_complete"


def test_a_graph_is_finished_on_the_same_permissions(
    real: Real, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RALPH_AGENT_MCP", "true")
    monkeypatch.delenv("RALPH_SANDBOX_MODE")
    project = real("claude-sdk", policy={"packaging": "uv"})
    uv = project.path / "bin" / "uv"
    uv.parent.mkdir(exist_ok=True)
    uv.write_text('#!/bin/sh\necho "uv was asked: $*" > uv.txt\n')
    uv.chmod(0o755)
    first = project.scripted("x", do(Shell(command="git push origin HEAD")), *work("x"))
    second = project.scripted(
        "y",
        do(Shell(command='PATH="$PWD/bin:$PATH" pytest -q')),
        do(ScriptedCall(name=DONE, input={"task_id": first})),
        do(ScriptedCall(name=DONE, input={"task_id": "{task}", "verification_notes": "I ran it"})),
        say("That is all."),
        blocked_by=first,
    )
    events = project.events()
    judged = [one for one in events if one["event"] == "tool_judged"]
    assert [one["decision"] for one in judged] == ["denied", "rewritten"]
    output = "\n".join(text for one in project.server.asked_in("x") for text in one.results)
    assert str(judged[0]["reason"]) in output
    assert (project.path / "uv.txt").read_text() == "uv was asked: run pytest -q\n"
    called = [bool(one.get("error")) for one in events if one["event"] == "tool_called"]
    assert called == [True, False], "another task is not its own"
    assert (project.status(first), project.status(second)) == ("done", "done")
    assert "I ran it" in project.ralph("task", "log", second)
    with store_of(project) as store:
        sessions = store.sessions.select()
    assert any(one.tools.tokens for one in sessions), "its hooks tell of its tools"
    assert all(one.ending and one.ending.cost_usd for one in sessions)


def test_a_budget_stops_it_in_mid_flight(real: Real) -> None:
    project = real("claude-sdk", budget={"session_tokens": 5000})
    project.server.script("x", do(Shell(command="sleep 0.3")), repeat=True)
    task = project.add("endless", "-d", "[[scenario:x]]")
    project.events("--once", code=4)
    assert project.endings(task) == ["budget_limit"]


def test_an_interrupt_gives_the_task_back(real: Real) -> None:
    project = real("claude-sdk")
    wait = "echo half > half.txt; sleep 1000"
    task = project.scripted("x", do(Shell(command=wait)), say(CLAIM), whole=False)
    run = project.start("run", "--json")
    wait_for((project.path / "half.txt").exists, "the tool is at work")
    run.send_signal(signal.SIGINT)
    ended(run, 130)
    assert project.endings(task) == ["interrupted"]
    shown = project.task(task)
    assert (shown["status"], shown["claimed_by"], shown["strikes"]) == ("pending", None, 0)
