"""Codex, started by `codex exec`.

Its own sandbox is off inside Ralph's, otherwise open just enough for a session's work. It keeps
commands from writing outside of the checkout. It does not stop a malicious session: one that can
commit can also write hooks.
"""

import base64
import binascii
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from ralph.adapters.agents.codex.output import read_output
from ralph.adapters.agents.command_parts import (
    claude_style_hooks,
    first_message,
    hook_command,
)
from ralph.adapters.agents.json_lines import UNREADABLE
from ralph.adapters.agents.request_failures import ending_of_session
from ralph.core.errors import UnusableData
from ralph.core.policy.tools import AgentTools
from ralph.core.process_exit import ProcessExit
from ralph.core.safe_text import one_line
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.session_output import StreamSummary
from ralph.core.toml_text import parse_toml, toml_value
from ralph.git_layout import find_layout, top_of
from ralph.ports import agent

KEY: Final = "CODEX_API_KEY"
LOGIN: Final = "auth.json"
PROVIDERS: Final = "config.toml"
CLAIM: Final = "https://api.openai.com/auth"

QUIET: Final = (
    "features.plugins=false",
    "features.apps=false",
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
)
"""Without these it connects to more than the model."""

BOUNDED: Final = "features.unbounded_connection_retries=false"
"""Without this it waits for a network for ever and prints that every few seconds, so that no idle
timeout ends it. Ralph waits as well, and shows why."""

HOOKS: Final = ("PreToolUse", "PostToolUse", "Stop", "SessionStart")

HOOK_EVENT: Final = "PreToolUse"
HOOK_PLACE: Final = "/<session-flags>/config.toml:pre_tool_use:0:0"
"""What Codex calls the first hook of the first group for this event on its command line."""
HOOK_TIMEOUT_S: Final = 60

MOST_BYTES: Final = 2**20
"""Codex takes no prompt of more characters."""

VARIABLES: Final = "shell_environment_policy.ignore_default_excludes=true"
"""Ralph has taken the secrets out already, and its own token must stay."""

STDERR: Final = (
    # The part that holds the program itself was not installed along.
    ("Missing optional dependency", EndingKind.NOT_INSTALLED),
    ("error: unexpected argument", EndingKind.NOT_INSTALLED),
    ('"input_error_code":"input_too_large"', EndingKind.PROMPT_TOO_LONG),
)

SHELL: Final = "allow_login_shell=false"
"""A login shell replaces the session's PATH with the system's: it would find neither `ralph` nor
commands of the project's environment."""


class _Tokens(msgspec.Struct, frozen=True, kw_only=True):
    id_token: str = ""
    access_token: str = ""


class _Login(msgspec.Struct, frozen=True, kw_only=True, rename={"key": "OPENAI_API_KEY"}):
    key: str | None = None
    tokens: _Tokens | None = None


def billing_account(env: Mapping[str, str], files: Mapping[str, bytes]) -> agent.BillingAccount:
    """The account of the configured provider; without one, of the key or of the login."""
    config = _config(files.get(PROVIDERS, b""))
    if account := _provider(env, config):
        return account
    if env.get(KEY):
        return agent.BillingAccount(name=f"an OpenAI API key ({KEY})", billed=True, logged_in=True)
    try:
        login = msgspec.json.decode(files.get(LOGIN, b"{}"), type=_Login)
    except UNREADABLE:
        return agent.BillingAccount(name=f"unknown: {LOGIN} cannot be read")
    if login.tokens is not None and login.tokens.access_token:
        plan = _plan(login.tokens.id_token)
        name = f"a ChatGPT subscription ({plan})" if plan else "a ChatGPT subscription"
        return agent.BillingAccount(name=name, billed=False, logged_in=True)
    if login.key:
        return agent.BillingAccount(
            name=f"an OpenAI API key ({LOGIN})", billed=True, logged_in=True
        )
    if config.get("cli_auth_credentials_store") in ("keyring", "auto"):
        # Entries there belong to the configuration folder, and a session has one of its own.
        return agent.BillingAccount(name="the login in the keyring, if it can be reached")
    return agent.BillingAccount(name="no account: not logged in", logged_in=False)


def _config(data: bytes) -> Mapping[str, Any]:
    try:
        return parse_toml(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}  # Codex says what is wrong with it


