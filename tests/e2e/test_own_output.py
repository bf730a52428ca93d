"""What Ralph itself writes, wherever it is, is nobody's work."""

import subprocess

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.fault_helpers import CLAIM, warnings
from tests.e2e.ralph_process import RALPH
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


def test_a_session_that_commits_nothing_but_tracked_logs_has_done_no_work(
    project: Project,
) -> None:
    names = ("activity.log", "errors.log")
    project.write(
        ".agents/ralph/config.sh",
        'ACTIVITY_LOG_PATH="notes/activity.log"\nERRORS_LOG_PATH="notes/errors.log"\n',
    )
    stories(project, agent=f"git add -A; git commit -qm all; {CLAIM.replace('TASK', 'STORY')}")
    for name in names:
        project.write(f"notes/{name}", "# Mine\n")
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "logs")
    events = build(project, "--no-verify", "2", code=4)
    assert project.task("US-001")["reason"].startswith("it was claimed done, but nothing")
    assert "changes of yours" not in warnings(events)


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


@pytest.mark.parametrize("how", ["3>> run.log", ">> run.log", "2>> run.log"])
def test_a_log_is_no_work_where_the_session_commits_nothing_but_it(
    project: Project, how: str
) -> None:
    """Its caller may write it, too, as `script` does, which records a terminal."""
    project.agent(f"git add -A; git commit -qm all; {FAILS}")
    project.add("one")
    calls = f"exec {how}; echo before >> run.log; '{RALPH}' run 3>&-; echo after >> run.log"
    subprocess.run(
        ["bash", "-c", calls], cwd=project.path, check=False, timeout=240, stdout=subprocess.DEVNULL
    )
    log = (project.path / "run.log").read_text()
    assert log.startswith("before\n")
    assert log.endswith("after\n")
    assert project.git("status", "--porcelain") == "?? run.log"


def test_what_ralph_has_learned_is_committed_with_the_next_work(project: Project) -> None:
    project.ralph("memory", "add", "no mocks")
    project.agent(f'if test "$RALPH_ATTEMPT" = 1; then {FAILS}; else {DONE}; fi')
    task = project.add("one")
    project.ralph("run", code=5)
    assert project.git("status", "--porcelain") == "M .ralph/guardrails.md"
    project.ralph("task", "retry", task)
    said = warnings(project.events())
    assert ".ralph/guardrails.md has changes that are not committed: Ralph commits them" in said
    assert "yours" not in said
    files = project.git("show", "--format=", "--name-only", "HEAD").split()
    assert files == [".ralph/guardrails.md", "work.txt"]
    assert project.git("status", "--porcelain") == ""
