"""The files of a pipeline: made where they are missing, and left alone where they are there."""

from itertools import product

import pytest

from ralph.documents import activity_log, errors_log, guardrails, progress_log
from ralph.testing.doubles import FakeLibrary
from ralph.workflows.chronicle import create_missing
from ralph.workflows.pipeline import Pipeline

PIPELINE = Pipeline(root="/project")
BEGINNINGS = {
    progress_log.PATH: "# Progress Log\nStarted: ",
    guardrails.PATH: "# Guardrails\n",
    errors_log.PATH: "# Error Log\n",
    activity_log.PATH: "# Activity Log\n\n## Run Summary\n\n## Events\n",
}


@pytest.mark.parametrize("there", list(product([False, True], repeat=4)))
def test_what_is_missing_is_made_and_the_rest_stays(there: tuple[bool, ...]) -> None:
    library = FakeLibrary()
    for path, is_there in zip(BEGINNINGS, there, strict=True):
        if is_there:
            library.pages[path] = "mine"
    create_missing(library, PIPELINE, 0.0)
    for (path, beginning), was_there in zip(BEGINNINGS.items(), there, strict=True):
        text = library.pages[path]
        assert text == "mine" if was_there else text.startswith(beginning)
    assert "Read Before Writing" in library.pages[guardrails.PATH] or there[1]
    assert "Test Before Commit" in library.pages[guardrails.PATH] or there[1]


def test_what_cannot_be_read_is_not_written_over() -> None:
    library = FakeLibrary()
    library.troubles[errors_log.PATH] = "is not a file"
    create_missing(library, PIPELINE, 0.0)
    assert errors_log.PATH not in library.pages
