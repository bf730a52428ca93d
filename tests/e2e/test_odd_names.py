"""Files whose names are not text."""

import os

from tests.e2e.conftest import DONE, Project


def test_files_with_names_that_are_not_utf8_are_committed_like_others(project: Project) -> None:
    project.agent(f"printf x > \"$(printf 'theirs-\\377')\"; {DONE}")
    os.close(os.open(os.path.join(os.fsencode(project.path), b"mine-\xff"), os.O_CREAT))
    task = project.add("odd")
    project.ralph("run")
    assert project.status(task) == "done"
    assert project.git("show", "--stat", "--format=").count("|") == 2


def test_ralphs_own_documents_are_no_work_in_a_subdirectory_either(project: Project) -> None:
    project.agent('echo x > .ralph/notes.md; echo "<task-done>$RALPH_TASK_ID</task-done>"')
    task = project.add("lazy", "--max-retries", "0")
    project.ralph("run", code=5)
    assert project.status(task) == "failed"
