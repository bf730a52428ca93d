"""Codex: how it is started, what its lines mean, who pays."""

import base64
import json
import subprocess
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from ralph.adapters.agents.codex.agent import Codex
from ralph.adapters.agents.codex.output import failure_of_message
from ralph.core.agent_events import (
    AgentEvent,
    AgentProblem,
    AgentRetry,
    AgentStarted,
    SessionResultEvent,
    Text,
    Thinking,
    TokenUsage,
    ToolDenied,
    ToolResult,
    ToolUse,
    UnknownLine,
)
from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import EndingKind
from ralph.core.session_output import StreamSummary
from ralph.ports.agent import Agent, AgentSetup, Brief, SessionTerms
from ralph.testing.agent_contract import AgentContract, a_brief
from tests.contracts.recorded_output import SESSIONS, ended, heard

FINGERPRINT = "sha256:f83125399d747f84dc3d31cb5e00643b4ba7e58d6757a54ffbed7f5439303405"
"""What Codex 0.166.0 itself says (`hooks/list` of its app server) of the hook in the test below."""

BYPASS = "--dangerously-bypass-approvals-and-sandbox"


class TestCodex(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return Codex(AgentSetup())


def codex() -> Codex:
    return Codex(AgentSetup())


def events(*lines: dict[str, object]) -> list[AgentEvent]:
    return list(codex().read(b"\n".join(json.dumps(line).encode() for line in lines)))


def item(kind: str, **fields: object) -> list[AgentEvent]:
    return events({"type": kind, "item": {"id": "item_1", **fields}})


def a_checkout(path: Path, **terms: object) -> Brief:
    return replace(a_brief(), checkout=str(path), terms=SessionTerms(**terms))  # type: ignore[arg-type]


def settings(argv: tuple[str, ...]) -> dict[str, object]:
    given = [word for flag, word in pairwise(argv) if flag == "-c"]
    found: dict[str, object] = {}
    for word in given:
        name, _, value = word.partition("=")
        found[name] = tomllib.loads(f"value = {value}")["value"]
    return found


def git(*words: str, cwd: Path) -> None:
    subprocess.run(["git", *words], cwd=cwd, check=True, capture_output=True)


def test_the_prompt_goes_to_stdin_with_the_rules_before_it() -> None:
    launch = codex().command(replace(a_brief("do it"), rules="be kind", rules_path="/tmp/rules"))
    assert launch.argv[-1] == "-"
    assert launch.stdin == b"be kind\n\ndo it"


def test_a_prompt_that_it_would_not_take_is_a_file() -> None:
    fits, large = (replace(a_brief("x" * size), rules="be kind") for size in (900_000, 2_000_000))
    assert len(codex().command(fits).stdin) > 900_000
    stdin = codex().command(large).stdin.decode()
    assert stdin.startswith("be kind\n\nWhat is to be done is in /tmp/a brief.md: ")


def test_only_in_a_sandbox_it_works_without_its_own_sandbox(tmp_path: Path) -> None:
    assert BYPASS in codex().command(a_checkout(tmp_path, sandboxed=True)).argv
    free = codex().command(a_checkout(tmp_path)).argv
    assert BYPASS not in free
    assert free[free.index("--sandbox") + 1] == "workspace-write"
    assert settings(free)["approval_policy"] == "never"


def test_a_model_is_passed_on_only_where_one_is_chosen(tmp_path: Path) -> None:
    assert "--model" not in codex().command(a_checkout(tmp_path)).argv
    argv = codex().command(a_checkout(tmp_path, model="gpt-5.5")).argv
    assert argv[argv.index("--model") + 1] == "gpt-5.5"


def test_in_its_own_sandbox_git_may_write(tmp_path: Path) -> None:
    git("init", "-q", cwd=tmp_path)
    (tmp_path / "part").mkdir()
    for folder in (tmp_path, tmp_path / "part"):
        set_to = settings(codex().command(a_checkout(folder)).argv)
        assert set_to["sandbox_workspace_write.writable_roots"] == [str(tmp_path / ".git")]


def test_in_a_linked_worktree_both_of_its_folders_are_writable(tmp_path: Path) -> None:
    main, linked = tmp_path / "main", tmp_path / "linked"
    main.mkdir()
    git("init", "-q", cwd=main)
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--allow-empty", "-qm1", cwd=main)
    git("worktree", "add", "-q", str(linked), cwd=main)
    assert settings(codex().command(a_checkout(linked)).argv)[
        "sandbox_workspace_write.writable_roots"
    ] == [str(main / ".git/worktrees/linked"), str(main / ".git")]


def test_an_empty_folder_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    set_to = settings(codex().command(a_checkout(tmp_path)).argv)
    assert set_to["sandbox_workspace_write.writable_roots"] == []


@pytest.mark.parametrize("is_sandboxed", [True, False])
def test_a_checkout_among_temporary_files_gets_others(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_sandboxed: bool,  # noqa: FBT001
) -> None:
    brief = a_checkout(tmp_path / "checkout", sandboxed=is_sandboxed)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    chosen = codex().command(brief).env.get("TMPDIR")
    assert is_sandboxed == (chosen is None)
    assert is_sandboxed or not tmp_path.is_relative_to(str(chosen))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "elsewhere"))
    assert "TMPDIR" not in codex().command(brief).env


