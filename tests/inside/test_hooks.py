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
from ralph.core.policy.decision import Git, Ground, Packaging, Phase, Policy
from ralph.core.policy.leash import Leash
from ralph.core.tool_uses import ToolUses
from ralph.inside.hooks import answer
from ralph.inside.tools import Caller
from tests.inside.house import House

HOOK = [sys.executable, "-m", "ralph", "hook"]


@pytest.fixture
def caller(house: House) -> Caller:
    assert house.door.session is not None
    assert house.door.claim is not None
    return Caller(store=house.store, session=house.door.session, claim=house.door.claim)


def before(caller: Caller, command: str, **policy: Any) -> tuple[dict[str, Any], Any]:
    payload = {"tool_name": "Bash", "tool_input": {"command": command, "timeout": 5}, "cwd": "/c"}
    leash = Leash(policy=Policy(**policy), ground=Ground(checkout="/c", home="/home/me"))
    said, told = answer("pre-tool-use", payload, caller, leash)
    return said.get("hookSpecificOutput", {}), told


def test_what_is_allowed_needs_no_word(caller: Caller) -> None:
    assert before(caller, "pytest -q && git commit -am done") == ({}, None)


def test_what_is_denied_says_why_and_what_to_do_instead(caller: Caller) -> None:
    said, told = before(caller, "git push origin main")
    assert said["permissionDecision"] == "deny"
    assert "push" in said["permissionDecisionReason"]
    assert (told.decision, told.tool) == ("denied", "Bash")
    assert told.command == "git push origin main"


def test_what_is_rewritten_keeps_the_rest_of_the_input(caller: Caller) -> None:
    said, told = before(caller, "pytest -q", packaging=Packaging.UV)
    assert said["permissionDecision"] == "allow"
    assert said["updatedInput"] == {"command": "uv run pytest -q", "timeout": 5}
    assert (told.decision, told.reason) == ("rewritten", "uv run pytest -q")


def test_what_cannot_be_decided_is_noted_or_denied(caller: Caller) -> None:
    said, told = before(caller, "$TOOL push")
    assert said == {}
    assert told.decision == "doubtful"
    said, _ = before(caller, "$TOOL push", strict=True)
    assert said["permissionDecision"] == "deny"


def test_where_ralph_commits_a_commit_is_denied(caller: Caller) -> None:
    said, _ = before(caller, "git commit -m x", git=Git.READ_ONLY)
    assert said["permissionDecision"] == "deny"


@pytest.mark.parametrize(
    "payload", [{}, {"tool_name": 7}, {"tool_input": []}, {"tool_name": "Bash", "cwd": 3}]
)
def test_an_odd_call_is_survived(caller: Caller, payload: dict[str, Any]) -> None:
    said, _ = answer("pre-tool-use", payload, caller, Leash())
    assert set(said) <= {"hookSpecificOutput"}


# Afterwards


def after(caller: Caller, **payload: Any) -> ToolUses:
    given = {"tool_name": "Bash", "tool_input": {"command": "make"}, **payload}
    assert answer("post-tool-use", given, caller, Leash()) == ({}, None)
    session = caller.store.session(caller.claim.task.id, 1)
    assert session is not None
    return session.tools


def test_what_tools_answer_is_counted_against_the_context(caller: Caller) -> None:
    uses = after(caller, tool_response={"stdout": "x" * 400, "stderr": "", "interrupted": False})
    assert uses == ToolUses(tokens=100)
    uses = after(caller, tool_response="y" * 40)
    assert uses == ToolUses(tokens=110)
    uses = after(caller, tool_response=[{"text": "z" * 40}])
    assert uses == ToolUses(tokens=120)
    edited = {"filePath": "/c/a.py", "originalFile": "x" * 4000, "structuredPatch": []}
    pictures = {"file": {"base64": "x" * 4000}}
    assert after(caller, tool_response=edited) == after(caller, tool_response=pictures) == uses
    assert after(caller, tool_response="x" * 400, agent_id="a-1") == uses, "a sub-agent's"


def test_a_tool_that_fails_is_remembered_until_one_works(caller: Caller) -> None:
    uses = after(caller, error="Exit code 3\nno such target")
    assert (uses.errors, uses.last_error) == (1, "Bash: Exit code 3 no such target")
    uses = after(caller, tool_response={"stdout": "fine"})
    assert (uses.errors, uses.last_error) == (1, "")


