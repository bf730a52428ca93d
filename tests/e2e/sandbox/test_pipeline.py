"""From a sentence to commits, every session in the sandbox."""

from tests.e2e.conftest import Project

PRD, PLAN = ".agents/tasks/prd.md", ".ralph/IMPLEMENTATION_PLAN.md"
CLAIM = 'echo "<task-done>$RALPH_TASK_ID</task-done>"'


def test_sessions_reach_the_files_that_they_are_told_of(sandboxed: Project) -> None:
    stories = "### [ ] US-001: One\\n- [ ] a\\n"
    notes = "; ".join(
        f"echo note >> .ralph/{name}"
        for name in ("progress.md", "guardrails.md", "errors.log", "activity.log")
    )
    sandboxed.agent(
        'case "$RALPH_STORY_ID" in'
        f" prd-prd) mkdir -p .agents/tasks; printf '{stories}' > {PRD}; {CLAIM};;"
        f" prd-plan) echo '### US-001: One' > {PLAN}; {CLAIM};;"
        f' *) echo x > work.txt; {notes}; echo "- [x] step" >> {PLAN};'
        f' sed -i "s/\\[ \\] US/[x] US/" {PRD}; echo ok;; esac'
    )
    sandboxed.ralph("story", "write", "tea", "--yes")
    sandboxed.ralph("story", "plan")
    out = sandboxed.ralph("story", "build")
    assert "bubblewrap" in out
    assert (sandboxed.path / PRD).read_text() == "### [x] US-001: One\n- [x] a\n"
    for name in ("progress.md", "guardrails.md", "errors.log", "activity.log"):
        assert "note\n" in (sandboxed.path / ".ralph" / name).read_text()
    assert sandboxed.git("status", "--porcelain") == ""


def test_a_plan_that_was_not_written_leaves_no_empty_file(sandboxed: Project) -> None:
    sandboxed.write(PRD, "### [ ] US-001: One\n- [ ] a\n")
    sandboxed.agent(CLAIM, execution="max_retries = 0")
    sandboxed.ralph("story", "plan", code=5)
    assert not (sandboxed.path / PLAN).exists()
