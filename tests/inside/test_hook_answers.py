"""What the loop answers to an agent's own program."""

import json
import os
import resource
import shlex
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ralph.core.errors import UsageError
from ralph.core.events import ToolJudged
from ralph.core.policy.decision import Phase, Policy, PolicyContext
from ralph.core.policy.tools import ToolPermissions
from ralph.core.session_output import ToolUsage
from ralph.inside.hook_answers import answer_hook
from ralph.inside.session_tools import CallingSession
from tests.inside.socket_session import SocketWorld

HOOK = [sys.executable, "-m", "ralph", "hook"]


@pytest.fixture
def caller(world: SocketWorld) -> CallingSession:
    assert world.control_socket.caller is not None
    return world.control_socket.caller


def before(caller: CallingSession, command: str, **policy: Any) -> tuple[dict[str, Any], Any]:
    payload = {"tool_name": "Bash", "tool_input": {"command": command, "timeout": 5}, "cwd": "/c"}
    permissions = ToolPermissions(
        policy=Policy(**policy), context=PolicyContext(checkout="/c", home="/home/me")
    )
    said, event = answer_hook("pre-tool-use", payload, caller, permissions)
    return said.get("hookSpecificOutput", {}), event


def test_what_is_allowed_needs_no_word(caller: CallingSession) -> None:
    assert before(caller, "pytest -q && git commit -am done") == ({}, None)


def test_what_is_denied_says_why_and_what_to_do_instead(caller: CallingSession) -> None:
    said, event = before(caller, "git push origin main")
    assert said["permissionDecision"] == "deny"
    assert "push" in said["permissionDecisionReason"]
    assert (event.decision, event.tool) == ("denied", "Bash")
    assert event.command == "git push origin main"


def test_what_is_rewritten_keeps_the_rest_of_the_input(caller: CallingSession) -> None:
    said, event = before(caller, "pytest -q", uses_uv=True)
    assert said["permissionDecision"] == "allow"
    assert said["updatedInput"] == {"command": "uv run pytest -q", "timeout": 5}
    assert (event.decision, event.reason) == ("rewritten", "uv run pytest -q")


def test_what_cannot_be_decided_is_noted_or_denied(caller: CallingSession) -> None:
    said, event = before(caller, "$TOOL push")
    assert said == {}
    assert event.decision == "doubtful"
    said, _ = before(caller, "$TOOL push", strict=True)
    assert said["permissionDecision"] == "deny"


def test_where_ralph_commits_a_commit_is_denied(caller: CallingSession) -> None:
    said, _ = before(caller, "git commit -m x", git="read-only")
    assert said["permissionDecision"] == "deny"


@pytest.mark.parametrize(
    "payload", [{}, {"tool_name": 7}, {"tool_input": []}, {"tool_name": "Bash", "cwd": 3}]
)
def test_an_odd_call_is_survived(caller: CallingSession, payload: dict[str, Any]) -> None:
    said, _ = answer_hook("pre-tool-use", payload, caller, ToolPermissions())
    assert set(said) <= {"hookSpecificOutput"}


# Afterwards


def after(caller: CallingSession, **payload: Any) -> ToolUsage:
    given = {"tool_name": "Bash", "tool_input": {"command": "make"}, **payload}
    assert answer_hook("post-tool-use", given, caller, ToolPermissions()) == ({}, None)
    session = caller.store.sessions.get(caller.claim.task.id, 1)
    assert session is not None
    return session.tools


def test_what_tools_answer_is_counted_against_the_context(caller: CallingSession) -> None:
    uses = after(caller, tool_response={"stdout": "x" * 400, "stderr": "", "interrupted": False})
    assert uses == ToolUsage(tokens=100)
    uses = after(caller, tool_response="y" * 40)
    assert uses == ToolUsage(tokens=110)
    uses = after(caller, tool_response=[{"text": "z" * 40}])
    assert uses == ToolUsage(tokens=120)
    # Agents have their own words for it.
    uses = after(caller, tool_result={"text_result_for_llm": "z" * 40})
    uses = after(caller, tool_output="z" * 40)
    assert uses == ToolUsage(tokens=140)
    edited = {"filePath": "/c/a.py", "originalFile": "x" * 4000, "structuredPatch": []}
    pictures = {"file": {"base64": "x" * 4000}}
    assert after(caller, tool_response=edited) == after(caller, tool_response=pictures) == uses
    assert after(caller, tool_response="x" * 400, agent_id="a-1") == uses, "a sub-agent's"


