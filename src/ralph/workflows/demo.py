"""The demo: a small real project, built by the scripted agent before your eyes."""

import os
import shlex
import shutil
import sys

from ralph.core.errors import RalphError
from ralph.core.ids import TaskId
from ralph.core.task import Draft
from ralph.documents.task_lines import read
from ralph.documents.task_names import Names, drafts
from ralph.ports.executor import Executor

SAMPLE = os.path.join(os.path.dirname(__file__), "sample")

CONFIG = """\
# The demo's own configuration: a scripted agent, and the project's tests as gates.

[agent]
name = "scripted"
command = ".ralph/script.toml"

[gates]
compile = "{python} -m compileall -q tally"
test = "{python} -m unittest -q"

[sandbox]
# The scripted agent does only what its script says, so it needs no wall.
mode = "off"
"""

IGNORED = "\n.ralph/\n"


def lay_out(directory: str, executor: Executor) -> None:
    """Write the sample project with its first commit."""
    shutil.copytree(os.path.join(SAMPLE, "project"), directory, dirs_exist_ok=True)
    os.makedirs(os.path.join(directory, ".ralph"), exist_ok=True)
    shutil.copy(os.path.join(SAMPLE, "script.toml"), os.path.join(directory, ".ralph"))
    python = shlex.quote(sys.executable).replace("\\", "\\\\").replace('"', '\\"')
    _write(directory, ".ralph.toml", CONFIG.format(python=python), "w")
    _write(directory, ".gitignore", IGNORED, "a")
    for argv in (
        ("git", "init", "-q", "-b", "main"),
        ("git", "config", "user.name", "Ralph's demo"),
        ("git", "config", "user.email", "demo@localhost"),
        ("git", "add", "-A"),
        ("git", "commit", "-q", "-m", "Start the tally project"),
    ):
        done = executor.capture(argv, cwd=directory)
        if done.code != 0:
            raise RalphError(f"the demo cannot start: {done.stderr.decode(errors='replace')}")


def the_tasks() -> list[Draft]:
    """The graph that the scripted agent knows how to build."""
    with open(os.path.join(SAMPLE, "tasks.jsonl"), "rb") as file:
        return drafts(read(file.readlines()), Names(), fresh=_no_more_ids, max_retries=3)


def _no_more_ids() -> TaskId:
    raise AssertionError("every task of the demo has an id")


def _write(directory: str, name: str, text: str, mode: str) -> None:
    with open(os.path.join(directory, name), mode, encoding="utf-8") as file:
        file.write(text)
