"""Claude Code: how it is started, what it says, how it ends, who pays."""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.adapters.agents.claude.output import STDERR, read_output
from ralph.adapters.agents.command_parts import claude_style_hooks, first_message, prompt_text
from ralph.adapters.agents.json_lines import decode_leniently
from ralph.adapters.agents.request_failures import ending_of_session
from ralph.core.policy.decision import Phase
from ralph.core.policy.tools import TOOLS, AgentTools
from ralph.core.process_exit import ProcessExit
from ralph.core.safe_text import one_line
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.session_output import StreamSummary
from ralph.ports import agent

CREDENTIALS: Final = ".credentials.json"
SETTINGS: Final = "settings.json"
CLOUDS: Final = {
    "CLAUDE_CODE_USE_BEDROCK": "Amazon Bedrock",
    "CLAUDE_CODE_USE_VERTEX": "Google Vertex AI",
    "CLAUDE_CODE_USE_FOUNDRY": "Microsoft Foundry",
}
TRAITS: Final = agent.AgentTraits(
    name="claude",
    program="claude",
    install_hint="npm install -g @anthropic-ai/claude-code",
    login_hint="run `claude` once and log in, or run `claude setup-token`, set"
    ' CLAUDE_CODE_OAUTH_TOKEN, and name it in [agent] pass_env = ["CLAUDE_CODE_OAUTH_TOKEN"]',
    keys=(
        *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"),
        *("ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_OAUTH_TOKEN", *CLOUDS),
    ),
    home=agent.AgentHome(
        variable="CLAUDE_CONFIG_DIR",
        folder=".claude",
        credentials=(CREDENTIALS,),
        # `env` holds the address and key of a gateway, where there is one.
        excerpts=(
            agent.ConfigExcerpt(
                file=SETTINGS, keys=("apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "env")
            ),
        ),
    ),
    models={"haiku": "haiku", "sonnet": "sonnet", "opus": "opus"},
    has_hooks=True,
    skills=".claude/skills",
    tools=AgentTools(
        names={
            **dict.fromkeys(("MultiEdit", "NotebookEdit"), ("Edit",)),
            **dict.fromkeys(("BashOutput", "KillShell", "KillBash", "Monitor"), ("Bash",)),
            **dict.fromkeys(("NotebookRead", "LSP", "Skill", "ToolSearch"), ("Read",)),
            **dict.fromkeys(("ListMcpResourcesTool", "ReadMcpResourceTool"), ("Read",)),
            **dict.fromkeys(("Agent", "TaskOutput", "TaskStop"), ("Task",)),
            **dict.fromkeys(("TaskCreate", "TaskUpdate", "TaskList", "TaskGet"), ("TodoWrite",)),
            "TodoRead": ("TodoWrite",),
            "LS": ("Glob",),
            "EnterPlanMode": ("ExitPlanMode",),
            # How it answers when it was asked for JSON.
            "StructuredOutput": ("Read",),
        }
    ),
)


ALLOWED: Final = (
    *("Bash", "Edit", "Write", "Read", "Glob", "Grep"),
    *("NotebookEdit", "Task", "TodoWrite", "WebFetch", "WebSearch"),
)
"""The tools of a session without a sandbox; it denies all others."""

WRITE_TOOLS: Final = ("Edit", "Write", "NotebookEdit")
"""Denied to a session that only reads."""

CHECK_TOOLS: Final = ("Bash", "Glob", "Grep", "Read")
"""The tools of a session that checks another one's work."""

CLAUDE_ONLY_TOOLS: Final = ("BashOutput", "KillShell", "NotebookEdit", "Skill")
"""Tools of its own that belong to those of the table."""

HOOKS: Final = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionStart")

RETRIES: Final = 5
"""About a quarter of a minute, so that a short failure does not cost a session. Ralph itself waits
longer; left alone, the program goes on for minutes, even without a login."""


class _Login(msgspec.Struct, frozen=True, kw_only=True):
    token: str = msgspec.field(name="accessToken", default="")
    plan: str | None = msgspec.field(name="subscriptionType", default=None)


class _Credentials(msgspec.Struct, frozen=True, kw_only=True):
    login: _Login = msgspec.field(name="claudeAiOauth", default=_Login())


class _Settings(msgspec.Struct, frozen=True, kw_only=True):
    helper: str = msgspec.field(name="apiKeyHelper", default="")
    env: dict[str, str] = {}


def billing_account(
    env: Mapping[str, str], files: Mapping[str, bytes], platform: str = sys.platform
) -> agent.BillingAccount:
    settings = decode_leniently(files.get(SETTINGS, b"{}"), _Settings)
    login = decode_leniently(files.get(CREDENTIALS, b"{}"), _Credentials).login
    env = {**env, **settings.env}
    for name, cloud in CLOUDS.items():
        if env.get(name) not in (None, "", "0", "false"):
            return agent.BillingAccount(name=cloud, billed=True)
    plan = f" ({one_line(login.plan, 40)})" if login.plan else ""
    for is_used, name, billed in (
        (env.get("ANTHROPIC_AUTH_TOKEN"), "the owner of ANTHROPIC_AUTH_TOKEN", None),
        (env.get("ANTHROPIC_API_KEY"), "an Anthropic API key", True),
        (settings.helper, "an API key from apiKeyHelper", True),
        (env.get("CLAUDE_CODE_OAUTH_TOKEN"), "a Claude subscription (token)", False),
        (login.token, f"a Claude subscription{plan}", False),
    ):
        if is_used:
            return agent.BillingAccount(name=name, billed=billed, logged_in=True)
    if platform == "darwin":
        return agent.BillingAccount(name="the login in the key chain, if there is one")
    return agent.BillingAccount(name="no account: not logged in", logged_in=False)


class Claude:
    traits = TRAITS
    read = staticmethod(read_output)
    account = staticmethod(billing_account)

    def __init__(self, setup: agent.AgentSetup) -> None: ...

    def command(self, brief: agent.Brief) -> agent.AgentCommand:
        """`claude -p`, with the prompt on stdin and one JSON line for each event."""
        return agent.AgentCommand(
            argv=(
                *("claude", "-p", "--output-format", "stream-json", "--verbose"),
                *("--include-partial-messages", "--no-session-persistence"),
                *_common(brief),
                *_tools(brief.terms),
                *_hooks(brief.terms, HOOKS),
                *_limits(brief.terms),
                *_permissions(brief.terms, alone=True),
            ),
            stdin=prompt_text(brief).encode("utf-8", "replace"),
            env=variables(brief.terms),
        )

    def interactive_command(self, brief: agent.Brief) -> agent.AgentCommand:
        """`claude`, with the prompt as its first message. It asks the person for permission."""
        prompt = first_message(brief, rules=not brief.rules_path)
        return agent.AgentCommand(
            # After `--`, or an option that takes several values would take the prompt as well.
            argv=(
                "claude",
                *_common(brief),
                *_hooks(brief.terms, ("PreToolUse",)),
                *_permissions(brief.terms, alone=False),
                *("--", prompt),
            ),
            env=variables(brief.terms),
        )

    def ending(self, digest: StreamSummary, exit_: ProcessExit) -> SessionEnding:
        ending = ending_of_session(digest, exit_, STDERR)
        failure = digest.result.failure if digest.result else None
        if ending.ended is EndingKind.USAGE_LIMIT and failure is EndingKind.BILLING:
            # What is used up comes back, but not before the bill is paid.
            return replace(ending, ended=EndingKind.BILLING, resets_at=None)
        return ending


def _common(brief: agent.Brief) -> Iterator[str]:
    if brief.terms.model:
        yield from ("--model", brief.terms.model)
    if brief.rules_path:
        yield from ("--append-system-prompt-file", brief.rules_path)
    if (tools := offered_tools(brief.terms)) is not None:
        yield from ("--tools", ",".join(tools))
    if forbidden := denied_tools(brief.terms):
        yield from ("--disallowedTools", *forbidden)


def offered_tools(terms: agent.SessionTerms) -> list[str] | None:
    """The tools that the program offers to the model; None: its own choice."""
    if terms.checks:
        return list(CHECK_TOOLS)
    if not terms.hooks:
        return None
    # It offers none to search with unless they are named. The shell is for `ralph`: the hooks
    # decide about its other commands.
    more = CLAUDE_ONLY_TOOLS if terms.phase is Phase.BUILDING else ("Bash",)
    return sorted(TOOLS[terms.phase].union(more))


def denied_tools(terms: agent.SessionTerms) -> tuple[str, ...]:
    return WRITE_TOOLS if terms.read_only else ()


def _tools(terms: agent.SessionTerms) -> Iterator[str]:
    if terms.tools:
        # The program fills in the values: every user can read a token on a command line.
        env = {name: f"${{{name}}}" for name in agent.SOCKET_VARIABLES}
        server = {"command": terms.tools[0], "args": list(terms.tools[1:]), "env": env}
        text = json.dumps({"mcpServers": {"ralph": server}})
        yield from ("--mcp-config", text, "--strict-mcp-config")


def _hooks(terms: agent.SessionTerms, events: tuple[str, ...]) -> Iterator[str]:
    if terms.hooks:
        yield from ("--settings", json.dumps({"hooks": claude_style_hooks(terms, *events)}))


def _limits(terms: agent.SessionTerms) -> Iterator[str]:
    if terms.max_turns:
        yield from ("--max-turns", str(terms.max_turns))
    if terms.budget_usd:
        yield from ("--max-budget-usd", f"{terms.budget_usd:.6f}")


def _permissions(terms: agent.SessionTerms, *, alone: bool) -> Iterator[str]:
    if terms.sandboxed:
        yield "--dangerously-skip-permissions"
        return
    if alone:
        # No user can be asked. A file in the checkout could choose another mode.
        yield from ("--permission-mode", "dontAsk")
        yield from ("--allowedTools", *ALLOWED, *(("mcp__ralph",) if terms.tools else ()))


def variables(terms: agent.SessionTerms) -> Mapping[str, str]:
    found = {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": str(RETRIES),
        "DISABLE_AUTOUPDATER": "1",
    }
    if terms.sandboxed and terms.as_root:
        # It refuses to work unasked as root, unless it is told of the sandbox by exactly this.
        found["IS_SANDBOX"] = "1"
    return found
