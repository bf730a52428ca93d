"""Records of sessions do not grow without bound; what is still needed stays."""

import json
import os
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import Project

AGENT = """\
case "$(cat)" in
*hopeless*) echo "<task-failed>$RALPH_TASK_ID</task-failed>" ;;
*later*) ;;
*) echo x >> work.txt; echo "<task-done>$RALPH_TASK_ID</task-done>" ;;
esac
"""
DAY_S = 86_400


@pytest.fixture
def tasks(project: Project) -> dict[str, str]:
    """One task is done, one has failed, one is still open; each has had a session."""
    project.agent(AGENT, execution="max_retries = 0")
    made = {title: project.add(title) for title in ("good", "hopeless")}
    project.ralph("run", code=5)
    made["later"] = project.add("later")
    project.ralph("run", "--once", code=None)
    return made


def age(project: Project, days: float) -> None:
    """Let all records be that old."""
    then = time.time() - days * DAY_S
    for file in runs(project).glob("*"):
        os.utime(file, (then, then))


def runs(project: Project) -> Path:
    return project.path / ".ralph" / "runs"


def logs(project: Project) -> list[str]:
    return sorted(one.name for one in runs(project).glob("*.log"))


def test_old_records_go_unless_a_task_is_open(project: Project, tasks: dict[str, str]) -> None:
    assert len(logs(project)) == 3
    assert project.ralph("clean", "--dry-run") == "nothing to remove"
    age(project, 31)
    told = project.ralph("clean", "--dry-run")
    assert "would remove the files of 1 session" in told
    assert len(logs(project)) == 3
    assert project.try_ralph("clean").returncode == 64, "nobody is here to be asked"
    assert len(logs(project)) == 3
    age(project, 91)
    shown = json.loads(project.ralph("clean", "--dry-run", "--json"))
    assert sorted(one["is_failed"] for one in shown) == [False, True]
    assert "removed the files of 2 sessions" in project.ralph("clean", "--yes")
    assert len(logs(project)) == 1
    assert "removed by [retention]" in project.ralph("logs", tasks["good"])
    assert "removed by [retention]" not in project.ralph("logs", tasks["later"])


def test_a_run_cleans_up_when_it_ends(project: Project, tasks: dict[str, str]) -> None:
    age(project, 31)
    planted = project.path / ".ralph" / ".tmp" / "planted"
    planted.mkdir(parents=True, exist_ok=True)
    (planted / "old").write_text("x")
    os.utime(planted / "old", (0, 0))
    project.add("another")
    project.ralph("run", code=None)
    assert "removed by [retention]" in project.ralph("logs", tasks["good"])
    assert "removed by [retention]" not in project.ralph("logs", tasks["hopeless"])
    assert not (planted / "old").exists()


def test_size_and_number_are_bounded_too(project: Project, tasks: dict[str, str]) -> None:
    told = project.ralph("clean", "--dry-run", RALPH_RETENTION_SESSIONS="2")
    assert "would remove the files of 1 session" in told
    big = next(runs(project).glob("*.log"))
    big.write_bytes(b"x" * (2 << 20))
    told = project.ralph("clean", "--dry-run", "--json", RALPH_RETENTION_MEGABYTES="1")
    assert [one["is_failed"] for one in json.loads(told)][:1] == [False]
    assert json.loads(project.ralph("clean", "--dry-run", "--json")) == []
