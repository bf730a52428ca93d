"""The power fails at any moment of a run: what is done stays done, and the next run goes on."""

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Project
from tests.e2e.disk import Model, Recording, record
from tests.e2e.ralph_process import RALPH

AGENT = """\
case "$(cat)" in
*hopeless*) echo half > half.txt; git add -A; git commit -qm half; echo "<task-failed>$RALPH_TASK_ID</task-failed>" ;;
*) echo x >> committed.txt; git add -A; git commit -qm mine; echo y >> left.txt; echo "<task-done>$RALPH_TASK_ID</task-done>" ;;
esac
"""  # noqa: E501
TEAM = """\
cat > /dev/null
echo "$RALPH_ATTEMPT" > "part-$RALPH_TASK_ID"; git add -A; git commit -qm mine
echo y >> "part-$RALPH_TASK_ID"
echo "<task-done>$RALPH_TASK_ID</task-done>"
"""
SAMPLE = 10


def recorded(project: Project, tmp_path: Path) -> Recording:
    """A run that does two tasks, fails one, and has been written down."""
    project.agent(AGENT, execution="max_retries = 0")
    for title in ("first", "hopeless", "second"):
        project.add(title)
    return _record(project, tmp_path, "", code=5)


def recorded_team(project: Project, tmp_path: Path) -> Recording:
    """Two workers do three tasks."""
    project.agent(TEAM)
    for title in ("first", "second", "third"):
        project.add(title)
    return _record(project, tmp_path, "--workers 2", code=0)


def _record(project: Project, tmp_path: Path, args: str, *, code: int) -> Recording:
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    script = tmp_path / "run"
    script.write_text(f'#!/bin/sh\n"{RALPH}" run {args}; [ $? = {code} ]\n')
    return record(["sh", str(script)], project.path, tmp_path / "trace", env)


def states(
    recording: Recording, project: Project, *, every: int
) -> Iterator[tuple[str, Model, bool]]:
    """Put the project into each state that a power cut could leave: what happened, in which model,
    and whether the database has just been synced."""
    for number, (when, path) in enumerate(recording.syncs(project.path)):
        is_mark = when == "after" and path.endswith("progress.db-wal")
        if number % every and not (is_mark and number % (every // 2 or 1) == 0):
            continue
        for model in Model:
            recording.disk.write_to(project.path, model)
            yield f"{when} sync {number} of {path}", model, is_mark


def check(project: Project, where: str) -> None:
    """What the database calls done is in the repository, and that is whole."""
    fsck = _git(project, "fsck", "--no-dangling", "--no-progress", "--no-reflogs")
    assert fsck.returncode == 0, f"{where}: {fsck.stdout}{fsck.stderr}"
    status = _git(project, "status", "--porcelain")
    assert status.returncode == 0, f"{where}: {status.stderr}"
    # A team's tip is ahead of the person's branch, which follows.
    reachable = set(_git(project, "rev-list", "HEAD", "--glob=refs/ralph/tip").stdout.split())
    places = [project.path, *(project.path / ".ralph" / "checkouts").glob("*")]
    saved = {
        commit
        for place in places
        for commit in _git(project, "-C", str(place), "rev-list", "--all").stdout.split()
    }
    database = sqlite3.connect(project.path / ".ralph" / "progress.db")
    try:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",), where
        rows = database.execute(
            "SELECT t.id, t.status, s.commits FROM tasks t JOIN sessions s"
            " ON s.task_id = t.id AND s.attempt = t.attempt"
        ).fetchall()
        refs = database.execute("SELECT data FROM events WHERE event = 'work_saved'").fetchall()
    finally:
        database.close()
    made: dict[str, set[str]] = {}
    for task, _, commits in rows:
        made.setdefault(task, set()).update(json.loads(commits or "[]"))
        assert made[task] <= saved, f"{where}: a commit of {task} is lost"
    for task in {task for task, status_, _ in rows if status_ == "done"}:
        assert made[task], f"{where}: {task} is done without a commit"
        assert made[task] <= reachable, f"{where}: {task} is done, and its commit is lost"
    for (data,) in refs:
        ref = json.loads(data)["ref"]
        assert _git(project, "rev-parse", "-q", "--verify", ref).returncode == 0, f"{where}: {ref}"


def goes_on(project: Project, where: str) -> None:
    """The next run ends as the first one would have."""
    done = project.try_ralph("run")
    assert done.returncode == 5, f"{where}: {done.stdout}{done.stderr}"
    assert "2 done, 1 failed" in project.ralph("status"), where
    check(project, f"{where}, after another run")


def team_goes_on(project: Project, where: str) -> None:
    """Every task is done and merged once, also if it was done before."""
    done = project.try_ralph("run", "--workers", "2")
    assert done.returncode == 0, f"{where}: {done.stdout}{done.stderr}"
    assert "3 done" in project.ralph("status"), where
    check(project, f"{where}, after another run")
    parts = _git(project, "ls-files", "part-*").stdout.split()
    assert len(parts) == 3, where
    for part in parts:
        merges = _git(project, "log", "--format=%h", "--", part).stdout.split()
        assert len(merges) == 1, f"{where}: {part} was merged by {merges}"
    changed = _git(project, "diff", "--name-only", ":/configure", "HEAD").stdout.split()
    assert changed == parts, f"{where}: more was changed than was asked for"
    assert _git(project, "status", "--porcelain").stdout == "", where


def _git(project: Project, *args: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["git", *args], cwd=project.path, capture_output=True, text=True, check=False
    )


def survives(
    recording: Recording,
    project: Project,
    *,
    every: int,
    goes_on_every: int,
    goes_on: Callable[[Project, str], None] = goes_on,
) -> int:
    """Look at the states; return how many."""
    kept = project.path.with_name("as it was")
    shutil.copytree(project.path, kept)
    seen = 0
    for where, model, _ in states(recording, project, every=every):
        check(project, f"{where}, {model.value}")
        if seen % goes_on_every == goes_on_every // 2:
            goes_on(project, f"{where}, {model.value}")
        seen += 1
    recording.check(kept)
    return seen


def test_a_power_cut_loses_nothing_that_is_done(project: Project, tmp_path: Path) -> None:
    run = recorded(project, tmp_path)
    assert survives(run, project, every=40, goes_on_every=9) > SAMPLE


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_a_power_cut_at_any_sync_loses_nothing_that_is_done(
    project: Project, tmp_path: Path
) -> None:
    run = recorded(project, tmp_path)
    assert survives(run, project, every=1, goes_on_every=9) > 100


def test_a_power_cut_in_a_team_loses_nothing_that_is_done(project: Project, tmp_path: Path) -> None:
    run = recorded_team(project, tmp_path)
    seen = survives(run, project, every=100, goes_on_every=7, goes_on=team_goes_on)
    assert seen > SAMPLE


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_power_cut_in_a_team_at_any_sync(project: Project, tmp_path: Path) -> None:
    run = recorded_team(project, tmp_path)
    assert survives(run, project, every=1, goes_on_every=9, goes_on=team_goes_on) > 100
