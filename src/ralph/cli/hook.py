"""Commands that programs of agents call: hooks and the MCP server."""

import os
import sys
from argparse import Namespace
from typing import Any

from ralph.cli.command import command, option
from ralph.cli.options import PHASES
from ralph.cli.project_access import open_project
from ralph.core.errors import Missing, RalphError, Unavailable, UnusableData, UsageError
from ralph.core.json_text import NOT_JSON
from ralph.wiring.project import open_store

TEAM_HOOKS = ("task-completed", "teammate-idle")
NO = 2
"""The exit code that Claude Code takes for a no."""


@command(
    option(
        "name",
        "NAME",
        "pre-tool-use, post-tool-use, stop, session-start, task-completed or teammate-idle",
    ),
    option("--phase", "decide without a running loop", choices=PHASES),
    option("--agent", "NAME", "whose tools they are; with --phase"),
)
def hook(args: Namespace) -> int:
    """Answer a hook of the agent's own program, as Claude Code calls it.

    Sessions get their hooks by themselves; nothing of yours is changed. The program writes JSON to
    stdin and reads the decision from stdout. The loop that started the session decides; if it
    cannot be asked before a tool is used, the tool is not used (exit code 2). Afterwards the hook
    reports how much of the context the tool's answer takes, and failures.

    `task-completed` and `teammate-idle` serve Claude Code's own agent teams (`ralph team install`):
    0 is yes, 2 is no, and stderr tells the teammate why.

    In a conversation with a person no loop runs: with --phase the policy decides right here.

    examples:
      cat call.json | ralph hook pre-tool-use
      echo '{"teammate_name": "teammate-1", "task_subject": "Parser"}' | ralph hook task-completed
      cat call.json | ralph hook pre-tool-use --phase planning --agent claude
    """
    if args.name in TEAM_HOOKS:
        return _answer_team(args.name)
    if args.phase is None:
        from ralph.inside.socket_client import answer_hook

        return answer_hook(args.name)
    if args.name != "pre-tool-use":
        return 0
    from ralph.inside.socket_client import REFUSED

    try:
        _decide(args.phase, args.agent)
    except (RalphError, OSError) as error:
        # A policy that cannot be asked has not agreed.
        print(f"ralph: {error}", file=sys.stderr)
        return REFUSED
    return 0


def _decide(phase: str, agent: str | None) -> None:
    import msgspec

    from ralph.core.policy.tools import AgentTools
    from ralph.inside.hook_answers import decide_tool_use, decision_json
    from ralph.wiring.agents import make_agent
    from ralph.wiring.project_policy import permissions_here

    try:
        call = _read_call()
    except NOT_JSON as error:
        raise UsageError(f"not a call: {error}") from error
    project = open_project(anywhere=True)
    tools = make_agent(project, agent).traits.tools if agent is not None else AgentTools()
    permissions = permissions_here(project, phase, tools)
    if said := decision_json(decide_tool_use(call, permissions), call):
        with open(1, "wb", closefd=False) as out:
            out.write(msgspec.json.encode(said) + b"\n")


def _read_call() -> dict[str, Any]:
    import msgspec

    data = sys.stdin.buffer.read() if sys.stdin is not None else b""
    return msgspec.json.decode(data, type=dict[str, Any])


def _answer_team(name: str) -> int:
    """0: yes. 2: no, and stderr says why. After an error no task counts as completed, and every
    teammate may rest."""
    if os.environ.get("RALPH_SOCKET"):
        # A session of Ralph's own: the loop that started it judges its work when it ends.
        return 0
    code = NO if name == "task-completed" else 0
    try:
        code, said = _ask_team(name)
    except RalphError as error:
        said = f"ralph: {error}" + (f" ({error.hint})" if error.hint else "")
    except Exception as error:  # noqa: BLE001 - every code but 2 is a yes to Claude Code
        said = f"ralph: this is a bug in Ralph: {type(error).__name__}: {error}"
    if said:
        print(said, file=sys.stderr)
    return code


def _ask_team(name: str) -> tuple[int, str]:
    from ralph.wiring.gate_runner import first_failure
    from ralph.wiring.processes import system_clock
    from ralph.wiring.project import find_project, open_project_files
    from ralph.wiring.run_settings import usable_gates
    from ralph.workflows.claude_team_hooks import (
        read_hook_call,
        stamp_goals,
        task_completed,
        teammate_idle,
        write_team_state_files,
    )

    try:
        asked = read_hook_call(_read_call())
    except NOT_JSON as error:
        raise UnusableData(f"standard input is no JSON object: {error}") from error
    folder = os.environ.get("CLAUDE_PROJECT_DIR") or asked.cwd
    try:
        os.chdir(folder or os.curdir)
    except OSError as error:
        raise Missing(f"cannot go to {folder}: {error.strerror}") from error
    project = find_project()
    limits, clock = project.config.breaker, system_clock()
    with open_store(project) as store:
        if name == "teammate-idle":
            # Where no task can be completed, no teammate is kept at work for ever.
            usable_gates(project)
            answer = teammate_idle(store, clock, limits, asked, project.root)
        else:
            answer = task_completed(
                store, clock, limits, asked, lambda: first_failure(project, asked.slot)
            )
            project_files = open_project_files(project)
            retries = project.config.execution.max_retries
            stamp_goals(store, project_files, clock, asked, retries)
            write_team_state_files(store, project_files)
    return answer


@command()
def mcp(_: Namespace) -> None:
    """Serve Ralph's tools to the agent of a session, over MCP on stdin and stdout.

    Sessions get it by themselves where their agent can take it (`[agent] mcp`). It works only
    inside of a session: every call is answered by the loop that started it. Needs the extra `mcp`:
    pip install 'ralphloop[mcp]'.

    examples:
      ralph mcp
    """
    from ralph.inside.socket_client import SocketUnavailable, socket_and_token

    try:
        socket_and_token(os.environ)
    except SocketUnavailable as error:
        raise Missing(str(error), hint="`ralph run` starts sessions") from error
    try:
        from ralph.inside.mcp_server import serve
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"{error.name} is not installed", hint="pip install 'ralphloop[mcp]'"
        ) from error
    serve()
