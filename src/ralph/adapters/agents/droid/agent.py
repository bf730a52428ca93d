"""Factory's Droid, started by `droid exec`."""

import os
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from ralph.adapters.agents.command_parts import claude_style_hooks, first_message, prompt_text
from ralph.adapters.agents.droid.output import read_output
from ralph.adapters.agents.json_lines import decode_leniently
from ralph.adapters.agents.request_failures import ending_of_session
from ralph.core.policy.tools import AgentTools
from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.session_output import StreamSummary, last_line
from ralph.ports import agent

KEY: Final = "FACTORY_API_KEY"
MODELS: Final = "settings.json"
OLD_MODELS: Final = "config.json"
LOGINS: Final = (
    *("auth.v2.file", "auth.v2.key", "auth.v2.keyring", "auth.v2.loginkeychain"),
    *("auth.encrypted", "auth.json"),
)

CHANGING: Final = ("Create", "Edit", "ApplyPatch")
"""Denied to a session that only reads."""

HOOKS: Final = ("PreToolUse", "PostToolUse", "SessionStart")
"""Not `Stop`: its payload lacks the model's last message, so Ralph would ask a session for a claim
that it has made."""

SERVERS: Final = "mcp.json"

STDERR: Final = (
    ("error: unknown option", EndingKind.NOT_INSTALLED),
    ("Invalid model", EndingKind.UNKNOWN_MODEL),
)

ENV: Final = {"FACTORY_DROID_AUTO_UPDATE_ENABLED": "false"}


class _Settings(msgspec.Struct, frozen=True, kw_only=True, rename={"new": "customModels"}):
    """Of both settings files: the user's own models."""

    new: list[Any] = []
    custom_models: list[Any] = []


def billing_account(env: Mapping[str, str], files: Mapping[str, bytes]) -> agent.BillingAccount:
    """The first of these accounts: of the key, of the login, of the user's own models."""
    if env.get(KEY):
        return agent.BillingAccount(name=f"a Factory account ({KEY})", logged_in=True)
    if any(name in files for name in LOGINS):
        return agent.BillingAccount(name="a Factory account", logged_in=True)
    settings = [decode_leniently(files.get(name, b""), _Settings) for name in (MODELS, OLD_MODELS)]
    if settings[0].new or settings[1].custom_models:
        return agent.BillingAccount(name=f"the keys of your own models ({MODELS})", logged_in=True)
    return agent.BillingAccount(name="no account: not logged in", logged_in=False)


class Droid:
    """In a sandbox of Ralph's, without permissions; else up to what can be undone."""

    traits = agent.AgentTraits(
        name="droid",
        program="droid",
        install_hint="npm install -g droid",
        login_hint="run `droid` once and type /login, or set FACTORY_API_KEY, and name it in"
        ' [agent] pass_env = ["FACTORY_API_KEY"]',
        keys=(KEY,),
        home=agent.AgentHome(
            # It stands for the home directory; the folder is inside.
            variable="FACTORY_HOME_OVERRIDE",
            folder=".factory",
            inside=".factory",
            credentials=LOGINS,
            excerpts=(
                agent.ConfigExcerpt(
                    file=MODELS,
                    keys=(
                        *("customModels", "model", "reasoningEffort", "sessionDefaultSettings"),
                        # What a person has forbidden stays forbidden.
                        *("cloudSessionSync", "commandBlocklist", "commandDenylist"),
                        *("includeCoAuthoredByDroid", "networkPolicy", "webSearchDisabled"),
                    ),
                ),
                agent.ConfigExcerpt(file=OLD_MODELS, keys=("custom_models",)),
            ),
        ),
        skills=".factory/skills",
        has_hooks=True,
        tools=AgentTools(
            names={
                "Execute": ("Bash",),
                "Create": ("Write",),
                "MultiEdit": ("Edit",),
                "ApplyPatch": ("Write", "Edit"),
                "LS": ("Glob",),
                "FetchUrl": ("WebFetch",),
                "ExitSpecMode": ("ExitPlanMode",),
                "AskUser": ("AskUserQuestion",),
            }
        ),
    )
    read = staticmethod(read_output)
    account = staticmethod(billing_account)

    def __init__(self, setup: agent.AgentSetup) -> None: ...

    def command(self, brief: agent.Brief) -> agent.AgentCommand:
        """`droid exec`; without a prompt in its arguments it reads stdin."""
        terms = brief.terms
        return agent.AgentCommand(
            argv=(
                *("droid", "exec", "-o", "stream-json"),
                *(("--skip-permissions-unsafe",) if terms.sandboxed else ("--auto", "medium")),
                *(("-m", terms.model) if terms.model else ()),
                *(("--remove-tools", ",".join(CHANGING)) if terms.read_only else ()),
                *_rules(brief),
            ),
            stdin=prompt_text(brief).encode("utf-8", "replace"),
            env=ENV,
            config={**_hooks(terms), **_tools(terms)},
        )

    def interactive_command(self, brief: agent.Brief) -> agent.AgentCommand:
        """Its own screen, with a person who chooses the model and gives permissions."""
        text = first_message(brief, rules=not brief.rules_path)
        if not brief.terms.hooks:
            return agent.AgentCommand(argv=("droid", *_rules(brief), text), env=ENV)
        path = f"{brief.path.removesuffix('.prompt.md')}.settings.json"
        return agent.AgentCommand(
            argv=("droid", "--settings", path, *_rules(brief), text),
            env=ENV,
            config={
                os.path.basename(path): {"hooks": claude_style_hooks(brief.terms, "PreToolUse")}
            },
        )

    def ending(self, digest: StreamSummary, exit_: ProcessExit) -> SessionEnding:
        """As its last line says, and as the requests before it failed."""
        result = digest.result
        if result is not None and result.failure is not None and digest.tail:
            # The model has said something, so the login worked: the program repeats its words.
            digest = replace(digest, result=replace(result, failure=None, detail=""))
        ending = ending_of_session(digest, exit_, STDERR)
        if ending.ended is EndingKind.AGENT_ERROR and not ending.detail:
            return replace(ending, detail=last_line(exit_.stderr) or "it gave up without a reason")
        return ending


def _hooks(terms: agent.SessionTerms) -> Mapping[str, Mapping[str, object]]:
    return {MODELS: {"hooks": claude_style_hooks(terms, *HOOKS)}} if terms.hooks else {}


def _tools(terms: agent.SessionTerms) -> Mapping[str, Mapping[str, object]]:
    if not terms.tools:
        return {}
    # It passes its own variables on, so the way to the running loop as well.
    server = {"type": "stdio", "command": terms.tools[0], "args": list(terms.tools[1:])}
    return {SERVERS: {"mcpServers": {"ralph": server}}}


def _rules(brief: agent.Brief) -> tuple[str, ...]:
    return ("--append-system-prompt-file", brief.rules_path) if brief.rules_path else ()