def test_a_tool_that_fails_is_remembered_until_one_works(caller: CallingSession) -> None:
    uses = after(caller, error="Exit code 3\nno such target")
    assert (uses.errors, uses.last_error) == (1, "Bash: Exit code 3 no such target")
    uses = after(caller, tool_response={"stdout": "fine"})
    assert (uses.errors, uses.last_error) == (1, "")


@pytest.mark.parametrize("odd", [None, 7, {}, [], {"a": [1, None, {"b": True}]}])
def test_odd_answers_take_no_room(caller: CallingSession, odd: object) -> None:
    assert after(caller, tool_name=3, tool_response=odd) == ToolUsage()


def test_a_session_that_begins_needs_no_more_words(caller: CallingSession) -> None:
    assert answer_hook("session-start", {"source": "startup"}, caller, ToolPermissions()) == (
        {},
        None,
    )


def test_a_session_that_goes_on_with_a_summary_hears_of_its_task_again(
    caller: CallingSession,
) -> None:
    after(caller, tool_response="x" * 400, error="")
    said, _ = answer_hook("session-start", {"source": "compact"}, caller, ToolPermissions())
    answer = said["hookSpecificOutput"]
    assert answer["hookEventName"] == "SessionStart"
    assert caller.claim.task.name in answer["additionalContext"]
    session = caller.store.sessions.get(caller.claim.task.id, 1)
    assert session is not None
    assert session.tools.tokens == 0, "the results are not in its context any more"


# Who only looks


def test_a_session_that_checks_others_is_on_the_permissions_and_has_no_say(
    world: SocketWorld, caller: CallingSession
) -> None:
    permissions = ToolPermissions(phase=Phase.VALIDATION, speaks=False)
    edit = {"tool_name": "Edit", "tool_input": {"file_path": "/c/a.py"}}
    said, event = answer_hook("pre-tool-use", edit, caller, permissions)
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert isinstance(event, ToolJudged)
    for name in ("post-tool-use", "stop", "session-start"):
        assert answer_hook(name, {"tool_response": "x" * 40}, caller, permissions) == ({}, None)
    world.control_socket.permissions = permissions
    assert world.ask(lambda: world.remote.tasks.find(world.mine)).id == world.mine
    with pytest.raises(UsageError, match="may only look"):
        world.ask(lambda: world.remote.tasks.force_done(world.mine))
    assert world.socket_claim() is None


# Ending


@pytest.mark.parametrize(
    "last", ["It works.", "", None, "<task-done>ID</task-done>", "task-done t-000001"]
)
def test_a_session_that_ends_without_a_word_is_reminded(
    caller: CallingSession, last: str | None
) -> None:
    said, _ = answer_hook("stop", {"last_assistant_message": last}, caller, ToolPermissions())
    assert said["decision"] == "block"
    assert caller.claim.task.name in said["reason"]


def test_once_is_enough(caller: CallingSession) -> None:
    assert answer_hook("stop", {"stop_hook_active": True}, caller, ToolPermissions()) == ({}, None)


@pytest.mark.parametrize(
    "last",
    [
        "<task-done>t-000001</task-done>",
        "<task-failed>t-000001</task-failed>",
        "so\n<promise>FAILURE</promise>",
    ],
)
def test_a_session_that_has_spoken_may_go(caller: CallingSession, last: str) -> None:
    assert answer_hook("stop", {"last_assistant_message": last}, caller, ToolPermissions()) == (
        {},
        None,
    )


def test_a_claim_over_the_door_is_a_word_too(caller: CallingSession) -> None:
    caller.store.sessions.save_socket_claim(caller.session.id, "done", caller.claim)
    assert answer_hook("stop", {}, caller, ToolPermissions()) == ({}, None)


# At the command


def hook(
    world: SocketWorld, name: str, given: bytes, **env: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*HOOK, name],
        input=given,
        env={"PATH": os.environ["PATH"], **world.variables, **env},
        capture_output=True,
        check=False,
    )


