"""Kimi Code: how it is started, how it ends, who pays."""

import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from ralph.adapters.agents.command_parts import first_message, hook_command
from ralph.adapters.agents.kimi.output import MESSAGE_CHARS, read_output
from ralph.adapters.agents.request_failures import ending_of_session, of_answer
from ralph.core.agent_events import SessionResultEvent
from ralph.core.policy.tools import AgentTools
from ralph.core.process_exit import ProcessExit
from ralph.core.safe_text import one_line
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.session_output import StreamSummary
from ralph.core.toml_text import parse_toml
from ralph.ports import agent

LOGIN: Final = "credentials/kimi-code.json"
SETTINGS: Final = "config.toml"
SERVERS: Final = "mcp.json"
KEY: Final = "KIMI_MODEL_API_KEY"
ADDRESS: Final = "KIMI_MODEL_BASE_URL"

ENV: Final = {
    "KIMI_CODE_NO_AUTO_UPDATE": "1",
    "KIMI_DISABLE_TELEMETRY": "1",
    # About ten seconds. Left alone, it goes on for two and a half minutes.
    "KIMI_LOOP_MAX_ATTEMPTS_PER_STEP": "4",
}

HOOKS: Final = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionStart")
"""Not `Stop`: its payload lacks the model's last message, so Ralph would ask a session for a claim
that it has made."""
HOOK_TIMEOUT_S: Final = 60
"""Of Kimi, after which it uses the tool."""

FAILURE: Final = re.compile(
    r"^error: failed to run prompt: (?:([a-z]+\.[a-z_]+): )?(.+)$(?:\nSee log: .*)?\s*\Z",
    re.MULTILINE,
)
"""The end of its stderr. Tools write there as well, but not after the program has given up."""
STATUS: Final = re.compile(r"^(\d{3}) ")
CLASSES: Final = {
    "provider.auth_error": EndingKind.AUTH_EXPIRED,
    "provider.rate_limit": EndingKind.RATE_LIMITED,
    "provider.connection_error": EndingKind.NO_NETWORK,
    "context.overflow": EndingKind.PROMPT_TOO_LONG,
    "loop.max_steps_exceeded": EndingKind.TURN_LIMIT,
}
NOT_CONFIGURED: Final = re.compile(
    r'(?i)^model ".*" is not configured|^no (?:default )?model configured'
)
NOT_LOGGED_IN: Final = re.compile(r"(?i)^(?:not logged in|login required|.*\bkimi login\b)")
STDERR: Final = (
    ("error: unknown option", EndingKind.NOT_INSTALLED),
    ("Cannot combine --prompt", EndingKind.NOT_INSTALLED),
)


