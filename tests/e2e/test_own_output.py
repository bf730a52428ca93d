"""What Ralph itself writes, wherever it is, is nobody's work."""

import subprocess

import pytest

from tests.e2e.conftest import DONE, RALPH, Project
from tests.e2e.stage import CLAIM, warnings
from tests.e2e.test_build import build, stories

FAILS = 'echo x >> half.txt; echo "<task-failed>$RALPH_TASK_ID</task-failed>"'


@pytest.mark.parametrize("tracked", ["", "notes/activity.log notes/errors.log"])
def test_logs_that_settings_put_elsewhere_are_no_work(project: Project, tracked: str) -> None:
    names = ("activity.log", "errors.log")
    project.write(
        ".agents/ralph/config.sh",
        'ACTIVITY_LOG_PATH="notes/activity.log"\nERRORS_LOG_PATH="notes/errors.log"\n'
        'PROGRESS_PATH="notes/progress.md"\nGUARDRAILS_PATH="notes/guardrails.md"\n',
    )
    stories(project, agent=CLAIM.replace("TASK", "STORY"), execution="max_retries = 0")
    for path in tracked.split():
        project.write(path, "# Mine\n")
        project.git("add", path)
    project.git("commit", "-q", "--allow-empty", "-m", "logs")
    events = build(project, "--no-verify", code=2)
    assert project.task("US-001")["reason"].startswith("it was claimed done, but nothing")
    assert "session changed" not in warnings(events)
    assert all((project.path / "notes" / name).exists() for name in names)
    assert not [path for path in project.git("ls-files", "notes").split() if "lock" in path]


@pytest.mark.parametrize(
    "how", ["> run.log", "2> run.log >&2", "2>&1 | tee run.log | cat >/dev/null"]
)
@pytest.mark.parametrize("tracked", ["", "run.log"], ids=["new", "tracked"])
def test_the_log_of_the_run_survives_a_failed_task_and_is_no_work(
    project: Project,
    how: str,
    tracked: str,
) -> None:
    project.agent(FAILS)
    if tracked:
        project.write("run.log", "of yesterday\n")
        project.git("add", "run.log")
        project.git("commit", "-q", "-m", "a log")
    one, two = project.add("one"), project.add("two")
    subprocess.run(
        ["bash", "-c", f"'{RALPH}' run {how}"], cwd=project.path, check=False, timeout=240
    )
    log = (project.path / "run.log").read_text()
    assert f"{one} failed" in log
    assert f"{two} failed" in log
    assert "complete, with failed tasks" in log
    assert "run.log" not in log.replace(str(project.path), "")
    assert not (project.path / "half.txt").exists()
    project.git("checkout", "-q", "--", ".")
    project.agent(f"{DONE}; git add -A; git commit -qm mine")
    project.add("three")
    subprocess.run(
        ["bash", "-c", f"'{RALPH}' run {how}"], cwd=project.path, check=False, timeout=240
    )
    files = project.git("show", "--format=", "--name-only", "HEAD").split()
    assert files == ["work.txt"]