def test_the_command_asks_the_loop(world: SocketWorld) -> None:
    call = {"tool_name": "Bash", "tool_input": {"command": "git push"}}
    done = world.ask(lambda: hook(world, "pre-tool-use", json.dumps(call).encode()))
    assert (done.returncode, done.stderr) == (0, b"")
    said = json.loads(done.stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    (recorded,) = [
        one.event for one in world.store.events.select() if isinstance(one.event, ToolJudged)
    ]
    assert recorded.decision == "denied"


DEEP = b'{"a": %s%s}' % (b"[" * 10_000, b"]" * 10_000)
LONG = b'{"tool_name": "%s"}' % (b"x" * 2**24)


@pytest.mark.parametrize(
    ("name", "given", "env", "says"),
    [
        pytest.param("pre-tool-use", b"{", {}, "truncated", id="half a call"),
        pytest.param("pre-tool-use", b"\xff", {}, "malformed", id="a call that is no text"),
        pytest.param("pre-tool-use", b'{"a": "\xff"}', {}, "utf-8", id="a name that is no text"),
        pytest.param("pre-tool-use", DEEP, {}, "recursion depth", id="a call without end"),
        pytest.param("pre-tool-use", b"[]", {}, "got `array`", id="a list"),
        pytest.param("pre-tool-use", b'"Bash"', {}, "got `str`", id="a word"),
        pytest.param("pre-tool-use", LONG, {}, "16,777,216", id="a call that is too long"),
        pytest.param(
            "pre-tool-use", b"{}", {"RALPH_SOCKET": "/no"}, "not answer", id="there is no loop"
        ),
        pytest.param(
            "pre-tool-use", b"{}", {"RALPH_TOKEN": "guess"}, "is over", id="a guessed token"
        ),
        pytest.param(
            "pre-tool-use", b"{}", {"RALPH_TOKEN": ""}, "not a session", id="there is no token"
        ),
        pytest.param("fly", b"{}", {}, "there is no hook fly", id="there is no such hook"),
    ],
)
def test_where_the_loop_cannot_be_asked_the_tool_is_not_used(
    world: SocketWorld, name: str, given: bytes, env: dict[str, str], says: str
) -> None:
    done = world.ask(lambda: hook(world, name, given, **env))
    assert (done.returncode, done.stdout) == (2, b"")
    assert_says(done.stderr, says)


def assert_says(stderr: bytes, says: str) -> None:
    """One line for the agent, which names what is wrong."""
    (line,) = stderr.decode().splitlines()
    assert line.startswith("ralph: ")
    assert says in line


@pytest.mark.parametrize("answered", [b"", b'{"value":{"hookSpecificOutput":{}', b'{"er'])
def test_half_an_answer_is_none(world: SocketWorld, tmp_path: Path, answered: bytes) -> None:
    """The loop was killed while it spoke."""
    path = str(tmp_path / "socket")
    with socket.socket(socket.AF_UNIX) as control_socket, ThreadPoolExecutor(1) as pool:
        control_socket.bind(path)
        control_socket.listen()
        asked = pool.submit(hook, world, "pre-tool-use", b"{}", RALPH_SOCKET=path)
        client, _ = control_socket.accept()
        with client:
            client.recv(10_000)
            client.sendall(answered)
        done = asked.result()
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"ralph: the run")


def test_a_tool_that_is_asked_for_in_a_mere_text_is_judged_by_it(caller: CallingSession) -> None:
    payload = {"tool_name": "Bash", "tool_input": "git push"}
    said, event = answer_hook("pre-tool-use", payload, caller, ToolPermissions())
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert isinstance(event, ToolJudged)
    assert event.command == "git push"


@pytest.mark.parametrize("shut", ["<&-", ">&-"])
def test_without_a_way_to_ask_or_to_answer_the_tool_is_not_used(
    world: SocketWorld, shut: str
) -> None:
    call = '{"tool_name": "Bash", "tool_input": {"command": "git push"}}'
    line = f"printf %s '{call}' | {shlex.quote(sys.executable)} -m ralph hook pre-tool-use {shut}"
    env = {"PATH": os.environ["PATH"], **world.variables}
    done = world.ask(
        lambda: subprocess.run(["sh", "-c", line], env=env, capture_output=True, check=False)
    )
    denied = done.returncode == 0 and b'"deny"' in done.stdout
    assert denied or done.returncode == 2
    assert b"Traceback" not in done.stderr


