"""Codex, started by `codex exec`."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from ralph.adapters.agents.asking import hooks
from ralph.adapters.agents.codex import asking, failures, sandbox, stream
from ralph.adapters.agents.codex.payer import KEY, LOGIN, PROVIDERS, payer
from ralph.adapters.agents.codex.sandbox import settings
from ralph.adapters.agents.opening import opening
from ralph.adapters.agents.reset_time import reset_time
from ralph.core.agent_events import AgentEvent
from ralph.core.ended import Cost, Ended
from ralph.core.ending import Digest, Ending, Exit, conclude
from ralph.core.policy.tools import Toolbox
from ralph.ports.agent import DOOR, Account, Brief, Excerpt, Home, Launch, Setup, Terms, Traits

QUIET: Final = (
    "features.plugins=false",
    "features.apps=false",
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
)
"""Nothing is asked of anybody but the model."""

BOUNDED: Final = "features.unbounded_connection_retries=false"
"""Without this it waits for a network for ever, and says so every few seconds, so that no idle
timeout ends it. Ralph waits too, and people see for what."""

HOOKS: Final = ("PreToolUse", "PostToolUse", "Stop", "SessionStart")

MOST_BYTES: Final = 2**20
"""It takes no prompt of more characters."""

VARIABLES: Final = "shell_environment_policy.ignore_default_excludes=true"
"""Ralph has taken the secrets out already, and its own token must stay."""

SHELL: Final = "allow_login_shell=false"
"""A login shell puts the system's own PATH in the place of the session's: commands of the project's
environment are not found any more, nor is `ralph`."""


class Codex:
    """In a sandbox of Ralph's, without any of its own; else in its own one."""

    traits = Traits(
        name="codex",
        program="codex",
        install_hint="npm install -g @openai/codex",
        login_hint="run `codex login`; sessions cannot reach a login in the keyring, so leave"
        ' cli_auth_credentials_store at "file"',
        keys=(KEY, "CODEX_ACCESS_TOKEN", "OPENAI_API_KEY"),
        home=Home(
            variable="CODEX_HOME",
            folder=".codex",
            credentials=(LOGIN,),
            excerpts=(
                Excerpt(
                    file=PROVIDERS,
                    keys=(
                        "model",
                        "model_provider",
                        "model_providers",
                        "openai_base_url",
                        "chatgpt_base_url",
                        "oss_provider",
                        "model_context_window",
                        "model_max_output_tokens",
                        "model_reasoning_effort",
                        "service_tier",
                        "forced_login_method",
                        "forced_chatgpt_workspace_id",
                    ),
                ),
            ),
        ),
        skills=".agents/skills",
        hears=True,
        tools=Toolbox(
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

    def __init__(self, setup: Setup) -> None:
        del setup  # it has no command line but its own

    def command(self, brief: Brief) -> Launch:
        """The prompt goes to stdin, which `-` stands for."""
        return Launch(
            argv=(
                *("codex", "exec", "--json", "--skip-git-repo-check", "--ephemeral"),
                *sandbox.flags(brief, ask=False),
                *_model(brief),
                *settings(*QUIET, BOUNDED, VARIABLES, SHELL, *_tools(brief.terms)),
                # Its own folder has no other hooks than Ralph's.
                *(("--dangerously-bypass-hook-trust",) if brief.terms.hooks else ()),
                "-",
            ),
            stdin=opening(brief, MOST_BYTES).encode("utf-8", "replace"),
            env=sandbox.variables(brief),
            config=_hooks(brief.terms),
        )

    def converse(self, brief: Brief) -> Launch:
        """Its own screen, with a person who may be asked."""
        return Launch(
            argv=(
                "codex",
                *sandbox.flags(brief, ask=True),
                *_model(brief),
                *settings(*QUIET, SHELL, *asking.hooks(brief.terms)),
                opening(brief),
            ),
            env=sandbox.variables(brief),
        )

    def read(self, block: bytes) -> Iterable[AgentEvent]:
        """Line by line."""
        return stream.read(block)

    def ending(self, digest: Digest, exit_: Exit) -> Ending:
        """Its last message is what it said last; its result does not repeat it."""
        ending = conclude(digest, exit_, failures.of_stderr(exit_.stderr))
        if ending.ended is Ended.FINISHED:
            return replace(ending, message=digest.said)
        if ending.cost is Cost.WAIT:
            return replace(ending, resets_at=reset_time(ending.detail, exit_.ended_at))
        return ending

    def account(self, env: Mapping[str, str], files: Mapping[str, bytes]) -> Account:
        """By the key, the provider, or the login."""
        return payer(env, files)


def _hooks(terms: Terms) -> Mapping[str, Mapping[str, object]]:
    return {"hooks.json": {"hooks": hooks(terms, *HOOKS)}} if terms.hooks else {}


def _tools(terms: Terms) -> Iterator[str]:
    if terms.tools:
        command, *args = terms.tools
        yield f"mcp_servers.ralph.command={json.dumps(command)}"
        yield f"mcp_servers.ralph.args={json.dumps(args)}"
        yield 'mcp_servers.ralph.default_tools_approval_mode="approve"'
        yield f"mcp_servers.ralph.env_vars={json.dumps(list(DOOR))}"


def _model(brief: Brief) -> tuple[str, ...]:
    return ("--model", brief.terms.model) if brief.terms.model else ()
