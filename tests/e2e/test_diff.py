"""`ralph diff`: what a task has changed, through git."""

import pytest

from tests.e2e.conftest import Project
from tests.e2e.fault_helpers import CLAIM, refused


def test_the_commits_of_a_task_are_shown_oldest_first(project: Project) -> None:
    project.agent(
        f"echo one > one.txt; git add -A; git commit -qm own; echo two > two.txt; {CLAIM}"
    )
    task = project.add("Write both")
    project.ralph("run")
    shown = project.ralph("diff", task)
    assert shown.index("+one") < shown.index("+two")
    assert "Write both" in shown
    stat = project.ralph("diff", task, "--stat")
    assert "one.txt | 1 +" in stat
    assert "+one" not in stat


def test_a_parents_diff_is_that_of_its_children(project: Project) -> None:
    project.agent(f'echo x > "$RALPH_TASK_ID.txt"; {CLAIM}')
    parent = project.add("Parent")
    child = project.add("Child", "--parent", parent)
    project.ralph("run")
    assert f"{child}.txt" in project.ralph("diff", parent, "--stat")


def test_a_rejected_attempt_and_kept_work_are_shown(project: Project) -> None:
    project.agent(f"echo tried > tried.txt; {CLAIM}", gates='test = "test ! -e tried.txt"')
    task = project.add("Try", "--max-retries", "0")
    project.ralph("run", code=5)
    assert not (project.path / "tried.txt").exists()
    assert "+tried" in project.ralph("diff", task)
    assert "+tried" in project.ralph("diff", task, "--attempt", "1")


def test_a_retry_that_changes_nothing_more_does_not_hide_what_was_tried(project: Project) -> None:
    project.agent(
        f"test -e tried.txt || echo tried > tried.txt; {CLAIM}",
        gates='test = "test ! -e tried.txt"',
    )
    task = project.add("Try", "--max-retries", "1")
    project.ralph("run", code=5)
    assert "has changed nothing" in project.ralph("diff", task, "--attempt", "2")
    assert "+tried" in project.ralph("diff", task)


def test_what_gates_drop_between_attempts_hides_nothing(project: Project) -> None:
    agent = f"test -e tried.txt || echo tried > tried.txt; {CLAIM}"
    project.agent(agent, gates='test = "date +%N > report.txt; test ! -e tried.txt"')
    task = project.add("Try", "--max-retries", "1")
    project.ralph("run", code=5)
    assert "+tried" in project.ralph("diff", task)


def _failed_task(project: Project, mine: str = "") -> str:
    project.agent(
        "mkdir __pycache__; date > __pycache__/tried.pyc;"
        f" echo tried > tried.txt; echo more >> README.md; {CLAIM}",
        gates='test = "test ! -e tried.txt"',
    )
    if mine:
        project.write("mine.txt", mine)
    task = project.add("Try", "--max-retries", "0")
    project.ralph("run", code=5)
    return task


def test_kept_work_is_named_and_brought_back(project: Project) -> None:
    task = _failed_task(project)
    for command in (["status"], ["logs"], ["logs", task], ["task", "show", task]):
        assert f"refs/ralph/{task}/1" in project.ralph(*command)
    assert "tried.txt" in project.ralph("task", "apply", task)
    assert (project.path / "tried.txt").read_text() == "tried\n"
    assert "tried.txt" in project.git("status", "--porcelain")


def test_what_a_person_had_not_committed_then_is_not_brought_back(project: Project) -> None:
    task = _failed_task(project, mine="a draft\n")
    project.git("add", "mine.txt")
    project.git("commit", "-qm", "mine")
    project.write("__pycache__/tried.pyc", "of now\n")
    assert "mine.txt" not in project.ralph("task", "apply", task)
    shown = project.git("status", "--porcelain")
    assert shown.split() == ["M", "README.md", "??", "__pycache__/", "??", "tried.txt"]


def test_kept_work_that_does_not_fit_changes_nothing(project: Project) -> None:
    task = _failed_task(project)
    (project.path / "tried.txt").write_text("mine\n")
    before = (project.path / "README.md").read_text()
    refused(project.try_ralph("task", "apply", task, "--attempt", "1"), 1, "does not apply")
    assert (project.path / "tried.txt").read_text() == "mine\n"
    assert (project.path / "README.md").read_text() == before


def test_work_that_was_not_kept_is_not_brought_back(project: Project) -> None:
    refused(project.try_ralph("task", "apply", project.add("x")), 66, "no work is kept")
    task = _failed_task(project)
    refused(project.try_ralph("task", "apply", task, "--attempt", "7"), 66, "no work of attempt 7")


def test_nothing_to_show_is_said(project: Project) -> None:
    assert "has changed nothing" in project.ralph("diff", project.add("x"))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["t-ffffff"], "there is no task t-ffffff"),
        (["{task}", "--attempt", "7"], "had no attempt 7"),
    ],
    ids=["an unknown task", "an unknown attempt"],
)
def test_what_is_not_there_is_refused(project: Project, words: list[str], why: str) -> None:
    task = project.add("x")
    refused(project.try_ralph("diff", *(word.format(task=task) for word in words)), 66, why)


def test_no_program_that_the_repository_names_is_started(project: Project) -> None:
    project.agent(f"echo 'a diff=evil' > .gitattributes; echo x > a; {CLAIM}")
    task = project.add("x")
    project.ralph("run")
    for key in ("diff.evil.textconv", "diff.evil.command", "diff.external"):
        project.git("config", key, "touch ran; true")
    assert "+x" in project.ralph("diff", task)
    assert not (project.path / "ran").exists()
