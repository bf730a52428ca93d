"""Answer a hook of the agent's own program, as Claude Code calls it.

Sessions get their hooks by themselves; nothing of yours is changed. The program writes JSON to
stdin and reads the decision from stdout. The loop that started the session decides; if it cannot
be asked before a tool is used, the tool is not used (exit code 2). What comes afterwards is told to
it: how much of the context the tool's answer takes, and what failed.

`task-completed` and `teammate-idle` serve Claude Code's own agent teams (`ralph team install`): 0
is yes, 2 is no, and stderr tells the teammate why.

In a conversation with a person no loop runs: with --phase the policy decides right here.
"""

import sys
from argparse import ArgumentParser, Namespace

from ralph.cli.parser import one_of

EXAMPLES = """
cat call.json | ralph hook pre-tool-use
echo '{"teammate_name": "teammate-1", "task_subject": "Parser"}' | ralph hook task-completed
cat call.json | ralph hook pre-tool-use --phase planning --agent claude
"""

PHASES = ("discovery", "planning", "building", "validation")


def arguments(parser: ArgumentParser) -> None:
    names = "pre-tool-use, post-tool-use, stop, session-start, task-completed or teammate-idle"
    parser.add_argument("name", metavar="NAME", help=names)
    parser.add_argument(
        "--phase",
        type=one_of(PHASES),
        metavar="PHASE",
        help=f"decide without a running loop: {', '.join(PHASES)}",
    )
    parser.add_argument("--agent", metavar="NAME", help="whose tools they are; with --phase")


def run(args: Namespace) -> int:
    from ralph.cli.team.hooks import NAMES, answer

    if args.name in NAMES:
        return answer(args.name)
    if args.phase is None:
        from ralph.inside.hooking import hook

        return hook(args.name)
    if args.name != "pre-tool-use":
        return 0
    from ralph.core.errors import RalphError
    from ralph.inside.hooking import REFUSED

    try:
        _decide(args.phase, args.agent)
    except (RalphError, OSError) as error:
        # Whoever cannot be asked has not agreed.
        print(f"ralph: {error}", file=sys.stderr)
        return REFUSED
    return 0


def _decide(phase: str, agent: str | None) -> None:
    import os

    import msgspec

    from ralph.cli.opening import the_project_if_any
    from ralph.core.errors import UsageError
    from ralph.inside.hooks import decided, in_words
    from ralph.wiring.policy import leash_here

    try:
        asked = sys.stdin.buffer.read() if sys.stdin is not None else b""
        payload = msgspec.json.decode(asked, type=dict[str, object])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"not a call: {error}") from error
    leash = leash_here(the_project_if_any(), phase, agent, os.getcwd())
    if said := in_words(decided(payload, leash), payload):
        with open(1, "wb", closefd=False) as out:
            out.write(msgspec.json.encode(said) + b"\n")
