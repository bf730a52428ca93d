"""Documents while a team works: the lead writes them, whatever sessions do to their copies."""

from pathlib import Path

from tests.e2e.conftest import Project

PRD = ".agents/tasks/prd.md"
TEXT = "# A product\n\n" + "\n".join(
    f"### [ ] US-00{number}: Story {number}\n- [ ] it works\n" for number in range(1, 5)
)
PRESUMPTUOUS = (
    f"sed -i 's/\\[ \\]/[x]/' {PRD}; git add -A; git commit -qm all; "
    'echo x > "$RALPH_STORY_ID.txt"; echo "<task-done>$RALPH_STORY_ID</task-done>"'
)
"""Ticks everything, commits that, and then does its own part."""


def test_a_team_builds_stories_and_ralph_ticks_them(project: Project) -> None:
    project.write(PRD, TEXT)
    project.write(".ralph/IMPLEMENTATION_PLAN.md", "# Plan\n")
    project.agent(PRESUMPTUOUS, sandbox='mode = "off"')
    project.ralph("story", "build", "1", code=4)
    begun = (project.path / PRD).read_text()
    assert (begun.count("[x] US-"), begun.count("[ ] US-")) == (1, 3)
    project.ralph("run", "--workers", "2", "--limit", "2", code=4)
    then = (project.path / PRD).read_text()
    assert (then.count("[x] US-"), then.count("[ ] US-")) == (3, 1)
    assert project.git("show", f"HEAD:{PRD}") == then.strip()
    assert project.git("status", "--porcelain") == ""
    project.ralph("run", "--workers", "2")
    done = (project.path / PRD).read_text()
    assert (done.count("[x] US-"), done.count("[ ] US-")) == (4, 0)
    made = sorted(path.name for path in Path(project.path).glob("US-*.txt"))
    assert made == [f"US-00{number}.txt" for number in range(1, 5)]
    assert project.git("status", "--porcelain") == ""