@pytest.mark.parametrize("text", ["", "gitdir:", "gitdir: /nowhere/at/all"])
def test_a_checkout_that_git_would_not_know_is_no_reason_to_fail(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text)
    assert codex().command(a_checkout(tmp_path)).argv


def test_with_a_person_it_may_ask(tmp_path: Path) -> None:
    argv = codex().interactive_command(a_checkout(tmp_path)).argv
    assert (argv[0], argv[-1]) == ("codex", "do it")
    assert settings(argv)["approval_policy"] == "on-request"


def test_that_ralph_trusts_its_own_hook_is_no_news() -> None:
    [session] = [one for one in SESSIONS if one.agent == "codex" and one.name.endswith("-hooks")]
    events, _ = heard(codex(), [session.output])
    assert b"hook-trust" in session.output
    assert "hook-trust" not in str(events)


def test_with_a_person_a_hook_of_this_session_alone_minds_the_phase(tmp_path: Path) -> None:
    asked = ("/bin/a ralph", "hook", "--phase", "planning")
    argv = codex().interactive_command(a_checkout(tmp_path, hooks=asked)).argv
    given = settings(argv)
    command = "'/bin/a ralph' hook --phase planning pre-tool-use"
    assert given["hooks.PreToolUse"] == [
        {"hooks": [{"type": "command", "command": command, "timeout": 60}]}
    ]
    # Not by the switch that trusts every hook, also those of the repository.
    assert given["hooks.state"] == {
        "/<session-flags>/config.toml:pre_tool_use:0:0": {"trusted_hash": FINGERPRINT}
    }
    assert "--dangerously-bypass-hook-trust" not in argv


def test_with_a_person_a_long_prompt_is_a_file() -> None:
    argv = codex().interactive_command(a_brief("x" * 1_000_000)).argv
    assert argv[-1].startswith("What is to be done is in /tmp/a brief.md: ")


def test_a_session_from_start_to_end() -> None:
    assert events(
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"type": "reasoning", "text": "hm"}},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "done"}},
        {
            "type": "turn.completed",
            "usage": {"input_tokens": 30, "cached_input_tokens": 20, "output_tokens": 5},
        },
    ) == [
        AgentStarted(),
        Thinking(text="hm"),
        Text(text="done"),
        SessionResultEvent(usage=TokenUsage(input_tokens=30, cached_tokens=20, output_tokens=5)),
    ]


def test_a_command_is_shown_without_the_shell_around_it() -> None:
    command = {"type": "command_execution", "command": "/bin/bash -lc 'make && echo \"ok\"'"}
    assert item("item.started", **command) == [
        ToolUse(name="shell", summary='make && echo "ok"', call="item_1")
    ]


@pytest.mark.parametrize(
    "command", ["bash -lc 'unclosed", "git status", "bash -lc " + "x" * 30_000, "/bin/sh -c a b"]
)
def test_a_command_of_another_shape_is_shown_as_it_is(command: str) -> None:
    (use,) = item("item.started", type="command_execution", command=command)
    assert isinstance(use, ToolUse)
    assert use.summary[:200] == command[:200]


def test_a_command_that_fails_is_an_error_with_the_end_of_its_output() -> None:
    output = "x" * 10_000 + "the reason"
    (result,) = item(
        "item.completed", type="command_execution", aggregated_output=output, exit_code=2
    )
    assert isinstance(result, ToolResult)
    assert (result.call, result.error) == ("item_1", True)
    assert result.text.endswith("the reason")
    assert len(result.text) < 3000


def test_a_command_that_was_declined_is_denied_and_closed() -> None:
    denied, result = item(
        "item.completed", type="command_execution", command="rm -rf /", status="declined"
    )
    assert denied == ToolDenied(name="shell", summary="rm -rf /")
    assert result == ToolResult(call="item_1", error=True)


def test_changes_to_files_are_named() -> None:
    changes = [{"path": "a.py", "kind": "add"}, {"path": "b.py", "kind": "update"}]
    assert item("item.started", type="file_change", changes=changes) == [
        ToolUse(name="patch", summary="add a.py, update b.py", call="item_1")
    ]


