"""Factory's Droid, started by `droid exec`."""

import os
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from ralph.adapters.agents.asking import hooks
from ralph.adapters.agents.droid import failures, stream
from ralph.adapters.agents.droid.payer import KEY, LOGINS, MODELS, OLD_MODELS, payer
from ralph.adapters.agents.opening import opening
from ralph.adapters.agents.reset_time import reset_time
from ralph.core.agent_events import AgentEvent
from ralph.core.ended import Cost, Ended
from ralph.core.ending import Digest, Ending, Exit, conclude, last_line
from ralph.core.policy.tools import Toolbox
from ralph.ports.agent import (
    Account,
    Brief,
    Excerpt,
    Home,
    Launch,
    Setup,
    Terms,
    Traits,
    with_rules,
)

CHANGING: Final = ("Create", "Edit", "ApplyPatch")
"""What a session that only looks does not need."""

HOOKS: Final = ("PreToolUse", "PostToolUse", "SessionStart")
"""Not `Stop`: it does not say what the model said last, so a session that has claimed its task
would be asked for it again."""

SERVERS: Final = "mcp.json"

ENV: Final = {"FACTORY_DROID_AUTO_UPDATE_ENABLED": "false"}


class Droid:
    """In a sandbox of Ralph's, without permissions; else up to what can be undone."""

    traits = Traits(
        name="droid",
        program="droid",
        install_hint="npm install -g droid",
        login_hint="run `droid` once and type /login, or set FACTORY_API_KEY, and name it in"
        ' [agent] pass_env = ["FACTORY_API_KEY"]',
        keys=(KEY,),
        home=Home(
            # It stands for the home directory; the folder is inside.
            variable="FACTORY_HOME_OVERRIDE",
            folder=".factory",
            inside=".factory",
            credentials=LOGINS,
            excerpts=(
                Excerpt(
                    file=MODELS,
                    keys=(
                        "customModels",
                        "model",
                        "reasoningEffort",
                        "sessionDefaultSettings",
                        # What a person has forbidden stays forbidden.
                        "cloudSessionSync",
                        "commandBlocklist",
                        "commandDenylist",
                        "includeCoAuthoredByDroid",
                        "networkPolicy",
                        "webSearchDisabled",
                    ),
                ),
                Excerpt(file=OLD_MODELS, keys=("custom_models",)),
            ),
        ),
        skills=".factory/skills",
        hears=True,
        tools=Toolbox(
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

    def __init__(self, setup: Setup) -> None:
        del setup  # it has no command line but its own

    def command(self, brief: Brief) -> Launch:
        """The prompt goes to stdin: that is where it looks without one."""
        terms = brief.terms
        text = brief.text if brief.rules_path else with_rules(brief)
        return Launch(
            argv=(
                *("droid", "exec", "-o", "stream-json"),
                *(("--skip-permissions-unsafe",) if terms.fenced else ("--auto", "medium")),
                *(("-m", terms.model) if terms.model else ()),
                *(("--only-tools", ",".join(terms.allowed_tools)) if terms.allowed_tools else ()),
                *_denied(terms),
                *_rules(brief),
            ),
            stdin=text.encode("utf-8", "replace"),
            env=ENV,
            config={**_hooks(terms), **_tools(terms)},
        )

    def converse(self, brief: Brief) -> Launch:
        """Its own screen, with a person who chooses the model and gives permissions."""
        text = opening(brief, rules=not brief.rules_path)
        if not brief.terms.hooks:
            return Launch(argv=("droid", *_rules(brief), text), env=ENV)
        path = f"{brief.path.removesuffix('.prompt.md')}.settings.json"
        return Launch(
            argv=("droid", "--settings", path, *_rules(brief), text),
            env=ENV,
            config={os.path.basename(path): {"hooks": hooks(brief.terms, "PreToolUse")}},
        )

    def read(self, block: bytes) -> Iterable[AgentEvent]:
        """Line by line."""
        return stream.read(block)

    def ending(self, digest: Digest, exit_: Exit) -> Ending:
        """As its last line says, and as the requests before it failed."""
        result = digest.result
        if result is not None and result.failure is not None and digest.tail:
            # A session in which something was said has got past its login: these are the words
            # of the model, which come back as the program's.
            digest = replace(digest, result=replace(result, failure=None, detail=""))
        ending = conclude(digest, exit_, failures.of_stderr(exit_.stderr))
        if ending.cost is Cost.WAIT:
            return replace(ending, resets_at=reset_time(ending.detail, exit_.ended_at))
        if ending.ended is Ended.AGENT_ERROR and not ending.detail:
            return replace(ending, detail=last_line(exit_.stderr) or "it gave up, nobody knows why")
        return ending

    def account(self, env: Mapping[str, str], files: Mapping[str, bytes]) -> Account:
        """By the key or the login; a model of one's own has its own key."""
        return payer(env, files)


def _denied(terms: Terms) -> tuple[str, ...]:
    denied = (*terms.denied_tools, *(CHANGING if terms.read_only else ()))
    return ("--remove-tools", ",".join(denied)) if denied else ()


def _hooks(terms: Terms) -> Mapping[str, Mapping[str, object]]:
    return {MODELS: {"hooks": hooks(terms, *HOOKS)}} if terms.hooks else {}


def _tools(terms: Terms) -> Mapping[str, Mapping[str, object]]:
    if not terms.tools:
        return {}
    # It passes its own variables on, so the way to the running loop as well.
    server = {"type": "stdio", "command": terms.tools[0], "args": list(terms.tools[1:])}
    return {SERVERS: {"mcpServers": {"ralph": server}}}


def _rules(brief: Brief) -> tuple[str, ...]:
    return ("--append-system-prompt-file", brief.rules_path) if brief.rules_path else ()
