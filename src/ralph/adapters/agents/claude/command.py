"""How to start Claude Code."""

import json
from collections.abc import Iterator, Mapping
from typing import Final

from ralph.adapters.agents.asking import hooks
from ralph.adapters.agents.opening import opening
from ralph.core.policy.decision import Phase
from ralph.core.policy.tools import TOOLS
from ralph.ports.agent import DOOR, Brief, Launch, Terms, with_rules

ALLOWED: Final = (
    *("Bash", "Edit", "Write", "Read", "Glob", "Grep"),
    *("NotebookEdit", "Task", "TodoWrite", "WebFetch", "WebSearch"),
)
"""What a session without a sandbox may do unasked; all else is denied."""

CHANGING: Final = ("Edit", "Write", "NotebookEdit")
"""What a session that only looks does not need."""

LOOKING: Final = ("Bash", "Glob", "Grep", "Read")
"""What a session needs that checks another one's work, and no more."""

BESIDE: Final = ("BashOutput", "KillShell", "NotebookEdit", "Skill")
"""Tools of its own that belong to those of the table."""

HOOKS: Final = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionStart")

RETRIES: Final = 5
"""About a quarter of a minute, so that a hiccup does not cost a session. Ralph itself waits longer;
left alone, the program goes on for minutes, even without a login."""


def headless(brief: Brief) -> Launch:
    """A session that works alone: the prompt on stdin, one JSON line for each event."""
    return Launch(
        argv=(
            *("claude", "-p", "--output-format", "stream-json", "--verbose"),
            *("--include-partial-messages", "--no-session-persistence"),
            *_common(brief),
            *_tools(brief.terms),
            *_hooks(brief.terms, HOOKS),
            *_limits(brief.terms),
            *_permissions(brief.terms, alone=True),
        ),
        stdin=_prompt(brief).encode(),
        env=variables(brief.terms),
    )


def interactive(brief: Brief) -> Launch:
    """A session with a person, who is asked for permission."""
    prompt = opening(brief, rules=not brief.rules_path)
    return Launch(
        # Behind `--`, or an option that takes several values would take the prompt as well.
        argv=(
            "claude",
            *_common(brief),
            *_hooks(brief.terms, ("PreToolUse",)),
            *_permissions(brief.terms, alone=False),
            *("--", prompt),
        ),
        env=variables(brief.terms),
    )


def _prompt(brief: Brief) -> str:
    return brief.text if brief.rules_path else with_rules(brief)


def _common(brief: Brief) -> Iterator[str]:
    if brief.terms.model:
        yield from ("--model", brief.terms.model)
    if brief.rules_path:
        yield from ("--append-system-prompt-file", brief.rules_path)
    if (tools := offered(brief.terms)) is not None:
        yield from ("--tools", ",".join(tools))
    if forbidden := denied(brief.terms):
        yield from ("--disallowedTools", *forbidden)


def offered(terms: Terms) -> list[str] | None:
    """The tools that it shows the model; None: its own choice."""
    if terms.checks:
        return list(LOOKING)
    if not terms.hooks:
        return None
    # It has none to search with, unless they are asked for. A shell is there for `ralph`: what else
    # it may do, the hooks know.
    more = BESIDE if terms.phase is Phase.BUILDING else ("Bash",)
    return sorted(TOOLS[terms.phase].union(more))


def denied(terms: Terms) -> tuple[str, ...]:
    """The tools that it must not use."""
    return (*terms.denied_tools, *(CHANGING if terms.read_only else ()))


def _tools(terms: Terms) -> Iterator[str]:
    if terms.tools:
        # The values are the program's to fill in: a token on a command line is for everybody.
        env = {name: f"${{{name}}}" for name in DOOR}
        server = {"command": terms.tools[0], "args": list(terms.tools[1:]), "env": env}
        text = json.dumps({"mcpServers": {"ralph": server}})
        yield from ("--mcp-config", text, "--strict-mcp-config")


def _hooks(terms: Terms, events: tuple[str, ...]) -> Iterator[str]:
    if terms.hooks:
        yield from ("--settings", json.dumps({"hooks": hooks(terms, *events)}))


def _limits(terms: Terms) -> Iterator[str]:
    if terms.max_turns:
        yield from ("--max-turns", str(terms.max_turns))
    if terms.budget_usd:
        yield from ("--max-budget-usd", f"{terms.budget_usd:.6f}")


def _permissions(terms: Terms, *, alone: bool) -> Iterator[str]:
    if terms.fenced and not terms.allowed_tools:
        yield "--dangerously-skip-permissions"
        return
    if alone:
        # Nobody is there to be asked. A file in the checkout could choose another mode.
        yield from ("--permission-mode", "dontAsk")
    if tools := terms.allowed_tools or (ALLOWED if alone else ()):
        yield from ("--allowedTools", *tools, *(("mcp__ralph",) if terms.tools else ()))


def variables(terms: Terms) -> Mapping[str, str]:
    """What it finds in its environment."""
    found = {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": str(RETRIES),
        "DISABLE_AUTOUPDATER": "1",
    }
    if terms.fenced and terms.as_root:
        # It refuses to work unasked as root, unless it is told of the sandbox by exactly this.
        found["IS_SANDBOX"] = "1"
    return found