def test_tools_of_servers_have_their_servers_name_and_answer_in_words() -> None:
    call = {"type": "mcp_tool_call", "server": "db", "tool": "ask", "arguments": {"query": "all"}}
    answer = {"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}
    assert item("item.started", **call) == [ToolUse(name="db.ask", summary="all", call="item_1")]
    assert item("item.completed", **call, result=answer, status="completed") == [
        ToolResult(call="item_1", text="one\ntwo")
    ]
    assert item("item.completed", **call, error={"message": "gone"}, status="failed") == [
        ToolResult(call="item_1", text="gone", error=True)
    ]


@pytest.mark.parametrize("kind", ["item.started", "item.updated"])
def test_a_list_of_things_to_do_is_no_tool_that_runs(kind: str) -> None:
    steps = [{"text": "one", "completed": True}, {"text": "two", "completed": False}]
    digest = StreamSummary()
    shown = item(kind, type="todo_list", items=steps)
    for event in shown:
        digest.add(event)
    assert shown[0] == ToolUse(name="todo_list", summary="1/2 two", call="item_1")
    assert not digest.open_calls


def test_a_list_of_things_to_do_that_is_told_at_the_end_does_not_hide_the_last_message() -> None:
    (session,) = [one for one in SESSIONS if one.name == "0.166.0-todo-list"]
    assert ended(session, session.output).message == "All done.\n<task-done>t-abc123</task-done>"


def test_a_warning_changes_nothing() -> None:
    digest = StreamSummary()
    for event in item("item.completed", type="error", message="Model metadata not found"):
        digest.add(event)
    assert codex().ending(digest, ProcessExit(code=-15)).ended is EndingKind.KILLED


def test_what_it_tries_again_is_no_trouble() -> None:
    assert events({"type": "error", "message": "Reconnecting... 3/5 (429 Too Many Requests)"}) == [
        AgentRetry(message="Reconnecting... 3/5 (429 Too Many Requests)", attempt=3)
    ]
    (waiting,) = events({"type": "error", "message": "Reconnecting... waiting for network (no)"})
    assert isinstance(waiting, AgentRetry)


def test_what_it_does_not_try_again_is_trouble() -> None:
    assert events({"type": "error", "message": "unexpected status 401 Unauthorized: no"}) == [
        AgentProblem(
            message="unexpected status 401 Unauthorized: no",
            failure=EndingKind.AUTH_EXPIRED,
        )
    ]


def test_an_item_that_nobody_knows_is_kept() -> None:
    assert item("item.completed", type="hologram") == [UnknownLine(line="item hologram")]
    assert item("item.started", type="hologram") == []


def said(*lines: dict[str, object], code: int = 0) -> tuple[EndingKind, str]:
    digest = StreamSummary()
    for event in events(*lines):
        digest.add(event)
    ending = codex().ending(digest, ProcessExit(code=code))
    return ending.ended, ending.message


def a_message(text: str) -> dict[str, object]:
    return {"type": "item.completed", "item": {"type": "agent_message", "text": text}}


A_COMMAND: dict[str, object] = {
    "type": "item.started",
    "item": {"id": "item_9", "type": "command_execution", "command": "true"},
}
THE_END: dict[str, object] = {"type": "turn.completed", "usage": {}}


def test_the_last_message_is_the_final_one() -> None:
    assert said(a_message("one"), A_COMMAND, a_message("two"), THE_END) == (
        EndingKind.FINISHED,
        "two",
    )


def test_what_was_said_before_something_was_done_is_not_final() -> None:
    assert said(a_message("one"), A_COMMAND, THE_END) == (EndingKind.FINISHED, "")


def test_what_is_said_after_the_end_does_not_count() -> None:
    assert said(a_message("one"), THE_END, a_message("two"), A_COMMAND) == (
        EndingKind.FINISHED,
        "one",
    )


def test_what_the_model_writes_about_limits_is_no_limit() -> None:
    ending = said(a_message("You've hit your usage limit. Try again at 7:44 AM."), code=1)
    assert ending == (EndingKind.NO_RESULT, "")


def test_a_message_before_a_failure_is_no_claim() -> None:
    failure: dict[str, object] = {"type": "turn.failed", "error": {"message": "no"}}
    assert said(a_message("done"), failure, THE_END) == (EndingKind.AGENT_ERROR, "")


@pytest.mark.parametrize(
    ("message", "ended"),
    [
        ("You've hit your usage limit for codex_other. Switch to another model", "usage_limit"),
        ("You\u2019ve hit your usage limit. Try again later.", "usage_limit"),
        ("Your workspace is out of credits. Add credits to continue.", "billing"),
        ("You hit your spend cap set by the owner of your workspace.", "billing"),
        ("unexpected status 429 Too Many Requests: insufficient_quota", "billing"),
        ("unexpected status 503 Service Unavailable: try later", "overloaded"),
        ("Error while reading the server response: error decoding body", "overloaded"),
        ("request timed out", "overloaded"),
        ("Your access token could not be refreshed. Please log out and sign in again.", "auth"),
        ("Something that nobody has heard of", None),
    ],
)
def test_the_programs_words_say_what_kind_of_failure_it_is(message: str, ended: str | None) -> None:
    found = failure_of_message(message)
    assert found == {"auth": EndingKind.AUTH_EXPIRED}.get(str(ended), ended)


def test_a_program_without_its_better_half_is_not_installed() -> None:
    stderr = "Error: Missing optional dependency @openai/codex-linux-x64. Reinstall Codex\n"
    assert (
        codex().ending(StreamSummary(), ProcessExit(code=1, stderr=stderr)).ended
        is EndingKind.NOT_INSTALLED
    )


def test_a_prompt_that_it_does_not_take_is_too_long() -> None:
    stderr = (
        "Error: turn/start: turn/start failed: Input exceeds the maximum length of 1048576"
        ' characters. (code -32602), data: {"input_error_code":"input_too_large"}\n'
    )
    assert (
        codex().ending(StreamSummary(), ProcessExit(code=1, stderr=stderr)).ended
        is EndingKind.PROMPT_TOO_LONG
    )


def a_token(claims: object) -> str:
    part = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"head.{part}.sign"


def a_login(**fields: object) -> dict[str, bytes]:
    return {"auth.json": json.dumps(fields).encode()}


def test_a_subscription_pays_with_its_plan() -> None:
    token = a_token({"https://api.openai.com/auth": {"chatgpt_plan_type": "plus"}})
    account = codex().account({}, a_login(tokens={"id_token": token, "access_token": "a"}))
    assert account.name == "a ChatGPT subscription (plus)"
    assert (account.billed, account.logged_in) == (False, True)


@pytest.mark.parametrize("token", ["", "a.b.c", "x", a_token([1]), a_token({}), "a.\u20ac.c"])
def test_a_token_that_says_nothing_is_a_subscription_still(token: str) -> None:
    account = codex().account({}, a_login(tokens={"id_token": token, "access_token": "a"}))
    assert account.name == "a ChatGPT subscription"


def test_a_key_pays_by_use() -> None:
    stored = codex().account({}, a_login(OPENAI_API_KEY="k", tokens=None))
    passed = codex().account({"CODEX_API_KEY": "k"}, a_login(tokens={"access_token": "a"}))
    assert [stored.billed, passed.billed] == [True, True]
    assert "auth.json" in stored.name
    assert "CODEX_API_KEY" in passed.name


def test_a_provider_of_ones_own_comes_first() -> None:
    config = b'model_provider = "mine"\n[model_providers.mine]\nenv_key = "MY_KEY"\n'
    files = {"config.toml": config, **a_login(OPENAI_API_KEY="k")}
    without, with_key = codex().account({}, files), codex().account({"MY_KEY": "k"}, files)
    assert without.name == "the provider mine of config.toml"
    assert [without.logged_in, with_key.logged_in] == [False, True]
    assert without.billed is None


@pytest.mark.parametrize(
    "config",
    [
        b"",
        b"not toml [",
        b'model_provider = "openai"\n',
        b"model_provider = 1\nmodel_providers = 2\n",
        b'model_provider = "a"\n[model_providers.a]\nrequires_openai_auth = true\n',
    ],
)
def test_else_it_is_openai_itself(config: bytes) -> None:
    assert codex().account({}, {"config.toml": config}).logged_in is False


def test_a_login_in_a_keyring_cannot_be_looked_at() -> None:
    config = {"config.toml": b'cli_auth_credentials_store = "keyring"\n'}
    account = codex().account({}, config)
    assert (account.name, account.logged_in) == (
        "the login in the keyring, if it can be reached",
        None,
    )


@pytest.mark.parametrize("data", [b"", b"[]", b'{"tokens": 5}', b"\xff"])
def test_a_login_that_cannot_be_read_is_said(data: bytes) -> None:
    assert "auth.json" in codex().account({}, {"auth.json": data}).name


def test_a_session_gets_nothing_of_the_configuration_that_runs_commands() -> None:
    home = Codex.traits.home
    assert home is not None
    taken = {key for excerpt in home.excerpts for key in excerpt.keys}
    assert taken.isdisjoint({"hooks", "mcp_servers", "notify", "projects", "profiles"})
    # A refreshed login must end up in the file that is copied back.
    assert "cli_auth_credentials_store" not in taken


def test_where_stories_are_can_be_written(tmp_path: Path) -> None:
    (tmp_path / ".agents/tasks").mkdir(parents=True)
    set_to = settings(codex().command(a_checkout(tmp_path)).argv)
    assert set_to["sandbox_workspace_write.writable_roots"] == [str(tmp_path / ".agents/tasks")]
