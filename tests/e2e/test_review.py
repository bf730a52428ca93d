"""The installed command, with a reviewer who reads the change."""

import pytest

from tests.e2e.conftest import Project
from tests.e2e.fault_helpers import refused

WORK = 'echo x >> work.txt; echo "<task-done>$RALPH_TASK_ID</task-done>"'
ONE = "<finding>work.txt: one line is not enough</finding><review-fail>too short</review-fail>"


@pytest.fixture
def reviewed(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.delenv("RALPH_REVIEW_ENABLED")
    return project


def two(project: Project, work: str, review: str) -> None:
    """An agent that works, and another one that reviews."""
    project.write(".agents/ralph/agents.sh", f"AGENT_READER_CMD='{review}'\n")
    project.agent(work, review='agent = "reader"')


def test_one_who_fails_once_and_passes_then(reviewed: Project) -> None:
    review = (
        f'if test "$(wc -l < work.txt)" -ge 2; then echo "<review-pass>good</review-pass>"; '
        f'else cat > "$OUT"; git diff "$BASE" HEAD >> "$OUT"; echo "{ONE}"; fi'
    )
    two(reviewed, f"cat > brief.txt; {WORK}", review)
    task = reviewed.add("x")
    base = reviewed.git("rev-parse", "HEAD")
    path = reviewed.path.parent / "told.txt"
    reviewed.ralph("run", "--review", OUT=str(path), BASE=base)
    shown = reviewed.task(task)
    assert (shown["status"], shown["review"], shown["retry_count"]) == ("done", "passed", 1)
    assert f"`git diff {base} HEAD`" in path.read_text()
    assert "+x" in path.read_text().splitlines()
    assert "F1: work.txt: one line is not enough" in (reviewed.path / "brief.txt").read_text()
    file = (reviewed.path / f".ralph/reviews/task-{task}-review.md").read_text()
    assert "## Round 1\n\nVerdict: FAIL\nSummary: too short\n" in file
    assert "## Round 2\n\nVerdict: PASS\nSummary: good\n" in file
    assert [one.name for one in (reviewed.path / ".ralph/reviews").iterdir()] == [
        f"task-{task}-review.md"
    ], "a folder for people, without locks and drafts"
    assert reviewed.commits()[0] == "x"
    assert reviewed.git("status", "--porcelain") == ""
    assert "reviewed" in reviewed.ralph("task", "show", task)


def test_what_a_person_dismisses_is_not_raised_again(reviewed: Project) -> None:
    two(reviewed, WORK, f'echo "{ONE}"')
    task = reviewed.add("x")
    reviewed.ralph("run", "--review", "--once", code=None)
    assert reviewed.task(task)["review"] == "failed"
    refused(reviewed.try_ralph("task", "dismiss", task, "F9", "no"), 66, "F9", "it has F1")
    refused(reviewed.try_ralph("task", "dismiss", task, "F1", " "), 64, "reason")
    reviewed.ralph("task", "dismiss", task, "F1", "one line is what was asked for")
    reviewed.ralph("run", "--review")
    shown = reviewed.task(task)
    assert (shown["status"], shown["review"], shown["retry_count"]) == ("done", "passed", 1)
    file = (reviewed.path / f".ralph/reviews/task-{task}-review.md").read_text()
    assert "dismissed by a person: one line is what was asked for" in file


def test_without_being_asked_for_nobody_reviews(reviewed: Project) -> None:
    two(reviewed, WORK, "exit 1")
    task = reviewed.add("x")
    reviewed.ralph("run")
    assert reviewed.task(task)["review"] is None


def test_with_several_workers_one_passes_and_one_is_blocked(reviewed: Project) -> None:
    work = (
        'cat ".ralph/reviews/task-$RALPH_TASK_ID-review.md" > "$RALPH_TASK_ID.txt" || date > x.txt;'
        ' echo "<task-done>$RALPH_TASK_ID</task-done>"'
    )
    review = (
        'case "$(cat)" in *alpha*) echo "<review-blocked>whose is it?</review-blocked>";;'
        ' *) if grep -q "Summary: not yet" t-*.txt; then echo "<review-pass>good</review-pass>";'
        ' else echo "<review-fail>not yet</review-fail>"; fi;; esac'
    )
    two(reviewed, work, review)
    held, done = reviewed.add("alpha"), reviewed.add("beta")
    reviewed.ralph("run", "--review", "--workers", "2", code=2)
    assert [reviewed.status(one) for one in (held, done)] == ["blocked", "done"]
    assert reviewed.task(held)["reason"] == "the reviewer blocks it: whose is it?"
    assert f"## {held}: alpha" in (reviewed.path / ".ralph/blockers.md").read_text()
    assert reviewed.commits()[0] == "beta"
    files = sorted(one.name for one in (reviewed.path / ".ralph/reviews").glob("*.md"))
    assert files == sorted(f"task-{one}-review.md" for one in (held, done))
    assert reviewed.git("status", "--porcelain") == ""
