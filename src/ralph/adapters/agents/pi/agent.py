"""Pi: how it is started, how it ends, who pays."""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from ralph.adapters.agents.command_parts import first_message, prompt_text
from ralph.adapters.agents.json_lines import decode_leniently, without_comments
from ralph.adapters.agents.pi.output import read_output
from ralph.adapters.agents.request_failures import ending_of_session
from ralph.core.policy.tools import AgentTools
from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.session_output import StreamSummary
from ralph.ports import agent

LOGIN: Final = "auth.json"
PROVIDERS: Final = "models.json"
SETTINGS: Final = "settings.json"
KEYS: Final = (
    *("ANTHROPIC_API_KEY", "ANTHROPIC_OAUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY"),
    *("OPENROUTER_API_KEY", "XAI_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY"),
)
"""Some of those that it uses. All others look like secrets, and are dropped as such."""

HOOKS: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hooks.js")
CHANGING: Final = ("edit", "write")
"""Denied to a session that only reads."""

STDERR: Final = (
    ("No API key found", EndingKind.AUTH_EXPIRED),
    ("No models available", EndingKind.AUTH_EXPIRED),
    ("Unknown option", EndingKind.NOT_INSTALLED),
    ("not found for provider", EndingKind.UNKNOWN_MODEL),
    ("does not provide an export named", EndingKind.NOT_INSTALLED),
)


class _Providers(msgspec.Struct, frozen=True, kw_only=True):
    providers: dict[str, Any] = {}


def billing_account(env: Mapping[str, str], files: Mapping[str, bytes]) -> agent.BillingAccount:
    """Of the login, of a provider of the user's own, of a key. Which of them is used is decided by
    the model."""
    logins = decode_leniently(
        b'{"providers":' + (files.get(LOGIN) or b"{}") + b"}", _Providers
    ).providers
    if logins:
        names = ", ".join(sorted(logins))
        return agent.BillingAccount(name=f"a login of pi ({names})", logged_in=True)
    own = decode_leniently(without_comments(files.get(PROVIDERS, b"{}")), _Providers).providers
    if own:
        names = ", ".join(sorted(own))
        return agent.BillingAccount(name=f"the provider of {PROVIDERS} ({names})", logged_in=True)
    for name in KEYS:
        if env.get(name):
            return agent.BillingAccount(name=f"an API key ({name})", billed=True, logged_in=True)
    return agent.BillingAccount(name="no account: not logged in", logged_in=False)


class Pi:
    """It asks for no permission: only Ralph's sandbox and policy limit it."""

    traits = agent.AgentTraits(
        name="pi",
        program="pi",
        install_hint="npm install -g @earendil-works/pi-coding-agent",
        login_hint="run `pi` once and type /login, or name the key of your provider in"
        ' [agent] pass_env = ["ANTHROPIC_API_KEY"]',
        keys=KEYS,
        home=agent.AgentHome(
            variable="PI_CODING_AGENT_DIR",
            folder=".pi/agent",
            credentials=(LOGIN,),
            excerpts=(
                agent.ConfigExcerpt(file=PROVIDERS, keys=("providers",)),
                agent.ConfigExcerpt(
                    file=SETTINGS,
                    keys=(
                        *("defaultProvider", "defaultModel", "defaultThinkingLevel"),
                        *("retry", "transport", "compaction"),
                    ),
                ),
            ),
        ),
        has_hooks=True,
        tools=AgentTools(
            names={
                "bash": ("Bash",),
                "read": ("Read",),
                "write": ("Write",),
                "edit": ("Edit",),
                "grep": ("Grep",),
                "find": ("Glob",),
                "ls": ("Glob",),
            }
        ),
    )
    read = staticmethod(read_output)
    account = staticmethod(billing_account)

    def __init__(self, setup: agent.AgentSetup) -> None: ...

    def command(self, brief: agent.Brief) -> agent.AgentCommand:
        """`pi -p`; without a prompt in its arguments it reads stdin."""
        terms = brief.terms
        return agent.AgentCommand(
            argv=(
                *("pi", "--mode", "json", "--no-session"),
                # Not those that a session may have put into the checkout.
                *("--no-approve", "--no-extensions"),
                *(("--exclude-tools", ",".join(CHANGING)) if terms.read_only else ()),
                *_common(brief),
                "-p",
            ),
            stdin=prompt_text(brief).encode("utf-8", "replace"),
            env={"PI_OFFLINE": "1", **_hook(terms)},
        )

    def interactive_command(self, brief: agent.Brief) -> agent.AgentCommand:
        """Its own screen."""
        text = first_message(brief, rules=not brief.rules_path)
        return agent.AgentCommand(argv=("pi", *_common(brief), "--", text), env=_hook(brief.terms))

    def ending(self, digest: StreamSummary, exit_: ProcessExit) -> SessionEnding:
        """By the last message of the last try; it exits with 0 whatever went wrong."""
        return ending_of_session(digest, exit_, STDERR)


def _common(brief: agent.Brief) -> Iterator[str]:
    if brief.terms.model:
        yield from ("--model", brief.terms.model)
    if brief.rules_path:
        yield from ("--append-system-prompt", brief.rules_path)
    if brief.terms.hooks:
        yield from ("--extension", HOOKS)


def _hook(terms: agent.SessionTerms) -> Mapping[str, str]:
    return {"RALPH_HOOK": json.dumps(terms.hooks)} if terms.hooks else {}
