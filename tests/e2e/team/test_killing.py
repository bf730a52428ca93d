"""Workers, the lead and git killed at random: nothing is lost, and nobody is needed."""

import os
import random
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests.e2e.crash_points import check_sound
from tests.e2e.team.team_project import Yard

LIVES = [
    (1, 3),
    *(pytest.param(seed, 12, marks=pytest.mark.soak) for seed in range(1, 21)),
]
"""Seeds, and how many are killed; there are as many workers."""
PATIENCE_S = 600.0
"""For a broken program only."""


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("seed", "most"), LIVES)
def test_whoever_is_killed_nothing_is_lost(tmp_path: Path, seed: int, most: int) -> None:
    yard = Yard(tmp_path / "project")
    tasks = yard.plan(4 * most, quarrels=4, seed=seed, nap=0.1)
    chance = random.Random(seed)
    until = time.monotonic() + PATIENCE_S
    deaths = 0
    while True:
        assert time.monotonic() < until, "it never came to an end"
        run = yard.start("run", "--workers", str(most))
        while run.poll() is None and deaths < most:
            try:
                run.wait(chance.uniform(0.2, 1.5))
            except subprocess.TimeoutExpired:
                deaths += kill_somebody(run, chance)
        out, err = run.communicate(timeout=PATIENCE_S)
        assert "Traceback" not in out + err, out + err
        if run.returncode == 0:
            break
        # Its own git was killed again and again: it says so, and can be run again.
        assert run.returncode in (-signal.SIGKILL, 6, 75), f"{run.returncode}\n{out}\n{err}"
        check_sound(yard)
    assert deaths > 1
    yard.check_all_done(tasks)
    check_sound(yard)
    merged = events_of(yard, "work_merged")
    assert sorted(merged) == sorted(tasks), "merged once each"
    # To be killed is nobody's fault; only a quarrel costs anything.
    assert [why for why in reasons(yard) if "does not fit" not in why] == []


def kill_somebody(run: subprocess.Popen[str], chance: random.Random) -> int:
    """The lead, one of its workers, or a git; the sessions and gates of a dead worker are for Ralph
    to find."""
    try:
        below = psutil.Process(run.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return 0
    workers = [one for one in below if _is(one, "ralph.wiring.team_worker")]
    gits = [one for one in below if _name(one) == "git"]
    kind = chance.choice(["worker", "worker", "worker", "git", "git", "lead"])
    if kind == "lead":
        run.kill()
        return 1
    whom = workers if kind == "worker" else gits
    if not whom:
        return 0
    try:
        os.kill(chance.choice(whom).pid, signal.SIGKILL)
    except ProcessLookupError:
        return 0
    return 1


def _is(process: psutil.Process, module: str) -> bool:
    try:
        return module in process.cmdline()
    except psutil.Error:
        return False


def _name(process: psutil.Process) -> str:
    try:
        return process.name()  # type: ignore[no-any-return]
    except psutil.Error:
        return ""


def events_of(yard: Yard, kind: str) -> list[str]:
    """The tasks that events of this kind are about."""
    with sqlite3.connect(yard.path / ".ralph/progress.db") as database:
        rows = database.execute("SELECT task_id FROM events WHERE event = ?", (kind,)).fetchall()
    return [str(task) for (task,) in rows]


def reasons(yard: Yard) -> list[str]:
    """Why attempts did not count."""
    query = "SELECT data ->> 'reason' FROM events WHERE event IN ('task_rejected', 'task_struck')"
    with sqlite3.connect(yard.path / ".ralph/progress.db") as database:
        return [str(why) for (why,) in database.execute(query).fetchall()]
