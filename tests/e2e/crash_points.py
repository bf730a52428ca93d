"""Ways to die: what kills Ralph at a certain moment, without a hook in Ralph itself."""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ralph.adapters.sqlite.database import open_sqlite_store
from ralph.store.store import Store
from tests.e2e.conftest import Project

KILL = "kill -9 $PPID"
"""What a process that Ralph has started does to it."""

GIT = """\
#!/bin/sh
# Sessions and gates have git to themselves: only Ralph's own calls count.
if [ -n "$RALPH_SESSION" ]; then exec {git} "$@"; fi
case " $* " in {calls}) ;; *) exec {git} "$@" ;; esac
echo "$*" >> {calls_file}
if [ "$(wc -l < {calls_file})" -ne {number} ]; then exec {git} "$@"; fi
{deed}
"""

AGENT = """\
echo "$RALPH_TASK_ID $RALPH_ATTEMPT" >> '{sessions}'
case "$(cat)" in
*hopeless*) echo half > half.txt; echo "<task-failed>$RALPH_TASK_ID</task-failed>" ;;
*) echo whole > work.txt; echo "<task-done>$RALPH_TASK_ID</task-done>" ;;
esac
"""


def copy_of(template: Project, path: Path) -> Project:
    """The same project once more: much quicker than making it anew."""
    shutil.copytree(template.path, path, symlinks=True)
    made = object.__new__(Project)
    made.path, made.started = path, []
    return made


class GitThatKills:
    """A `git` on the PATH that kills Ralph at its n-th call, before or after it did its work."""

    def __init__(self, folder: Path, number: int, *, late: bool, calls: str = "*") -> None:
        git = shutil.which("git")
        folder.mkdir()
        self.calls = folder / "calls"
        deed = f'{git} "$@"; code=$?; {KILL}; exit $code' if late else f"{KILL}; exit 1"
        script = folder / "git"
        script.write_text(
            GIT.format(git=git, calls=calls, calls_file=self.calls, number=number, deed=deed)
        )
        script.chmod(0o755)
        self.path = f"{folder}{os.pathsep}{os.environ['PATH']}"


def was_killed(done: subprocess.CompletedProcess[str]) -> bool:
    """Did it die of what was done to it, and of nothing else?"""
    assert done.returncode in (-9, 0, 5), f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.returncode == -9


@contextmanager
def store_of(project: Project) -> Iterator[Store]:
    """Its database, as another process sees it."""
    store = open_sqlite_store(str(project.path / ".ralph/progress.db"))
    try:
        yield store
    finally:
        store.close()


def check_sound(project: Project) -> None:
    """Whatever happened, the repository and the database are whole."""
    project.git("fsck", "--strict", "--no-dangling")
    database = sqlite3.connect(project.path / ".ralph/progress.db")
    try:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
    finally:
        database.close()
    with store_of(project) as store:
        assert store.check() == []


def workers(project: Project) -> set[str]:
    """Everyone who ever worked there."""
    with store_of(project) as store:
        return {str(run.worker) for run in store.runs.newest(limit=0)}


def left_running(project: Project) -> list[str]:
    """Processes that some run of the project has started and left."""
    marks = {f"RALPH_SESSION={worker}".encode() for worker in workers(project)}
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                variables = (entry / "environ").read_bytes().split(b"\0")
                name = (entry / "cmdline").read_text("utf-8", "replace")
            except OSError:
                continue  # it ended, or is not ours
            if marks.intersection(variables):
                found.append(f"{entry.name} {name}")
    return found


def trailers(project: Project) -> list[str]:
    """The tasks whose work is on the branch, newest first."""
    return project.git(
        "log", "--format=%(trailers:key=Ralph-Task,valueonly,separator=%x20)"
    ).split()