def billing_account(env: Mapping[str, str], files: Mapping[str, bytes]) -> agent.BillingAccount:
    """Of a model by variables, of the login, of a provider of the user's own."""
    if env.get(KEY):
        return agent.BillingAccount(name=f"the owner of {KEY}", logged_in=True)
    if files.get(LOGIN, b"").strip():
        return agent.BillingAccount(name="a Kimi account", billed=False, logged_in=True)
    try:
        config: Mapping[str, Any] = parse_toml(files.get(SETTINGS, b"").decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return agent.BillingAccount(name=f"unknown: {SETTINGS} cannot be read")
    providers = config.get("providers")
    if isinstance(providers, dict) and providers:
        names = one_line(", ".join(sorted(providers)), 80)
        return agent.BillingAccount(name=f"the provider of {SETTINGS} ({names})", logged_in=True)
    return agent.BillingAccount(name="no account: not logged in", logged_in=False)


class Kimi:
    """It asks for no permission: only Ralph's sandbox and policy limit it."""

    traits = agent.AgentTraits(
        name="kimi",
        program="kimi",
        install_hint="npm install -g @moonshot-ai/kimi-code",
        login_hint="run `kimi login`",
        keys=(KEY, ADDRESS),
        home=agent.AgentHome(
            variable="KIMI_CODE_HOME",
            folder=".kimi-code",
            credentials=(LOGIN,),
            excerpts=(
                agent.ConfigExcerpt(
                    file=SETTINGS,
                    keys=("default_model", "providers", "models", "thinking", "default_thinking"),
                ),
            ),
            usage=agent.UsageLog(files="sessions/*/*/agents/*/wire.jsonl", marker='"usage.record"'),
        ),
        tools=AgentTools(
            takes_rewrites=False,
            names={
                **dict.fromkeys(("ReadMediaFile", "Skill", "WaitFor"), ("Read",)),
                **dict.fromkeys(("Agent", "AgentSwarm"), ("Task",)),
                **dict.fromkeys(("TaskList", "TaskOutput", "TaskStop"), ("Bash",)),
                **dict.fromkeys(("TodoList", "CreateGoal", "GetGoal"), ("TodoWrite",)),
                **dict.fromkeys(("UpdateGoal", "SetGoalBudget"), ("TodoWrite",)),
                "Write": ("Write", "Edit"),
                "FetchURL": ("WebFetch",),
            },
        ),
    )
    read = staticmethod(read_output)
    account = staticmethod(billing_account)

    def __init__(self, setup: agent.AgentSetup) -> None: ...

    def command(self, brief: agent.Brief) -> agent.AgentCommand:
        """`kimi -p` with all permissions. It reads no stdin: a long brief is in its file."""
        terms = brief.terms
        return agent.AgentCommand(
            argv=(
                *("kimi", "--output-format", "stream-json"),
                *_model(terms),
                *("-p", first_message(brief)),
            ),
            env=ENV,
            config={
                SETTINGS: {"telemetry": False, **_limits(terms), **_hooks(terms)},
                **_tools(terms),
            },
        )

    def interactive_command(self, brief: agent.Brief) -> agent.AgentCommand:
        """Its own screen takes no first message: what would be one makes Ralph refuse."""
        text = first_message(brief).encode("utf-8", "replace")
        return agent.AgentCommand(argv=("kimi", *_model(brief.terms)), stdin=text)

    def ending(self, digest: StreamSummary, exit_: ProcessExit) -> SessionEnding:
        """By the line after a good turn, else by the last words on stderr."""
        ending = ending_of_session(digest, exit_, STDERR)
        if ending.ended is EndingKind.FINISHED:
            if not digest.said:
                said = "the model said nothing"
                return replace(ending, ended=EndingKind.NO_RESULT, message="", detail=said)
            return replace(ending, message=digest.said)
        found = FAILURE.search(exit_.stderr)
        if exit_.stop is not None or exit_.code != 1 or found is None:
            return ending
        kind, said = _failure(found[1] or "", found[2])
        return ending_of_session(_failed(digest, kind, said), exit_, STDERR)


def _failure(error_class: str, said: str) -> tuple[EndingKind, str]:
    status = STATUS.match(said)
    found = of_answer(said, int(status[1]) if status else None) or CLASSES.get(error_class)
    if found is None and NOT_CONFIGURED.search(said):
        found = EndingKind.UNKNOWN_MODEL
    if found is None and NOT_LOGGED_IN.search(said):
        found = EndingKind.AUTH_EXPIRED
    if found is None and error_class == "provider.api_error" and status is None:
        # No answer at all, or none that makes sense; it has asked again.
        found = EndingKind.OVERLOADED
    return found or EndingKind.AGENT_ERROR, one_line(said, MESSAGE_CHARS)


def _failed(digest: StreamSummary, kind: EndingKind, said: str) -> StreamSummary:
    return replace(digest, result=SessionResultEvent(error=True, detail=said, failure=kind))


def _model(terms: agent.SessionTerms) -> tuple[str, ...]:
    return ("--model", terms.model) if terms.model else ()


def _limits(terms: agent.SessionTerms) -> Mapping[str, object]:
    return {"loop_control": {"max_steps_per_turn": terms.max_turns}} if terms.max_turns else {}


def _hooks(terms: agent.SessionTerms) -> Mapping[str, object]:
    if not terms.hooks:
        return {}
    return {
        "hooks": [
            {"event": name, "command": hook_command(terms, name), "timeout": HOOK_TIMEOUT_S}
            for name in HOOKS
        ]
    }


def _tools(terms: agent.SessionTerms) -> Mapping[str, Mapping[str, object]]:
    if not terms.tools:
        return {}
    # It passes its own variables on, so the way to the running loop as well.
    server = {"command": terms.tools[0], "args": list(terms.tools[1:])}
    return {SERVERS: {"mcpServers": {"ralph": server}}}
