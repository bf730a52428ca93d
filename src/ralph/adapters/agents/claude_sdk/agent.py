"""Claude on its Agent SDK: the library leads the program, in a process of its own.

The process is `ralph.inside.sdk_session`. It repeats what the program says line by line, so that
everything after that is the same as without the library.
"""

import os
import sys
from importlib.util import find_spec
from shutil import which
from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.adapters.agents.claude import command
from ralph.adapters.agents.claude.agent import Claude
from ralph.adapters.agents.claude.traits import TRAITS
from ralph.ports.agent import Brief, Launch, Setup, Terms, with_rules

PACKAGE: Final = "claude_agent_sdk"
SESSION: Final = "ralph.inside.sdk_session"


class ClaudeSdk(Claude):
    """`[agent] command` is the path of the program, if not the one on the PATH or in the SDK."""

    traits = replace(
        TRAITS,
        name="claude-sdk",
        package=PACKAGE,
        install_hint="pip install 'ralph[claude-sdk]'; the program comes with it, or else:"
        f" {TRAITS.install_hint}",
    )

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.traits = replace(type(self).traits, program=_program(setup))

    def command(self, brief: Brief) -> Launch:
        """What the SDK is to be told goes to stdin, with the prompt."""
        return Launch(
            # -P: a folder `ralph` in the project is not this program.
            argv=(sys.executable, "-P", "-m", SESSION),
            stdin=msgspec.json.encode(_job(brief)),
            env=command.variables(brief.terms),
        )

    def converse(self, brief: Brief) -> Launch:
        """With a person the program itself does."""
        launch = super().converse(brief)
        return msgspec.structs.replace(launch, argv=(self.traits.program, *launch.argv[1:]))


def _job(brief: Brief) -> dict[str, object]:
    terms = brief.terms
    return {
        "prompt": brief.text if brief.rules_path else with_rules(brief),
        "rules_path": brief.rules_path,
        "hooks": bool(terms.hooks),
        "tools": bool(terms.tools),
        "options": {
            "model": terms.model or None,
            "max_turns": terms.max_turns or None,
            "max_budget_usd": terms.budget_usd or None,
            "tools": command.offered(terms),
            "disallowed_tools": command.denied(terms),
            **_permissions(terms),
        },
    }


def _permissions(terms: Terms) -> dict[str, object]:
    if terms.fenced and not terms.allowed_tools:
        return {"permission_mode": "bypassPermissions"}
    allowed = (*(terms.allowed_tools or command.ALLOWED), *(("mcp__ralph",) if terms.tools else ()))
    return {"permission_mode": "dontAsk", "allowed_tools": allowed}


def _program(setup: Setup) -> str:
    if setup.command:
        path = os.path.expanduser(setup.command)
        return os.path.join(setup.directory, path) if os.path.dirname(path) else path
    name = TRAITS.program
    found = find_spec(PACKAGE)
    folders = found.submodule_search_locations if found is not None else None
    # Its wheels bring one with them.
    bundled = os.path.join(folders[0], "_bundled", name) if folders else ""
    return bundled if which(name) is None and os.access(bundled, os.X_OK) else name
