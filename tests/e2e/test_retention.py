"""Records of sessions do not grow without bound; what is still needed stays."""

import json
import os
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import Project
from tests.e2e.fault_helpers import refused
from tests.privileges import ordinary

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
    text = project.ralph("clean", "--dry-run")
    assert "would remove the files of 1 session" in text
    assert len(logs(project)) == 3
    refused = project.try_ralph("clean")
    assert refused.returncode == 64
    assert "hint: add --yes if you mean it" in refused.stderr
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


def test_what_is_not_ralphs_stays(project: Project, tasks: dict[str, str]) -> None:
    (runs(project) / "notes.md").write_text("a person's")
    (runs(project) / "papers").mkdir()
    age(project, 400)
    assert "removed the files of 2 sessions" in project.ralph("clean", "--yes")
    assert (runs(project) / "notes.md").exists()
    assert (runs(project) / "papers").exists()


@pytest.mark.parametrize("link", [".ralph/runs", ".ralph/.tmp/planted"])
def test_nothing_behind_a_link_is_removed(
    project: Project, tasks: dict[str, str], link: str, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (project.path / link).parent.mkdir(exist_ok=True)
    if (project.path / link).exists():
        (project.path / link).rename(elsewhere)
    elsewhere.mkdir(exist_ok=True)
    (elsewhere / "run-of-mine").write_text("a person's")
    (project.path / link).symlink_to(elsewhere)
    then = time.time() - 400 * DAY_S
    os.utime(elsewhere / "run-of-mine", (then, then))
    assert project.ralph("clean", "--yes") == "nothing to remove"
    assert (elsewhere / "run-of-mine").exists()


def test_size_and_number_are_bounded_too(project: Project, tasks: dict[str, str]) -> None:
    text = project.ralph("clean", "--dry-run", RALPH_RETENTION_SESSIONS="2")
    assert "would remove the files of 1 session" in text
    big = next(runs(project).glob("*.log"))
    big.write_bytes(b"x" * (2 << 20))
    text = project.ralph("clean", "--dry-run", "--json", RALPH_RETENTION_MEGABYTES="1")
    assert [one["is_failed"] for one in json.loads(text)][:1] == [False]
    assert json.loads(project.ralph("clean", "--dry-run", "--json")) == []


@pytest.mark.usefixtures("installed")
def test_what_cannot_be_removed_is_told_and_not_called_removed(
    project: Project, tasks: dict[str, str]
) -> None:
    age(project, 31)
    runs(project).chmod(0o555)
    with ordinary():
        refused(project.try_ralph("clean", "--yes"), 73, "cannot be removed", "permissions")
        assert "would remove the files of 1 session" in project.ralph("clean", "--dry-run")
    assert len(logs(project)) == 3
    runs(project).chmod(0o755)
    assert "removed by [retention]" not in project.ralph("logs", tasks["good"])
    assert "removed the files of 1 session" in project.ralph("clean", "--yes")
