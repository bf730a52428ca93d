"""What commits have changed, for reports."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.workspace.commit_diffs import MOST_CHARS, GitCommitDiffs
from ralph.ports.workspace import FileChange
from tests.git_user import GitUser, a_project

LONG_AGO = "2001-01-01T00:00:00Z"


@pytest.fixture
def hands(tmp_path: Path) -> GitUser:
    return a_project(tmp_path / "project")


@pytest.fixture
def changes(hands: GitUser) -> Iterator[GitCommitDiffs]:
    executor = ProcessExecutor(SystemClock())
    yield GitCommitDiffs(executor, str(hands.top))
    executor.close()


def test_the_lines_of_all_commits_are_counted_by_file(
    hands: GitUser, changes: GitCommitDiffs
) -> None:
    hands.write("a\tb", "one\ntwo\n")
    one = hands.commit()
    hands.write("a\tb", "one\n")
    hands.write("blob", bytes(range(256)))
    two = hands.commit()
    assert changes.stat([one, two, "0" * 40]) == [
        FileChange(path="a\tb", added=2, removed=1),
        FileChange(path="blob"),
    ]
    assert changes.on_branches([one, "0" * 40], LONG_AGO) == {one}
    assert "-two" in changes.patch([two])
    assert "-two" in changes.between(one, two)
    assert "+one" in changes.between("", hands.git("rev-parse", f"{two}^{{tree}}").strip())
    assert changes.between(one, "0" * 40) == ""
    assert "+two" not in changes.patch([two])


def test_a_project_without_commits_needs_no_repository(tmp_path: Path) -> None:
    executor = ProcessExecutor(SystemClock())
    changes = GitCommitDiffs(executor, str(tmp_path))
    assert (changes.stat([]), changes.patch([]), changes.on_branches([], LONG_AGO)) == (
        [],
        "",
        set(),
    )
    executor.close()


def test_what_is_very_long_is_cut_and_no_program_of_the_repository_runs(
    hands: GitUser, changes: GitCommitDiffs
) -> None:
    hands.git("config", "diff.external", "touch ran")
    for name in ("long", "longer"):
        hands.write(name, "a line of text\n" * 20_000)
    hands.write("huge", "x" * 3_000_000)
    shown = changes.patch([hands.commit()])
    assert "Binary files /dev/null and b/huge differ" in shown
    assert len(shown) < MOST_CHARS + 100
    assert shown.endswith("the rest is cut")
    assert not (hands.top / "ran").exists()