def _provider(env: Mapping[str, str], config: Mapping[str, Any]) -> agent.BillingAccount | None:
    """The account of another provider; None for OpenAI."""
    name = config.get("model_provider")
    providers = config.get("model_providers")
    if not isinstance(name, str) or not isinstance(providers, dict):
        return None
    provider = providers.get(name)
    if not isinstance(provider, dict) or provider.get("requires_openai_auth") is True:
        return None
    key = provider.get("env_key")
    return agent.BillingAccount(
        name=f"the provider {one_line(name, 40)} of {PROVIDERS}",
        logged_in=bool(env.get(key)) if isinstance(key, str) else None,
    )


def _plan(token: str) -> str:
    """The plan in a token, which is only shown and not verified."""
    try:
        part = token.split(".")[1]
        claims: Any = msgspec.json.decode(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        plan = claims[CLAIM]["chatgpt_plan_type"]
    except (*UNREADABLE, binascii.Error, IndexError, KeyError, TypeError, ValueError):
        return ""
    return one_line(plan, 40) if isinstance(plan, str) else ""


class Codex:
    """In Ralph's sandbox without its own, otherwise in its own sandbox."""

    traits = agent.AgentTraits(
        name="codex",
        program="codex",
        install_hint="npm install -g @openai/codex",
        login_hint="run `codex login`; sessions cannot reach a login in the keyring, so leave"
        ' cli_auth_credentials_store at "file"',
        keys=(KEY, "CODEX_ACCESS_TOKEN", "OPENAI_API_KEY"),
        home=agent.AgentHome(
            variable="CODEX_HOME",
            folder=".codex",
            credentials=(LOGIN,),
            excerpts=(
                agent.ConfigExcerpt(
                    file=PROVIDERS,
                    keys=(
                        *("model", "model_provider", "model_providers", "oss_provider"),
                        *("openai_base_url", "chatgpt_base_url", "service_tier"),
                        *("model_context_window", "model_max_output_tokens"),
                        *("model_reasoning_effort", "forced_login_method"),
                        "forced_chatgpt_workspace_id",
                    ),
                ),
            ),
        ),
        skills=".agents/skills",
        has_hooks=True,
        tools=AgentTools(
            reads_by_shell=True,
            names={
                **dict.fromkeys(("shell", "local_shell", "exec_command", "write_stdin"), ("Bash",)),
                # It writes new files and changes old ones.
                "apply_patch": ("Write", "Edit"),
                "read_file": ("Read",),
                "view_image": ("Read",),
                "list_dir": ("Glob",),
                "grep_files": ("Grep",),
                "update_plan": ("TodoWrite",),
                "web_search": ("WebSearch",),
                "spawn_agent": ("Task",),
                "request_user_input": ("AskUserQuestion",),
            },
        ),
    )
    read = staticmethod(read_output)
    account = staticmethod(billing_account)

    def __init__(self, setup: agent.AgentSetup) -> None: ...

    def command(self, brief: agent.Brief) -> agent.AgentCommand:
        """The prompt goes to stdin, which `-` stands for."""
        return agent.AgentCommand(
            argv=(
                *("codex", "exec", "--json", "--skip-git-repo-check", "--ephemeral"),
                *_sandbox_flags(brief, ask=False),
                *_model(brief),
                *_settings(*QUIET, BOUNDED, VARIABLES, SHELL, *_tools(brief.terms)),
                # Its own folder has no other hooks than Ralph's.
                *(("--dangerously-bypass-hook-trust",) if brief.terms.hooks else ()),
                "-",
            ),
            stdin=first_message(brief, MOST_BYTES).encode("utf-8", "replace"),
            env=_variables(brief),
            config=_hooks(brief.terms),
        )

    def interactive_command(self, brief: agent.Brief) -> agent.AgentCommand:
        """Its own screen, with a person who may be asked."""
        return agent.AgentCommand(
            argv=(
                "codex",
                *_sandbox_flags(brief, ask=True),
                *_model(brief),
                *_settings(*QUIET, SHELL, *_interactive_hooks(brief.terms)),
                first_message(brief),
            ),
            env=_variables(brief),
        )

    def ending(self, digest: StreamSummary, exit_: ProcessExit) -> SessionEnding:
        """The final message is what it said last; its result does not repeat it."""
        ending = ending_of_session(digest, exit_, STDERR)
        if ending.ended is EndingKind.FINISHED:
            return replace(ending, message=digest.said)
        return ending


def _hooks(terms: agent.SessionTerms) -> Mapping[str, Mapping[str, object]]:
    return {"hooks.json": {"hooks": claude_style_hooks(terms, *HOOKS)}} if terms.hooks else {}


def _tools(terms: agent.SessionTerms) -> Iterator[str]:
    if terms.tools:
        command, *args = terms.tools
        yield f"mcp_servers.ralph.command={toml_value(command)}"
        yield f"mcp_servers.ralph.args={toml_value(args)}"
        yield 'mcp_servers.ralph.default_tools_approval_mode="approve"'
        yield f"mcp_servers.ralph.env_vars={toml_value(agent.SOCKET_VARIABLES)}"


def _model(brief: agent.Brief) -> tuple[str, ...]:
    return ("--model", brief.terms.model) if brief.terms.model else ()


def _interactive_hooks(terms: agent.SessionTerms) -> Iterator[str]:
    """Settings for `-c`: the person's configuration folder is not Ralph's to write.

    Codex runs no hook that the person has not trusted by its fingerprint, so Ralph passes the
    fingerprint of its own. The switch that trusts all would also trust those of a repository.
    """
    if terms.hooks:
        command = hook_command(terms, HOOK_EVENT)
        hook = {"type": "command", "command": command, "timeout": HOOK_TIMEOUT_S}
        trusted = {HOOK_PLACE: {"trusted_hash": _fingerprint(hook)}}
        yield f"hooks.{HOOK_EVENT}={toml_value([{'hooks': [hook]}])}"
        yield f"hooks.state={toml_value(trusted)}"


def _fingerprint(hook: Mapping[str, object]) -> str:
    """Computed as Codex does, from everything that says what the hook does."""
    said = {"event_name": "pre_tool_use", "hooks": [{**hook, "async": False}]}
    text = json.dumps(said, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return f"sha256:{sha256(text.encode()).hexdigest()}"


NETWORK: Final = "sandbox_workspace_write.network_access=true"
"""For packages, and for `ralph` itself: its socket counts as network."""

TEMPORARY: Final = ("/var/tmp", "/tmp")


def _sandbox_flags(brief: agent.Brief, *, ask: bool) -> tuple[str, ...]:
    """What the session may do without asking. `ask`: a person is there who can allow more."""
    if brief.terms.sandboxed:
        return ("--dangerously-bypass-approvals-and-sandbox",)
    roots = toml_value((*git_folders(brief.checkout), *_documents(brief.checkout)))
    return (
        *("--sandbox", "workspace-write"),
        *_settings(
            f'approval_policy="{"on-request" if ask else "never"}"',
            f"sandbox_workspace_write.writable_roots={roots}",
            NETWORK,
        ),
    )


def _documents(checkout: str) -> tuple[str, ...]:
    """The folder of stories, in which a session ticks boxes. Codex keeps the rest of `.agents`
    read-only, since its own settings may be there."""
    folder = os.path.join(os.path.realpath(checkout), ".agents", "tasks")
    return (folder,) if os.path.isdir(folder) else ()


def _variables(brief: agent.Brief) -> Mapping[str, str]:
    """A folder for temporary files that does not contain the checkout.

    Codex puts a part of its sandbox into its configuration folder, which is in the project. It does
    not if that is among temporary files; then every command fails.
    """
    if brief.terms.sandboxed or not _is_in(os.environ.get("TMPDIR") or "/tmp", brief.checkout):
        return {}
    others = (folder for folder in TEMPORARY if not _is_in(folder, brief.checkout))
    return {"TMPDIR": next(others)}


def _settings(*values: str) -> tuple[str, ...]:
    return tuple(word for value in values for word in ("-c", value))


def _is_in(folder: str, path: str) -> bool:
    folder = os.path.realpath(folder)
    return os.path.commonpath((folder, os.path.realpath(path))) == folder


def git_folders(checkout: str) -> tuple[str, ...]:
    """The git folder of a checkout, and the one that it shares with others; none without git.

    Codex's own sandbox makes these folders read-only unless they are named, and then nothing could
    be committed.
    """
    top = top_of(os.path.realpath(checkout))
    with suppress(UnusableData):
        return tuple(dict.fromkeys(find_layout(top))) if top is not None else ()
    return ()
