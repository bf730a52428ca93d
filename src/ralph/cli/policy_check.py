"""Say whether a session may run a shell command, and why not; nothing is run.

Exit 0 when it may, with the command as it would be rewritten; 1 when it may not.
"""

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from ralph.cli.parser import add_json, one_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ralph.core.policy.decision import Decision

EXAMPLES = """
ralph policy check 'git push'
ralph policy check --strict 'eval "$CMD"'
ralph policy check --phase planning --agent codex 'cat README.md'
ralph policy check --json -
"""

DENIED = 1
PHASES = ("discovery", "planning", "building", "validation")


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("command", metavar="COMMAND", help="shell text; - reads one from each line")
    parser.add_argument(
        "--phase",
        type=one_of(PHASES),
        default="building",
        metavar="PHASE",
        help=f"what the session is for: {', '.join(PHASES)}; default: building",
    )
    parser.add_argument(
        "--agent", metavar="NAME", help="with this agent's tools; default: one that reads by shell"
    )
    parser.add_argument("--strict", action="store_true", help="deny what cannot be decided")
    add_json(parser, "print the decision as an object; with -, one on each line")


def run(args: Namespace) -> int:
    import os

    from ralph.cli.opening import the_project_if_any
    from ralph.core.policy.deciding import decide
    from ralph.core.policy.decision import Deny, Phase
    from ralph.core.policy.tools import Toolbox
    from ralph.wiring.agents import make_agent
    from ralph.wiring.policy import policy_ground, project_policy

    project = the_project_if_any()
    toolbox = Toolbox(reads_by_shell=True)
    if args.agent is not None:
        toolbox = make_agent(project, args.agent).traits.tools
    policy = project_policy(project, strict=args.strict)
    ground = policy_ground(project, os.getcwd())
    has_denied = False
    for command in _commands(args.command):
        decision = decide(
            "Bash",
            {"command": command},
            phase=Phase(args.phase),
            policy=policy,
            ground=ground,
            toolbox=toolbox,
        )
        has_denied = has_denied or isinstance(decision, Deny)
        _show(command, decision, as_json=args.json, is_one=args.command != "-")
    return DENIED if has_denied else 0


def _commands(given: str) -> "Iterable[str]":
    if given != "-":
        return [given]
    # Whatever bytes: a command is judged, not printed.
    lines = sys.stdin.buffer.read().decode("utf-8", "surrogateescape").split("\n")
    return [line.rstrip("\r") for line in lines if line.strip()]


def _show(command: str, decision: "Decision", *, as_json: bool, is_one: bool) -> None:
    if as_json:
        from ralph.cli.as_json import show, show_lines

        fields = _fields(command, decision)
        if is_one:
            show(fields)
        else:
            show_lines([fields])
        return
    words = list(_words(decision))
    if is_one:
        print("\n".join(words))
    else:
        from ralph.core.safe_text import one_line

        print(f"{words[0]}: {one_line(command, 200)}")
        print("".join(f"  {line}\n" for line in words[1:]), end="")


def _fields(command: str, decision: "Decision") -> dict[str, Any]:
    import msgspec

    told = msgspec.to_builtins(decision)
    fields = {
        "command": command,
        "decision": told["type"],
        "reason": told.get("reason", ""),
        "suggestion": told.get("suggestion", ""),
        "rewritten": told.get("command"),
        "doubts": told.get("doubts", ()),
    }
    return {key: _plain(value) for key, value in fields.items()}


def _plain(value: Any) -> Any:
    """Bytes that are no UTF-8 cannot stand in JSON."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _words(decision: "Decision") -> "Iterable[str]":
    from ralph.core.policy.decision import Allow, Deny, Rewrite
    from ralph.core.safe_text import block, one_line

    match decision:
        case Deny():
            yield "denied"
            yield f"why: {one_line(decision.reason)}"
            if decision.suggestion:
                yield f"instead: {one_line(decision.suggestion)}"
        case Rewrite():
            yield "rewritten"
            yield f"as: {block(decision.command)}"
        case Allow():
            yield "allowed"
    if not isinstance(decision, Deny):
        for doubt in decision.doubts:
            yield f"in doubt: {one_line(doubt)}"
