"""The files of a pipeline: made where they are missing, and left alone where they are there."""

from itertools import product

import pytest

from ralph.documents import guardrails, log_files
from ralph.workflows.iteration_log import create_log_files
from ralph.workflows.story_pipeline import StoryPipeline
from tests.doubles import FakeProjectFiles

PIPELINE = StoryPipeline(root="/project")
BEGINNINGS = {
    log_files.PROGRESS_LOG: "# Progress Log\nStarted: ",
    guardrails.PATH: "# Guardrails\n",
    log_files.ERRORS_LOG: "# Error Log\n",
    log_files.ACTIVITY_LOG: "# Activity Log\n\n## Run Summary\n\n## Events\n",
}


@pytest.mark.parametrize("there", list(product([False, True], repeat=4)))
def test_what_is_missing_is_made_and_the_rest_stays(there: tuple[bool, ...]) -> None:
    project_files = FakeProjectFiles()
    for path, is_there in zip(BEGINNINGS, there, strict=True):
        if is_there:
            project_files.pages[path] = "mine"
    create_log_files(project_files, PIPELINE, 0.0)
    for (path, beginning), was_there in zip(BEGINNINGS.items(), there, strict=True):
        text = project_files.pages[path]
        assert text == "mine" if was_there else text.startswith(beginning)
    assert "Read Before Writing" in project_files.pages[guardrails.PATH] or there[1]
    assert "Test Before Commit" in project_files.pages[guardrails.PATH] or there[1]


def test_what_cannot_be_read_is_not_written_over() -> None:
    project_files = FakeProjectFiles()
    project_files.troubles[log_files.ERRORS_LOG] = "is not a file"
    create_log_files(project_files, PIPELINE, 0.0)
    assert log_files.ERRORS_LOG not in project_files.pages
