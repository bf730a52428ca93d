"""Ralph's own tools, called by real agents over MCP; the running loop answers."""

from collections.abc import Callable

import pytest

from ralph.testing.model import ModelRequestLog, ScriptedCall, Shell, Turn, do, say
from tests.e2e.agents.conftest import Real
from tests.e2e.agents.real import RealProject


def call(agent: str, tool: str, **arguments: object) -> ScriptedCall:
    """As each agent names the tools of a server."""
    match agent:
        case "claude" | "kimi":
            return ScriptedCall(name=f"mcp__ralph__{tool}", input=arguments)
        case "droid":
            return ScriptedCall(name=f"ralph___{tool}", input=arguments)
        case "copilot":
            return ScriptedCall(name=f"ralph-{tool}", input=arguments)
        case _:
            return ScriptedCall(name=tool, namespace="mcp__ralph", input=arguments)


def calls(events: list[dict[str, object]]) -> list[tuple[object, bool]]:
    return [
        (one["tool"], bool(one.get("error"))) for one in events if one["event"] == "tool_called"
    ]


@pytest.fixture(autouse=True)
def with_tools(real: Real, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RALPH_AGENT_MCP", "true")


WORK = Shell(command="echo x > x.txt && git add x.txt && git commit -q -m 'Add x'")
TOO_EARLY = ("No such tool available", "unsupported call", "Not found: ralph___")


def one_after_another(*deeds: ScriptedCall | Shell) -> Callable[[ModelRequestLog], Turn]:
    """A server takes a moment to start, and no agent waits for it: a call that comes too early is
    made again."""

    def turn(asked: ModelRequestLog) -> Turn:
        heard = [text for text in asked.results if not any(word in text for word in TOO_EARLY)]
        return do(deeds[len(heard)]) if len(heard) < len(deeds) else say("That is all.")

    return turn


def task_of(project: RealProject, *deeds: ScriptedCall | Shell) -> str:
    project.server.script("x", one_after_another(*deeds), repeat=True)
    return project.add("Task x", "-d", "[[scenario:x]]")


@pytest.mark.parametrize(
    "agent",
    [
        *("claude", "codex", "copilot"),
        pytest.param("kimi", marks=pytest.mark.agents),
        pytest.param("droid", marks=pytest.mark.soak),
    ],
)
def test_a_call_completes_the_task_and_the_judge_decides(
    real: Real, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RALPH_SANDBOX_MODE")
    project = real(agent)
    notes = {"task_id": "{task}", "verification_notes": "I ran it"}
    task = task_of(project, WORK, call(agent, "ralph_mark_task_complete", **notes))
    events = project.events()
    assert calls(events) == [("ralph_mark_task_complete", False)]
    assert project.status(task) == "done"
    assert "I ran it" in project.ralph("task", "log", task)


@pytest.mark.soak
def test_a_claim_without_work_is_rejected_all_the_same(real: Real) -> None:
    project = real("claude")
    task = task_of(project, call("claude", "ralph_mark_task_complete", task_id="{task}"))
    project.events("--once", code=4)
    assert project.status(task) == "pending"
    assert "nothing in the tree has changed" in project.ralph("task", "show", task)


def test_what_a_session_may_not_do_is_refused_with_the_reason(real: Real) -> None:
    project = real("claude")
    other = project.add("other", "--priority", "9")
    task = task_of(
        project,
        call("claude", "ralph_mark_task_complete", task_id=other),
        call("claude", "ralph_mark_task_blocked", task_id="{task}"),
        call("claude", "ralph_add_task", task_id="more-1", description="More\nof it"),
        call("claude", "ralph_append_learning", learning="the tests need a database"),
        call("claude", "ralph_get_plan_summary"),
        WORK,
        call("claude", "ralph_mark_task_complete", task_id="{task}"),
    )
    events = project.events("--once", code=4)
    assert calls(events) == [
        ("ralph_mark_task_complete", True),
        ("ralph_mark_task_blocked", True),
        ("ralph_add_task", False),
        ("ralph_append_learning", False),
        ("ralph_get_plan_summary", False),
        ("ralph_mark_task_complete", False),
    ]
    assert (project.status(task), project.status(other)) == ("done", "pending")
    assert project.task("more-1")["title"] == "More"
    assert "the tests need a database" in project.ralph("memory", "list")
    output = "\n".join(text for one in project.server.asked_in("x") for text in one.results)
    assert f"task {other} is not this session's" in output
    assert "missing required field `reason`" in output
    assert "more-1" in output
