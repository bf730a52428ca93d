"""Ralph's own state is hidden from git by what belongs to one repository alone."""

import subprocess
from pathlib import Path

import pytest

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.workspace.user_checkout import UserCheckout

STATE = (".ralph/progress.db*", ".ralph/runs/", "/MEMORY.md")


def git(path: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=path, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("folder", [".", "one two", "odd [a] * ? é", "#hash"])
def test_it_is_hidden_wherever_the_project_lies(tmp_path: Path, folder: str) -> None:
    git(tmp_path, "init", "-q")
    project = tmp_path / folder
    (project / ".ralph" / "runs").mkdir(parents=True)
    for name in (".ralph/progress.db-wal", ".ralph/runs/a.log", "MEMORY.md", "work.txt"):
        (project / name).write_text("x")
    workspace = UserCheckout(ProcessExecutor(SystemClock()), str(project))
    workspace.exclude(STATE)
    left = git(tmp_path, "-c", "core.quotepath=off", "ls-files", "--others", "--exclude-standard")
    assert left == ("work.txt" if folder == "." else f"{folder}/work.txt")


def test_what_a_person_wrote_there_stays_and_twice_is_once(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    exclude = tmp_path / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("mine\n/.ralph/runs/\nlast line without an end")
    workspace = UserCheckout(ProcessExecutor(SystemClock()), str(tmp_path))
    workspace.exclude(STATE)
    workspace.exclude(STATE)
    assert exclude.read_text().splitlines() == [
        "mine",
        "/.ralph/runs/",
        "last line without an end",
        "/.ralph/progress.db*",
        "/MEMORY.md",
    ]
