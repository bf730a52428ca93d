"""Claude Code, led by the Claude Agent SDK in a process of its own (`ralph.inside.sdk_session`).

The process prints the lines that the program would print, so all that reads them is the same.
"""

import os
import sys
from importlib.util import find_spec
from shutil import which
from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.adapters.agents.claude import agent as claude
from ralph.adapters.agents.command_parts import prompt_text
from ralph.ports.agent import AgentCommand, AgentSetup, Brief, SessionTerms

PACKAGE: Final = "claude_agent_sdk"
SESSION: Final = "ralph.inside.sdk_session"


class ClaudeSdk(claude.Claude):
    """`[agent] command` is the path of the program, if not the one on the PATH or in the SDK."""

    traits = replace(
        claude.TRAITS,
        name="claude-sdk",
        package=PACKAGE,
        install_hint="pip install 'ralphloop[claude-sdk]'; the program comes with it, or else:"
        f" {claude.TRAITS.install_hint}",
    )

    def __init__(self, setup: AgentSetup) -> None:
        super().__init__(setup)
        self.traits = replace(type(self).traits, program=_program(setup))

    def command(self, brief: Brief) -> AgentCommand:
        """The prompt and the options of the SDK go to stdin."""
        return AgentCommand(
            # -P: a folder `ralph` in the project is not this program.
            argv=(sys.executable, "-P", "-m", SESSION),
            stdin=msgspec.json.encode(_job(brief)),
            env=claude.variables(brief.terms),
        )

    def interactive_command(self, brief: Brief) -> AgentCommand:
        """An interactive session runs the program without the SDK."""
        launch = super().interactive_command(brief)
        return replace(launch, argv=(self.traits.program, *launch.argv[1:]))


def _job(brief: Brief) -> dict[str, object]:
    terms = brief.terms
    return {
        "prompt": prompt_text(brief),
        "rules_path": brief.rules_path,
        "hooks": bool(terms.hooks),
        "tools": bool(terms.tools),
        "options": {
            "model": terms.model or None,
            "max_turns": terms.max_turns or None,
            "max_budget_usd": terms.budget_usd or None,
            "tools": claude.offered_tools(terms),
            "disallowed_tools": claude.denied_tools(terms),
            **_permissions(terms),
        },
    }


def _permissions(terms: SessionTerms) -> dict[str, object]:
    if terms.sandboxed:
        return {"permission_mode": "bypassPermissions"}
    allowed = (*claude.ALLOWED, *(("mcp__ralph",) if terms.tools else ()))
    return {"permission_mode": "dontAsk", "allowed_tools": allowed}


def _program(setup: AgentSetup) -> str:
    if setup.command:
        path = os.path.expanduser(setup.command)
        return os.path.join(setup.directory, path) if os.path.dirname(path) else path
    name = claude.TRAITS.program
    found = find_spec(PACKAGE)
    folders = found.submodule_search_locations if found is not None else None
    # The wheels of the SDK contain the program.
    bundled = os.path.join(folders[0], "_bundled", name) if folders else ""
    return bundled if which(name) is None and os.access(bundled, os.X_OK) else name
