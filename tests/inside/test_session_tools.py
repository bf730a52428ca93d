"""Ralph's own tools: what they do, what they refuse, and a client of the official kit."""

import os
import sys
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from ralph.core.errors import RalphError
from ralph.core.events import ToolCalled
from ralph.core.graph import Schedule
from ralph.core.ids import session_id
from ralph.core.run import AllTasks
from ralph.core.task import TaskDraft, TaskStatus
from ralph.inside.session_tools import TOOLS, CallingSession, run_tool
from ralph.store.sessions import Session
from tests.doubles.clock import FrozenClock
from tests.inside.socket_session import RUN, WORKER, SocketWorld
from tests.stores import memory_store


@pytest.fixture
def caller() -> CallingSession:
    store = memory_store(FrozenClock())
    feature = store.features.add("login").id
    store.tasks.add(TaskDraft(title="mine", feature_id=feature, alias="US-001"))
    store.tasks.add(TaskDraft(title="other", priority=9))
    claim = store.claims.claim(WORKER, RUN, AllTasks(), Schedule.PRIORITY)
    assert claim is not None
    session = Session(
        id=session_id(claim.task.id, 1),
        task_id=claim.task.id,
        attempt=1,
        run_id=RUN,
        worker=WORKER,
        agent="a",
    )
    return CallingSession(store=store, session=session, claim=claim)


def use(caller: CallingSession, tool: str, **arguments: Any) -> dict[str, Any]:
    return run_tool(caller, f"ralph_{tool}", arguments)


def test_the_next_task_is_the_sessions_own(caller: CallingSession) -> None:
    assert use(caller, "get_next_task")["task"]["title"] == "mine"


@pytest.mark.parametrize("name", ["US-001", None])
def test_its_own_task_by_id_or_alias(caller: CallingSession, name: str | None) -> None:
    named = name or caller.claim.task.id
    assert use(caller, "mark_task_in_progress", task_id=named)["task"]["status"] == "in_progress"


@pytest.mark.parametrize(
    "tool", ["mark_task_in_progress", "mark_task_complete", "mark_task_blocked"]
)
def test_another_task_is_not_its_own(caller: CallingSession, tool: str) -> None:
    (other,) = [one for one in caller.store.tasks.subtree(None) if one.title == "other"]
    more = {"reason": "x"} if tool.endswith("blocked") else {}
    with pytest.raises(RalphError, match="is not this session's"):
        use(caller, tool, task_id=other.id, **more)
    assert caller.store.tasks.find(other.id) == other


def test_a_block_says_why(caller: CallingSession) -> None:
    use(caller, "mark_task_blocked", task_id="US-001", reason="no design")
    task = caller.task
    assert (task.status, task.reason) == (TaskStatus.BLOCKED, "no design")


def test_the_tokens_that_a_session_says_it_used_are_kept(caller: CallingSession) -> None:
    caller.store.sessions.start(caller.session, caller.claim)
    use(caller, "mark_task_complete", task_id="US-001", tokens_used=12345)
    assert "12,345" in caller.store.tasks.logs(caller.claim.task.id)[-1].message


def test_a_new_task_joins_the_feature_and_waits_for_what_it_names(caller: CallingSession) -> None:
    use(caller, "add_task", task_id="auth-01", description="Model\nwith a table", priority=2)
    added = use(
        caller,
        "add_task",
        task_id="auth-02",
        description="View",
        dependencies=["auth-01"],
        verification_criteria=["it renders", "it is tested"],
        files=["./src/view.py"],
        estimated_tokens=5000,
    )["task"]
    first, second = caller.store.tasks.find("auth-01"), caller.store.tasks.find("auth-02")
    assert (first.title, first.description, first.priority) == ("Model", "with a table", 2)
    assert first.feature_id == second.feature_id == caller.task.feature_id
    assert [one.id for one in caller.store.tasks.blockers(second.id)] == [first.id]
    assert "- [ ] it renders\n- [ ] it is tested" in added["description"]
    assert "5,000 tokens" in added["description"]
    assert (first.files, second.files) == ((), ("src/view.py",))


