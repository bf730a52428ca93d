"""Watch a scripted agent build a small project, with a failing gate and a crash on the way.

examples:
  ralph demo                in a new temporary folder
  ralph demo --in ./play    in a folder of your choice
"""

import os
import shlex
import sys
from argparse import Namespace

from ralph.cli.command import command, option
from ralph.cli.options import EVENTS
from ralph.cli.project_access import open_project, open_run
from ralph.core.errors import CannotWrite, UsageError
from ralph.wiring.project import open_store


@command(option("--in", "DIR", "an empty or new folder", dest="folder"), EVENTS)
def demo(args: Namespace) -> int:
    from ralph.engine.loop import run
    from ralph.wiring.processes import open_executor
    from ralph.workflows.demo import create_demo_project, demo_tasks

    folder, ralph = _folder(args.folder), _this_command()
    with open_executor() as executor:
        create_demo_project(folder, executor)
    os.chdir(folder)
    # Settings and sessions around the demo do not concern it.
    for name in [name for name in os.environ if name.startswith(("RALPH_", "AGENT_CMD"))]:
        del os.environ[name]
    out = sys.stderr if args.json else sys.stdout
    print(f"A small project in {folder}, nine tasks, one scripted agent:\n", file=out, flush=True)
    project = open_project()
    with open_store(project) as store:
        store.tasks.add_many(demo_tasks())
    with open_run(project, args, None, "ralph run") as ctx:
        code = run(ctx).exit_code
    print(_what_to_look_at(folder, ralph), file=out, flush=True)
    return code


def _folder(wanted: str | None) -> str:
    from tempfile import mkdtemp

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


def _this_command() -> str:
    """How to call Ralph from another folder."""
    from shutil import which

    here = os.path.abspath(sys.argv[0])
    found = which("ralph")
    # uv and pipx put a link to the program on the PATH.
    is_found = found is not None and os.path.realpath(found) == os.path.realpath(here)
    return "ralph" if is_found else shlex.quote(here)


def _what_to_look_at(folder: str, ralph: str) -> str:
    looks = (
        ("git log --notes='ralph*' --stat", "what was committed, and by which task"),
        (f"{ralph} task tree", "the graph"),
        (f"{ralph} logs t-000005", "the session that crashed, and the next one"),
        (f"{ralph} logs t-000006", "the claim that the gate refused"),
        ("python3 -m tally sample.ledger", "what was built"),
    )
    width = max(len(shown) for shown, _ in looks)
    lines = [f"  {shown:<{width}}  # {why}" for shown, why in looks]
    return "\n".join(["", "Look around:", f"  cd {shlex.quote(folder)}", *lines])
