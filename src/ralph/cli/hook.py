"""Answer a hook of the agent's own program, as Claude Code calls it.

Sessions get their hooks by themselves; nothing of yours is changed. The program writes JSON to
stdin and reads the decision from stdout. The loop that started the session decides; if it cannot
be asked before a tool is used, the tool is not used (exit code 2). What comes afterwards is told to
it: how much of the context the tool's answer takes, and what failed.

`task-completed` and `teammate-idle` serve Claude Code's own agent teams (`ralph team install`): 0
is yes, 2 is no, and stderr tells the teammate why.
"""

from argparse import ArgumentParser, Namespace

EXAMPLES = """
cat call.json | ralph hook pre-tool-use
echo '{"teammate_name": "teammate-1", "task_subject": "Parser"}' | ralph hook task-completed
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "name",
        metavar="NAME",
        help="pre-tool-use, post-tool-use, stop, session-start, task-completed or teammate-idle",
    )


def run(args: Namespace) -> int:
    from ralph.cli.team.hooks import NAMES, answer
    from ralph.inside.hooking import hook

    return answer(args.name) if args.name in NAMES else hook(args.name)
