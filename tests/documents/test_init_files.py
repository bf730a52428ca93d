"""What `ralph init` writes into files that people own."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.documents.init_files import IGNORED, ignore_file


def test_an_empty_file_gets_every_entry() -> None:
    lines = ignore_file("").splitlines()
    assert lines[0].startswith("# Ralph")
    assert tuple(lines[1:]) == IGNORED


def test_only_what_is_missing_is_added() -> None:
    text = "build/\n.ralph/runs/\n/.ralph/progress.db*  \nMEMORY.md\n"
    added = ignore_file(text).removeprefix(text).splitlines()
    assert ".ralph/runs/" not in added
    assert ".ralph/progress.db*" not in added
    assert "/MEMORY.md" not in added
    assert ".ralph/*.json" in added


@pytest.mark.parametrize("line", [".ralph", ".ralph/", "/.ralph/", ".ralph/*", "/.ralph/**"])
def test_who_ignores_the_whole_folder_needs_no_more_of_it(line: str) -> None:
    added = ignore_file(f"{line}\n").removeprefix(f"{line}\n").split()
    assert [each for each in added if "MEMORY" in each or ".ralph" in each] == ["/MEMORY.md"]


def test_a_decision_against_an_entry_is_not_overruled() -> None:
    assert "\n/MEMORY.md" not in ignore_file("!MEMORY.md\n")


def test_a_last_line_without_an_end_stays_whole() -> None:
    assert ignore_file("*.pyc").startswith("*.pyc\n\n# Ralph")


def test_line_ends_stay_as_they_are() -> None:
    text = ignore_file("a\r\nb")
    assert text.startswith("a\r\nb\r\n\r\n# Ralph")
    assert text.count("\n") == text.count("\r\n")


@given(
    st.lists(st.sampled_from([*IGNORED, "", "x", "# y", "!z", ".ralph/", " ", "\x0c", "é"])),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "last", "last\n"]),
)
def test_twice_is_as_good_as_once_and_nothing_is_lost(
    lines: list[str], end: str, last: str
) -> None:
    text = end.join([*lines, last])
    once = ignore_file(text)
    assert once.startswith(text)
    assert ignore_file(once) == once


@given(st.text())
def test_any_text_stays_and_is_enough_the_second_time(text: str) -> None:
    once = ignore_file(text)
    assert once.startswith(text)
    assert ignore_file(once) == once


def test_git_agrees(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_text(ignore_file("*.pyc\n"))
    kept = [".ralph.toml", ".ralph/progress.md", ".ralph/guardrails.md", ".agents/ralph/config.sh"]
    kept += [".ralph/features/a/spec.md", ".ralph/specs/a.md", ".ralph/config.sh", "docs/MEMORY.md"]
    gone = [".ralph/progress.db", ".ralph/progress.db-wal", ".ralph/runs/a.log", "MEMORY.md"]
    gone += [".ralph/state.json", ".ralph/errors.log", ".ralph/run.lock", ".ralph/checkouts/a/b"]
    # Whoever is killed while writing leaves its draft beside the file.
    gone += [f".ralph/{one}.0a1b2c3d4e5f.tmp" for one in ("guardrails.md", "specs/a/step01/b.md")]
    done = subprocess.run(
        ["git", "check-ignore", *kept, *gone],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == gone
