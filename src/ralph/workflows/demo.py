"""The demo: a small real project, built by the scripted agent."""

import os
import shlex
import shutil
import sys

from ralph.core.errors import RalphError
from ralph.core.ids import TaskId
from ralph.core.task import TaskDraft
from ralph.documents.task_import import TaskNameIndex, read_task_lines, resolve_drafts
from ralph.ports.executor import Command, Executor

SAMPLE = os.path.join(os.path.dirname(__file__), "sample")


def create_demo_project(directory: str, executor: Executor) -> None:
    """Write the sample project with its first commit."""
    shutil.copytree(os.path.join(SAMPLE, "project"), directory, dirs_exist_ok=True)
    os.makedirs(os.path.join(directory, ".ralph"), exist_ok=True)
    shutil.copy(os.path.join(SAMPLE, "script.toml"), os.path.join(directory, ".ralph"))
    python = shlex.quote(sys.executable).replace("\\", "\\\\").replace('"', '\\"')
    with open(os.path.join(SAMPLE, "ralph.toml"), encoding="utf-8") as file:
        settings = file.read().format(python=python)
    for name, text in ((".ralph.toml", settings), (".gitignore", "\n.ralph/\n")):
        with open(os.path.join(directory, name), "a", encoding="utf-8") as file:
            file.write(text)
    for argv in (
        ("git", "init", "-q", "-b", "main"),
        ("git", "config", "user.name", "Ralph's demo"),
        ("git", "config", "user.email", "demo@localhost"),
        ("git", "add", "-A"),
        ("git", "commit", "-q", "-m", "Start the tally project"),
    ):
        done = executor.capture(Command(argv=argv, cwd=directory, env=os.environ))
        if done.code != 0:
            raise RalphError(f"the demo cannot start: {done.stderr.decode(errors='replace')}")


def demo_tasks() -> list[TaskDraft]:
    with open(os.path.join(SAMPLE, "tasks.jsonl"), "rb") as file:
        return resolve_drafts(
            read_task_lines(file.readlines()), TaskNameIndex(), fresh=_no_more_ids, max_retries=3
        )


def _no_more_ids() -> TaskId:
    raise AssertionError("every task of the demo has an id")
