"""Which files a task names."""

import pytest

from ralph.core.errors import UsageError
from ralph.core.task import MOST, normalize_paths, usable_paths, with_touched_files


def test_a_name_is_the_same_however_it_is_written() -> None:
    assert normalize_paths(["./src//app.py", "src/app.py", "docs/", "a/../b"]) == (
        "b",
        "docs",
        "src/app.py",
    )


@pytest.mark.parametrize("path", ["", ".", "/etc/passwd", "//x", "..", "../x", "a/../..", "a\nb"])
def test_what_is_outside_the_project_is_refused(path: str) -> None:
    with pytest.raises(UsageError, match="is not a file below the top of the project"):
        normalize_paths(["fine", path])


def test_what_a_document_names_is_taken_as_far_as_it_can_be() -> None:
    assert usable_paths(["./src/a.py", "../x", "/etc", "", "src/a.py"]) == ("src/a.py",)


def test_learning_never_drops_what_was_named() -> None:
    mine = normalize_paths(f"z{number}" for number in range(MOST + 5))
    assert with_touched_files(mine, ["a"]) == mine
    assert with_touched_files(("m",), ["z", "a"]) == ("a", "m", "z")
