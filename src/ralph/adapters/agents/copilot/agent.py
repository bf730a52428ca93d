"""GitHub Copilot CLI: how it is started, how it ends, who pays."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from ralph.adapters.agents.command_parts import claude_style_hooks, first_message
from ralph.adapters.agents.copilot.output import read_output
from ralph.adapters.agents.json_lines import decode_leniently, without_comments
from ralph.adapters.agents.request_failures import ending_of_session
from ralph.core.policy.tools import AgentTools
from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.session_output import StreamSummary
from ralph.ports import agent

TOKENS: Final = ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")
PROVIDER: Final = "COPILOT_PROVIDER_BASE_URL"
LOGIN: Final = "config.json"
SETTINGS: Final = "settings.json"

ENV: Final = {
    # "true" would also trust the checkout, and run hooks that it holds.
    "COPILOT_ALLOW_ALL": "false"
}

QUIET: Final = (
    *("--no-ask-user", "--no-auto-update", "--disable-client-telemetry"),
    *("--no-remote", "--no-remote-export", "--disable-builtin-mcps"),
)
"""It asks no questions, and connects to nothing but the model. Its own servers act on GitHub."""

UNASKED: Final = "--allow-all"
ALLOWED: Final = ("--allow-tool=shell", "--allow-tool=write", "--allow-all-urls")
"""Without a sandbox: files only in the checkout and among temporary ones."""

CHANGING: Final = ("create", "edit", "apply_patch")
"""Denied to a session that only reads."""

HOOKS: Final = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionStart")
"""Not `Stop`: its payload lacks the model's last message, so Ralph would ask a session for a claim
that it has made."""

HOOK_TIMEOUT_S: Final = 60
"""Of Copilot, after which it uses the tool; its own choice is shorter than Ralph's patience."""

OWN_SETTINGS: Final = {"includeCoAuthoredBy": False}
"""It would tell the model to name it in every commit."""

STDERR: Final = (
    ("error: unexpected argument", EndingKind.NOT_INSTALLED),
    ("No authentication information found", EndingKind.AUTH_EXPIRED),
    ("from --model flag is not available", EndingKind.UNKNOWN_MODEL),
    ("no platform package found", EndingKind.NOT_INSTALLED),
)