@pytest.mark.parametrize("odd", [None, 7, {}, [], {"a": [1, None, {"b": True}]}])
def test_odd_answers_take_no_room(caller: Caller, odd: object) -> None:
    assert after(caller, tool_name=3, tool_response=odd) == ToolUses()


def test_a_session_that_begins_needs_no_more_words(caller: Caller) -> None:
    assert answer("session-start", {"source": "startup"}, caller, Leash()) == ({}, None)


def test_a_session_that_goes_on_with_a_summary_hears_of_its_task_again(caller: Caller) -> None:
    after(caller, tool_response="x" * 400, error="")
    said, _ = answer("session-start", {"source": "compact"}, caller, Leash())
    told = said["hookSpecificOutput"]
    assert told["hookEventName"] == "SessionStart"
    assert caller.claim.task.name in told["additionalContext"]
    session = caller.store.session(caller.claim.task.id, 1)
    assert session is not None
    assert session.tools.tokens == 0, "the results are not in its context any more"


# Who only looks


def test_a_session_that_checks_others_is_on_the_leash_and_has_no_say(
    house: House, caller: Caller
) -> None:
    leash = Leash(phase=Phase.VALIDATION, speaks=False)
    edit = {"tool_name": "Edit", "tool_input": {"file_path": "/c/a.py"}}
    said, told = answer("pre-tool-use", edit, caller, leash)
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert isinstance(told, ToolJudged)
    for name in ("post-tool-use", "stop", "session-start"):
        assert answer(name, {"tool_response": "x" * 40}, caller, leash) == ({}, None)
    house.door.leash = leash
    assert house.ask(lambda: house.remote.find(house.mine)).id == house.mine
    with pytest.raises(UsageError, match="may only look"):
        house.ask(lambda: house.remote.force_done(house.mine))
    assert house.told() is None


# Ending


@pytest.mark.parametrize(
    "last", ["It works.", "", None, "<task-done>ID</task-done>", "task-done t-000001"]
)
def test_a_session_that_ends_without_a_word_is_reminded(caller: Caller, last: str | None) -> None:
    said, _ = answer("stop", {"last_assistant_message": last}, caller, Leash())
    assert said["decision"] == "block"
    assert caller.claim.task.name in said["reason"]


def test_once_is_enough(caller: Caller) -> None:
    assert answer("stop", {"stop_hook_active": True}, caller, Leash()) == ({}, None)


@pytest.mark.parametrize(
    "last",
    [
        "<task-done>t-000001</task-done>",
        "<task-failed>t-000001</task-failed>",
        "so\n<promise>FAILURE</promise>",
    ],
)
def test_a_session_that_has_spoken_may_go(caller: Caller, last: str) -> None:
    assert answer("stop", {"last_assistant_message": last}, caller, Leash()) == ({}, None)


def test_a_claim_over_the_door_is_a_word_too(caller: Caller) -> None:
    caller.store.tell(caller.session.id, "done")
    assert answer("stop", {}, caller, Leash()) == ({}, None)


# At the command


def hook(house: House, name: str, given: bytes, **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*HOOK, name],
        input=given,
        env={"PATH": os.environ["PATH"], **house.variables, **env},
        capture_output=True,
        check=False,
    )


def test_the_command_asks_the_loop(house: House) -> None:
    call = {"tool_name": "Bash", "tool_input": {"command": "git push"}}
    done = house.ask(lambda: hook(house, "pre-tool-use", json.dumps(call).encode()))
    assert (done.returncode, done.stderr) == (0, b"")
    said = json.loads(done.stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    (told,) = [one.event for one in house.store.events() if isinstance(one.event, ToolJudged)]
    assert told.decision == "denied"


@pytest.mark.parametrize(
    ("name", "given", "env"),
    [
        ("pre-tool-use", b"{", {}),
        ("pre-tool-use", b"\xff", {}),
        ("pre-tool-use", b'{"tool_name": "\xff"}', {}),
        ("pre-tool-use", b'{"a": %s%s}' % (b"[" * 10_000, b"]" * 10_000), {}),
        ("pre-tool-use", b"[]", {}),
        ("pre-tool-use", b'"Bash"', {}),
        ("pre-tool-use", b'{"tool_name": "%s"}' % (b"x" * 2**24), {}),
        ("pre-tool-use", b"{}", {"RALPH_SOCKET": "/nowhere"}),
        ("pre-tool-use", b"{}", {"RALPH_TOKEN": "guess"}),
        ("pre-tool-use", b"{}", {"RALPH_TOKEN": ""}),
        ("fly", b"{}", {}),
    ],
    ids=range(11),
)
def test_where_the_loop_cannot_be_asked_the_tool_is_not_used(
    house: House, name: str, given: bytes, env: dict[str, str]
) -> None:
    done = house.ask(lambda: hook(house, name, given, **env))
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"ralph: ")
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("answered", [b"", b'{"value":{"hookSpecificOutput":{}', b'{"er'])
def test_half_an_answer_is_none(house: House, tmp_path: Path, answered: bytes) -> None:
    """The loop was killed while it spoke."""
    path = str(tmp_path / "door")
    with socket.socket(socket.AF_UNIX) as door, ThreadPoolExecutor(1) as pool:
        door.bind(path)
        door.listen()
        asked = pool.submit(hook, house, "pre-tool-use", b"{}", RALPH_SOCKET=path)
        guest, _ = door.accept()
        with guest:
            guest.recv(10_000)
            guest.sendall(answered)
        done = asked.result()
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"ralph: the loop")