def here(tmp_path: Path, given: bytes, *args: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*HOOK, "pre-tool-use", "--phase", "planning", *args],
        input=given,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        check=False,
    )


def test_in_a_conversation_the_phase_decides_without_a_loop(tmp_path: Path) -> None:
    edit = b'{"tool_name": "Create", "tool_input": {"file_path": "a.md"}}'
    done = here(tmp_path, edit, "--agent", "droid")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    shell = b'{"tool_name": "Execute", "tool_input": {"command": "make"}}'
    done = here(tmp_path, shell, "--agent", "droid")
    said = json.loads(done.stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert "planning" in said["permissionDecisionReason"]


@pytest.mark.parametrize(
    ("given", "agent", "says"),
    [
        pytest.param(b"{", "claude", "truncated", id="half a call"),
        pytest.param(b"{}", "nobody", "no agent 'nobody'", id="an unknown agent"),
        pytest.param(b'{"a": "\xff"}', "claude", "utf-8", id="a name that is no text"),
        pytest.param(DEEP, "claude", "recursion depth", id="a call without end"),
    ],
)
def test_what_cannot_be_decided_there_is_not_done(
    tmp_path: Path, given: bytes, agent: str, says: str
) -> None:
    done = here(tmp_path, given, "--agent", agent)
    assert (done.returncode, done.stdout) == (2, b"")
    assert_says(done.stderr, says)


@pytest.mark.parametrize("name", ["post-tool-use", "stop", "session-start"])
def test_what_has_happened_is_not_held_up_by_a_loop_that_is_gone(
    world: SocketWorld, name: str
) -> None:
    done = hook(world, name, b"{}", RALPH_SOCKET="/nowhere")
    assert (done.returncode, done.stdout) == (1, b"")
    assert_says(done.stderr, "does not answer")


def test_a_thousand_calls_at_once_are_all_answered_and_counted(world: SocketWorld) -> None:
    """All of them are under way before the first answer is read: half of them ask, half tell."""
    path, token = world.variables["RALPH_SOCKET"], world.variables["RALPH_TOKEN"]
    used = {"tool_name": "Bash", "tool_input": {"command": "git push"}, "cwd": "/c"}

    def call(number: int) -> bytes:
        name = "post-tool-use" if number % 2 else "pre-tool-use"
        args = {"name": name, "payload": {**used, "tool_response": "x" * 40}}
        return json.dumps({"token": token, "method": "hook", "args": args}).encode() + b"\n"

    def all_at_once() -> Counter[str]:
        with ExitStack() as stack:
            doors = []
            for number in range(1000):
                control_socket = stack.enter_context(
                    socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                )
                # Without a time limit it waits for its turn, where the queue is short.
                control_socket.connect(path)
                control_socket.settimeout(60.0)
                control_socket.sendall(call(number))
                doors.append(control_socket)
            return Counter(
                _decision(control_socket.makefile("rb").read()) for control_socket in doors
            )

    with many_files():
        assert world.ask(all_at_once) == {"deny": 500, "": 500}
    session = world.store.sessions.get(world.mine, 1)
    assert session is not None
    assert session.tools.tokens == 500 * 10, "none is lost"


def _decision(said: bytes) -> str:
    value = json.loads(said)["value"]
    return str(value.get("hookSpecificOutput", {}).get("permissionDecision", ""))


@contextmanager
def many_files() -> Iterator[None]:
    """Both ends of all the connections are ours."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    wanted = 4096 if hard == unlimited else min(4096, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_two_dozen_programs_at_once_are_all_answered(world: SocketWorld) -> None:
    call = json.dumps({"tool_name": "Bash", "tool_input": {"command": "git push"}}).encode()

    def all_at_once() -> set[bytes]:
        with ThreadPoolExecutor(24) as pool:
            done = pool.map(lambda _: hook(world, "pre-tool-use", call), range(24))
            return {one.stdout for one in done}

    (said,) = world.ask(all_at_once)
    assert json.loads(said)["hookSpecificOutput"]["permissionDecision"] == "deny"