def test_a_title_is_short_and_nothing_of_a_long_one_is_lost(caller: CallingSession) -> None:
    use(caller, "add_task", task_id="long", description="x" * 5000)
    added = caller.store.tasks.find("long")
    assert len(added.title) == 200
    assert added.description == "x" * 5000


def test_an_unknown_dependency_is_refused(caller: CallingSession) -> None:
    with pytest.raises(RalphError, match="there is no task nobody"):
        use(caller, "add_task", task_id="x", description="x", dependencies=["nobody"])
    assert len(caller.store.tasks.subtree(None)) == 2


def test_a_lesson_is_kept_for_later_sessions(caller: CallingSession) -> None:
    use(caller, "append_learning", learning="the tests need a database")
    assert caller.store.memories.select()[0].text == "the tests need a database"


def test_the_plan_is_that_of_its_feature(caller: CallingSession) -> None:
    plan = use(caller, "get_plan_summary")
    assert [one["title"] for one in plan["tasks"]] == ["mine"]
    assert plan["counts"]["in_progress"] == 1


def test_the_state_of_the_run(caller: CallingSession) -> None:
    state = use(caller, "get_state_summary")
    assert (state["run_id"], state["attempt"], state["sessions"]) == (RUN, 1, 0)


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("fly", {}, "there is no tool ralph_fly"),
        ("mark_task_complete", {}, "task_id"),
        ("mark_task_complete", {"task_id": 7}, "Expected `str`"),
        ("mark_task_complete", {"task_id": ""}, "length"),
        ("mark_task_complete", {"task_id": "US-001", "tokens_used": -1}, "tokens_used"),
        ("mark_task_complete", {"task_id": "US-001", "tokens_used": 10**30}, "tokens_used"),
        ("add_task", {"task_id": "a", "description": "b", "priority": 10**30}, "priority"),
        ("add_task", {"task_id": "a", "description": "b", "estimated_tokens": 10**30}, "estimated"),
        ("add_task", {"task_id": "a b/../c", "description": "x"}, "cannot be the name"),
        ("add_task", {"task_id": "t-123456", "description": "x"}, "cannot be the name"),
        ("add_task", {"task_id": "x" * 500, "description": "x"}, "cannot be the name"),
        ("add_task", {"task_id": "a", "description": " \n "}, "description"),
        ("mark_task_blocked", {"task_id": "US-001", "reason": "  "}, "reason"),
        ("append_learning", {"learning": "\n"}, "learning"),
        ("get_next_task", {"task": "x"}, "unknown field"),
        ("append_learning", {"learning": ["x"]}, "learning"),
    ],
)
def test_what_cannot_be_understood_is_refused_with_the_field(
    caller: CallingSession, tool: str, arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(RalphError, match=words):
        use(caller, tool, **arguments)


def test_every_schema_is_an_object_that_describes_its_fields() -> None:
    for tool in TOOLS.values():
        assert tool.schema["type"] == "object"
        assert tool.schema["additionalProperties"] is False
        for name, field in tool.schema["properties"].items():
            assert field.get("description"), (tool.name, name)


def test_a_client_of_the_official_kit_lists_and_calls_them(world: SocketWorld) -> None:
    said = world.ask(lambda: anyio.run(_talk, world))
    names, found, refused = said
    assert names == list(TOOLS)
    assert f'"{world.mine}"' in found
    assert "there is no tool" in refused
    called = [one.event for one in world.store.events.select() if isinstance(one.event, ToolCalled)]
    assert [(one.tool, bool(one.error)) for one in called] == [
        ("ralph_get_next_task", False),
        ("ralph_nothing", True),
    ]


async def _talk(world: SocketWorld) -> tuple[list[str], str, str]:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ralph", "mcp"],
        env={"PATH": os.environ["PATH"], **world.variables},
    )
    async with Client(stdio_client(server)) as client:
        listed = await client.list_tools()
        good = await client.call_tool("ralph_get_next_task", {})
        bad = await client.call_tool("ralph_nothing", {})
        assert (good.is_error, bad.is_error) == (False, True)
        return [tool.name for tool in listed.tools], _text(good), _text(bad)


def _text(result: Any) -> str:
    return "".join(block.text for block in result.content)