def test_a_tool_that_is_asked_for_in_a_mere_text_is_judged_by_it(caller: Caller) -> None:
    payload = {"tool_name": "Bash", "tool_input": "git push"}
    said, told = answer("pre-tool-use", payload, caller, Leash())
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert isinstance(told, ToolJudged)
    assert told.command == "git push"


@pytest.mark.parametrize("shut", ["<&-", ">&-"])
def test_without_a_way_to_ask_or_to_answer_the_tool_is_not_used(house: House, shut: str) -> None:
    call = '{"tool_name": "Bash", "tool_input": {"command": "git push"}}'
    line = f"printf %s '{call}' | {shlex.quote(sys.executable)} -m ralph hook pre-tool-use {shut}"
    env = {"PATH": os.environ["PATH"], **house.variables}
    done = house.ask(
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


DEEP = b'{"a": %s%s}' % (b"[" * 10_000, b"]" * 10_000)


@pytest.mark.parametrize(
    ("given", "agent"),
    [(b"{", "claude"), (b"{}", "nobody"), (b'{"a": "\xff"}', "claude"), (DEEP, "claude")],
    ids=range(4),
)
def test_what_cannot_be_decided_there_is_not_done(tmp_path: Path, given: bytes, agent: str) -> None:
    done = here(tmp_path, given, "--agent", agent)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"ralph: ")


@pytest.mark.parametrize("name", ["post-tool-use", "stop", "session-start"])
def test_what_has_happened_is_not_held_up_by_a_loop_that_is_gone(house: House, name: str) -> None:
    done = hook(house, name, b"{}", RALPH_SOCKET="/nowhere")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"ralph: ")


def test_a_thousand_calls_at_once_are_all_answered_and_counted(house: House) -> None:
    """All of them are under way before the first answer is read: half of them ask, half tell."""
    path, token = house.variables["RALPH_SOCKET"], house.variables["RALPH_TOKEN"]
    used = {"tool_name": "Bash", "tool_input": {"command": "git push"}, "cwd": "/c"}

    def call(number: int) -> bytes:
        name = "post-tool-use" if number % 2 else "pre-tool-use"
        args = {"name": name, "payload": {**used, "tool_response": "x" * 40}}
        return json.dumps({"token": token, "method": "hook", "args": args}).encode() + b"\n"

    def all_at_once() -> Counter[str]:
        with ExitStack() as stack:
            doors = []
            for number in range(1000):
                door = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
                # Without a time limit it waits for its turn, where the queue is short.
                door.connect(path)
                door.settimeout(60.0)
                door.sendall(call(number))
                doors.append(door)
            return Counter(_decision(door.makefile("rb").read()) for door in doors)

    with many_files():
        assert house.ask(all_at_once) == {"deny": 500, "": 500}
    session = house.store.session(house.mine, 1)
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


def test_two_dozen_programs_at_once_are_all_answered(house: House) -> None:
    call = json.dumps({"tool_name": "Bash", "tool_input": {"command": "git push"}}).encode()

    def all_at_once() -> set[bytes]:
        with ThreadPoolExecutor(24) as pool:
            done = pool.map(lambda _: hook(house, "pre-tool-use", call), range(24))
            return {one.stdout for one in done}

    (said,) = house.ask(all_at_once)
    assert json.loads(said)["hookSpecificOutput"]["permissionDecision"] == "deny"
