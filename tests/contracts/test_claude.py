"""Claude Code: how it is started, and who pays."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from ralph.adapters.agents.claude.agent import Claude, billing_account
from ralph.core.policy.decision import Phase
from ralph.ports.agent import Agent, AgentSetup, Brief, SessionTerms
from ralph.testing.agent_contract import AgentContract, a_brief

CLAUDE = Claude(AgentSetup())


class TestClaude(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return CLAUDE


def brief(text: str = "do it", **terms: Any) -> Brief:
    return replace(
        a_brief(text), rules="Be kind.", rules_path="/tmp/rules.md", terms=SessionTerms(**terms)
    )


def test_a_session_in_a_sandbox_asks_for_nothing() -> None:
    launch = CLAUDE.command(brief(sandboxed=True))
    assert " ".join(launch.argv) == (
        "claude -p --output-format stream-json --verbose --include-partial-messages"
        " --no-session-persistence --append-system-prompt-file /tmp/rules.md"
        " --dangerously-skip-permissions"
    )
    assert launch.stdin == b"do it"


def test_a_session_without_a_sandbox_gets_a_list_of_tools() -> None:
    launch = CLAUDE.command(brief())
    assert "--dangerously-skip-permissions" not in launch.argv
    assert " ".join(launch.argv).endswith(
        "--permission-mode dontAsk --allowedTools Bash Edit Write Read Glob Grep"
        " NotebookEdit Task TodoWrite WebFetch WebSearch"
    )


def test_terms_are_passed_on() -> None:
    launch = CLAUDE.command(brief(model="opus", max_turns=7, budget_usd=1.5, read_only=True))
    line = " ".join(launch.argv)
    for part in (
        "--model opus --append",
        "--max-turns 7 --",
        "--max-budget-usd 1.500000 --",
        "--disallowedTools Edit Write NotebookEdit --",
    ):
        assert part in line


def test_without_a_file_the_rules_stand_before_the_prompt() -> None:
    launch = CLAUDE.command(replace(brief(), rules_path=""))
    assert launch.stdin == b"Be kind.\n\ndo it"
    assert "--append-system-prompt-file" not in launch.argv


@pytest.mark.parametrize(
    ("is_sandboxed", "as_root", "told"),
    [(True, True, "1"), (True, False, None), (False, True, None)],
)
def test_only_root_in_a_sandbox_says_that_there_is_one(
    is_sandboxed: bool,  # noqa: FBT001
    as_root: bool,  # noqa: FBT001
    told: str | None,
) -> None:
    launch = CLAUDE.command(brief(sandboxed=is_sandboxed, as_root=as_root))
    assert launch.env.get("IS_SANDBOX") == told


def test_it_phones_nobody_and_does_not_retry_for_minutes() -> None:
    env = CLAUDE.command(brief()).env
    assert env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] == "1"
    assert int(env["CLAUDE_CODE_MAX_RETRIES"]) < 10


@pytest.mark.parametrize(
    ("phase", "tools"),
    [
        ("discovery", "AskUserQuestion,Bash,Glob,Grep,Read,Task,WebFetch,WebSearch,Write"),
        ("planning", "Bash,ExitPlanMode,Glob,Grep,Read,Task,WebFetch,WebSearch,Write"),
        ("validation", "Bash,Glob,Grep,Read,Task,WebFetch"),
    ],
)
def test_a_phase_has_its_own_tools_and_hooks_that_mind_them(phase: str, tools: str) -> None:
    terms = {"phase": Phase(phase), "hooks": ("ralph", "hook")}
    for launch in (CLAUDE.command(brief(**terms)), CLAUDE.interactive_command(brief(**terms))):  # type: ignore[arg-type]
        assert launch.argv[launch.argv.index("--tools") + 1] == tools
        settings = json.loads(launch.argv[launch.argv.index("--settings") + 1])
        (asked,) = settings["hooks"]["PreToolUse"]
        assert asked["hooks"] == [{"type": "command", "command": "ralph hook pre-tool-use"}]


def test_a_building_session_can_search_and_one_that_checks_can_only_look() -> None:
    hooks = ("ralph", "hook")
    argv = CLAUDE.command(brief(hooks=hooks)).argv
    building = argv[argv.index("--tools") + 1].split(",")
    assert {"Bash", "Edit", "Glob", "Grep", "Read", "Write"} <= {*building}
    argv = CLAUDE.command(
        brief(hooks=hooks, phase=Phase.VALIDATION, read_only=True, checks=True)
    ).argv
    assert argv[argv.index("--tools") + 1] == "Bash,Glob,Grep,Read"


def test_with_a_person_the_prompt_is_the_first_message_and_permission_is_asked_for() -> None:
    launch = CLAUDE.interactive_command(brief(read_only=True))
    assert launch.argv == (
        *("claude", "--append-system-prompt-file", "/tmp/rules.md"),
        *("--disallowedTools", "Edit", "Write", "NotebookEdit", "--", "do it"),
    )


def test_with_a_person_a_long_prompt_is_a_file() -> None:
    launch = CLAUDE.interactive_command(brief("é" * 100_000))
    assert launch.argv[-1].startswith("What is to be done is in /tmp/a brief.md: ")


# Who pays

LOGIN = {".credentials.json": b'{"claudeAiOauth":{"accessToken":"t","subscriptionType":"max"}}'}


@pytest.mark.parametrize(
    ("env", "files", "name", "billed"),
    [
        ({"ANTHROPIC_API_KEY": "k"}, LOGIN, "an Anthropic API key", True),
        ({"ANTHROPIC_AUTH_TOKEN": "k"}, LOGIN, "the owner of ANTHROPIC_AUTH_TOKEN", None),
        ({"CLAUDE_CODE_OAUTH_TOKEN": "k"}, {}, "a Claude subscription (token)", False),
        ({}, LOGIN, "a Claude subscription (max)", False),
        (
            {},
            {".credentials.json": b'{"claudeAiOauth":{"accessToken":"t","subscriptionType":5}}'},
            "a Claude subscription",
            False,
        ),
        ({}, {"settings.json": b'{"apiKeyHelper":"x"}'}, "an API key from apiKeyHelper", True),
        (
            {},
            {**LOGIN, "settings.json": b'{"env":{"ANTHROPIC_API_KEY":"k"},"apiKeyHelper":5}'},
            "an Anthropic API key",
            True,
        ),
    ],
)
def test_who_pays(
    env: dict[str, str],
    files: dict[str, bytes],
    name: str,
    billed: bool | None,  # noqa: FBT001
) -> None:
    found = CLAUDE.account(env, files)
    assert (found.name, found.billed, found.logged_in) == (name, billed, True)
    assert "k" not in found.name.split()


def test_a_cloud_pays_before_all_others() -> None:
    found = CLAUDE.account({"CLAUDE_CODE_USE_BEDROCK": "1", "ANTHROPIC_API_KEY": "k"}, LOGIN)
    assert (found.name, found.billed) == ("Amazon Bedrock", True)


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b'{"claudeAiOauth":null}'])
def test_nobody_pays_who_is_not_logged_in(data: bytes) -> None:
    files = {".credentials.json": data, "settings.json": data}
    assert billing_account({}, files, "linux").logged_in is False
    # There the login is in the key chain, where nobody looks without being asked.
    assert billing_account({}, files, "darwin").logged_in is None
