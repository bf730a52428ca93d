"""The demo is the product's promise in small, so it is a test."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.e2e.ralph_process import RALPH


def run(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(args, cwd=cwd, capture_output=True, text=True, check=False, timeout=240)


def test_the_demo_builds_its_project_through_a_failed_gate_and_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "play"
    # As uv and pipx install it.
    (tmp_path / "ralph").symlink_to(RALPH)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    done = run("ralph", "demo", "--in", str(folder), "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds.count("task_done") == 9
    assert [e["ended"] for e in events if e["event"] == "session_ended"].count("killed") == 1
    assert kinds.count("task_rejected") == 1
    assert (events[-1]["outcome"], events[-1]["attempts"]) == ("complete", 10)

    assert run("git", "status", "--porcelain", cwd=folder).stdout == ""
    log = run("git", "log", "--format=%s", cwd=folder).stdout.splitlines()
    assert len(log) == 9
    built = run("python3", "-m", "tally", "sample.ledger", cwd=folder)
    assert built.stdout.splitlines()[-1].split() == ["total", "919.75"]
    assert "919.75" in (folder / "README.md").read_text()

    tree = run(RALPH, "task", "tree", cwd=folder).stdout
    assert tree.count("done") == 9
    text = run(RALPH, "logs", "t-000006", cwd=folder).stdout
    assert "gate test fails" in text
    looked_at = re.search(r"git log .*?(?= +#)", done.stderr)
    assert looked_at is not None
    assert "\n  ralph task tree " in done.stderr
    assert run(*shlex.split(looked_at[0]), cwd=folder).stdout.count("Ralph-Task: t-0000") == 8


def test_a_place_where_the_demo_cannot_be_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run(RALPH, "demo", "--in", "file/below", cwd=tmp_path)
    assert done.returncode == 73
    assert done.stderr.startswith("ralph: cannot make file/below: not a directory\nhint: ")


def test_the_demo_takes_no_folder_that_has_something_in_it(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    done = run(RALPH, "demo", "--in", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 64
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