class _Login(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    auth_tokens: Any = None
    copilot_tokens: Any = None
    logged_in_users: Any = None


def billing_account(env: Mapping[str, str], files: Mapping[str, bytes]) -> agent.BillingAccount:
    """Of a provider of the user's own, of a token, of the login; in this order."""
    if env.get(PROVIDER):
        return agent.BillingAccount(name=f"the provider of {PROVIDER}", logged_in=True)
    for name in TOKENS:
        if env.get(name):
            return agent.BillingAccount(name=f"a GitHub account ({name})", logged_in=True)
    login = decode_leniently(without_comments(files.get(LOGIN, b"{}")), _Login)
    if login.auth_tokens or login.copilot_tokens:
        return agent.BillingAccount(name="a GitHub account", logged_in=True)
    if login.logged_in_users:
        return agent.BillingAccount(name="the GitHub login in the keyring, if it can be reached")
    return agent.BillingAccount(name="no account: not logged in", logged_in=False)


class Copilot:
    """In a sandbox without permissions of its own; else with a list of them."""

    traits = agent.AgentTraits(
        name="copilot",
        program="copilot",
        install_hint="npm install -g @github/copilot",
        login_hint="run `copilot login`; sessions cannot reach a login in the keyring: without one,"
        " or with COPILOT_GITHUB_TOKEN, named in"
        ' [agent] pass_env = ["COPILOT_GITHUB_TOKEN"], they can',
        keys=(
            *TOKENS,
            *(PROVIDER, "COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_API_KEY_COMMAND"),
            *("COPILOT_PROVIDER_BEARER_TOKEN", "COPILOT_PROVIDER_HEADERS"),
        ),
        home=agent.AgentHome(
            variable="COPILOT_HOME",
            folder=".copilot",
            excerpts=(
                agent.ConfigExcerpt(
                    file=LOGIN,
                    keys=("authTokens", "copilotTokens", "lastLoggedInUser", "loggedInUsers"),
                ),
                agent.ConfigExcerpt(file=SETTINGS, keys=("model", "effortLevel", "contextTier")),
            ),
            usage=agent.UsageLog(
                files="session-state/*/events.jsonl", marker='"session.usage_record"'
            ),
        ),
        has_hooks=True,
        tools=AgentTools(
            # Hooks get most of them by the names of Claude Code; these are all others.
            names={
                **dict.fromkeys(("list_bash", "read_bash", "stop_bash", "write_bash"), ("Bash",)),
                **dict.fromkeys(("bash",), ("Bash",)),
                **dict.fromkeys(("create",), ("Write",)),
                **dict.fromkeys(("edit", "apply_patch"), ("Write", "Edit")),
                # A patch comes by the name of Edit, and may make files.
                "Edit": ("Write", "Edit"),
                **dict.fromkeys(("view", "skill", "fetch_copilot_cli_documentation"), ("Read",)),
                **dict.fromkeys(("sql", "session_store_sql", "report_intent"), ("Read",)),
                **dict.fromkeys(("task", "list_agents", "read_agent", "write_agent"), ("Task",)),
                "glob": ("Glob",),
                "grep": ("Grep",),
                "web_fetch": ("WebFetch",),
                "web_search": ("WebSearch",),
                "update_todo": ("TodoWrite",),
                "exit_plan_mode": ("ExitPlanMode",),
                "ask_user": ("AskUserQuestion",),
            }
        ),
    )
    read = staticmethod(read_output)
    account = staticmethod(billing_account)

    def __init__(self, setup: agent.AgentSetup) -> None: ...

    def command(self, brief: agent.Brief) -> agent.AgentCommand:
        """Without a prompt in its arguments it reads stdin."""
        terms = brief.terms
        return agent.AgentCommand(
            argv=(
                *("copilot", "--output-format", "json"),
                *QUIET,
                *((UNASKED,) if terms.sandboxed else ALLOWED),
                *(f"--excluded-tools={name}" for name in CHANGING if terms.read_only),
                *_model(terms),
                *_tools(terms),
            ),
            stdin=agent.brief_with_rules(brief).encode("utf-8", "replace"),
            env=ENV,
            config={SETTINGS: {**OWN_SETTINGS, **_hooks(terms)}},
        )

    def interactive_command(self, brief: agent.Brief) -> agent.AgentCommand:
        """Its own screen, with a person who gives permissions."""
        return agent.AgentCommand(
            argv=("copilot", *_model(brief.terms), "-i", first_message(brief))
        )

    def ending(self, digest: StreamSummary, exit_: ProcessExit) -> SessionEnding:
        """By its result, which does not repeat the final message. After a signal it exits with 0
        and calls that a success, but the model has said nothing."""
        ending = ending_of_session(digest, exit_, STDERR)
        if ending.ended is not EndingKind.FINISHED:
            return ending
        if not digest.said:
            return replace(ending, ended=EndingKind.NO_RESULT, detail="the model said nothing")
        return replace(ending, message=digest.said)


def _model(terms: agent.SessionTerms) -> tuple[str, ...]:
    return ("--model", terms.model) if terms.model else ()


def _hooks(terms: agent.SessionTerms) -> Mapping[str, object]:
    if not terms.hooks:
        return {}
    return {"hooks": claude_style_hooks(terms, *HOOKS, timeout=HOOK_TIMEOUT_S)}


def _tools(terms: agent.SessionTerms) -> Iterator[str]:
    if terms.tools:
        # The program fills in the values: every user can read a token on a command line.
        env = {name: f"${{{name}}}" for name in agent.SOCKET_VARIABLES}
        server = {
            "type": "local",
            "command": terms.tools[0],
            "args": list(terms.tools[1:]),
            "env": env,
            "tools": ["*"],
        }
        yield f"--additional-mcp-config={json.dumps({'mcpServers': {'ralph': server}})}"
        if not terms.sandboxed:
            yield "--allow-tool=ralph"
