"""Watch a scripted agent build a small project, with a failing gate and a crash on the way."""

import os
import shlex
import sys
from argparse import ArgumentParser, Namespace

EXAMPLES = """\
ralph demo                in a new temporary folder
ralph demo --in ./play    in a folder of your choice"""


def arguments(parser: ArgumentParser) -> None:
    """Where to build it, and how to show it."""
    parser.add_argument("--in", dest="folder", metavar="DIR", help="an empty or new folder")
    parser.add_argument("--json", action="store_true", help="print events as JSON lines")


def run(args: Namespace) -> int:
    """Lay out the project, add its tasks, run the loop, and leave the folder for inspection."""
    from ralph.adapters.executor.clock import SystemClock
    from ralph.adapters.executor.processes import Processes
    from ralph.workflows.demo import lay_out

    folder, ralph = _folder(args.folder), _this_command()
    lay_out(folder, Processes(SystemClock()))
    os.chdir(folder)
    # Settings and sessions around the demo are none of its business.
    for name in [name for name in os.environ if name.startswith(("RALPH_", "AGENT_CMD"))]:
        del os.environ[name]
    say = sys.stderr if args.json else sys.stdout
    print(f"A small project in {folder}, nine tasks, one scripted agent:\n", file=say, flush=True)
    code = _build(args)
    print(_what_to_look_at(folder, ralph), file=say, flush=True)
    return code


def _folder(wanted: str | None) -> str:
    from tempfile import mkdtemp

    from ralph.core.errors import CannotWrite, UsageError

    try:
        if wanted is None:
            return mkdtemp(prefix="ralph-demo-")
        folder = os.path.abspath(wanted)
        if os.path.exists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
            hint = "name one that does not exist"
            raise UsageError(f"{folder} is not an empty folder", hint=hint)
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        why = (error.strerror or "").lower()
        hint = "ralph demo --in DIR takes another place"
        raise CannotWrite(
            f"cannot make {wanted or 'a temporary folder'}: {why}", hint=hint
        ) from error
    return folder


def _build(args: Namespace) -> int:
    from ralph.cli.opening import the_project, the_store
    from ralph.engine.loop import run as run_loop
    from ralph.wiring.run import assemble
    from ralph.workflows.demo import the_tasks

    project = the_project()
    with the_store(project) as store:
        store.add_many(the_tasks())
    color = args.color or "auto"
    with assemble(project, None, sys.stdout, json=args.json, color=color) as kit:
        return run_loop(kit).exit_code


def _this_command() -> str:
    """How to call Ralph from another folder."""
    from shutil import which

    here = os.path.abspath(sys.argv[0])
    return "ralph" if which("ralph") == here else shlex.quote(here)


def _what_to_look_at(folder: str, ralph: str) -> str:
    looks = (
        ("git log --stat", "what was committed, and by which task"),
        (f"{ralph} task tree", "the graph"),
        (f"{ralph} logs t-000005", "the session that crashed, and the one after it"),
        (f"{ralph} logs t-000006", "the claim that the gate refused"),
        ("python3 -m tally sample.ledger", "what was built"),
    )
    width = max(len(command) for command, _ in looks)
    lines = [f"  {command:<{width}}  # {why}" for command, why in looks]
    return "\n".join(["", "Look around:", f"  cd {shlex.quote(folder)}", *lines])
