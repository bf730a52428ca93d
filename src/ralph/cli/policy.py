"""Say whether a session may run a shell command, and why not; nothing is run.

Exit 0 when it may, with the command as it would be rewritten; 1 when it may not.

examples:
  ralph policy check 'git push'
  ralph policy check --strict 'eval "$CMD"'
  ralph policy check --phase planning --agent codex 'cat README.md'
  ralph policy check --json -
"""

import sys
from argparse import Namespace
from collections.abc import Iterable
from typing import Any

from msgspec import to_builtins

from ralph.cli.command import command, flag, option
from ralph.cli.options import PHASES, json_option
from ralph.cli.output import print_json, print_json_lines
from ralph.cli.project_access import open_project
from ralph.core.policy.decide import decide
from ralph.core.policy.decision import Allow, Decision, Deny, Rewrite
from ralph.core.policy.tools import AgentTools
from ralph.core.safe_text import multi_line, one_line
from ralph.wiring.agents import make_agent
from ralph.wiring.project_policy import permissions_here

DENIED = 1


@command(
    option("command", "COMMAND", "shell text; - reads one from each line"),
    option("--phase", "what it is for (default building)", choices=PHASES, default="building"),
    option("--agent", "NAME", "with this agent's tools; default: one that reads by shell"),
    flag("--strict", "deny what cannot be decided"),
    json_option("print the decision as an object; with -, one on each line"),
)
def check(args: Namespace) -> int:
    project = open_project(anywhere=True)
    tools = AgentTools(reads_by_shell=True)
    if args.agent is not None:
        tools = make_agent(project, args.agent).traits.tools
    permissions = permissions_here(project, args.phase, tools, strict=args.strict)
    code = 0
    for text in _commands(args.command):
        decision = decide("Bash", {"command": text}, permissions)
        if isinstance(decision, Deny):
            code = DENIED
        _print(text, decision, as_json=args.json, is_one=args.command != "-")
    return code


def _commands(given: str) -> Iterable[str]:
    if given != "-":
        return [given]
    # Any bytes: a command is judged, not printed.
    lines = sys.stdin.buffer.read().decode("utf-8", "surrogateescape").split("\n")
    return [line.rstrip("\r") for line in lines if line.strip()]


def _print(text: str, decision: Decision, *, as_json: bool, is_one: bool) -> None:
    if as_json and is_one:
        print_json(_fields(text, decision))
    elif as_json:
        print_json_lines([_fields(text, decision)])
    elif is_one:
        print("\n".join(_lines(decision)))
    else:
        first, *more = _lines(decision)
        print("\n  ".join((f"{first}: {one_line(text, 200)}", *more)))


def _fields(text: str, decision: Decision) -> dict[str, Any]:
    found = to_builtins(decision)
    fields = {
        "command": text,
        "decision": found["type"],
        "reason": found.get("reason", ""),
        "suggestion": found.get("suggestion", ""),
        "rewritten": found.get("command"),
        "doubts": found.get("doubts", ()),
    }
    # Bytes that are not UTF-8 cannot be in JSON.
    return {
        key: value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for key, value in fields.items()
    }


def _lines(decision: Decision) -> Iterable[str]:
    match decision:
        case Deny():
            yield "denied"
            yield f"why: {one_line(decision.reason)}"
            if decision.suggestion:
                yield f"instead: {one_line(decision.suggestion)}"
            return
        case Rewrite():
            yield "rewritten"
            yield f"as: {multi_line(decision.command)}"
        case Allow():
            yield "allowed"
    for doubt in decision.doubts:
        yield f"in doubt: {one_line(doubt)}"
