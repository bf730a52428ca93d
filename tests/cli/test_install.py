"""Templates and skills, written down to be edited."""

from pathlib import Path

from ralph.core import reviewing, verification
from ralph.documents.prompts import TEMPLATES
from tests.cli.conftest import Cli, assert_one_line


def test_templates_are_written_once(ralph: Cli) -> None:
    root = Path(ralph.path)
    out = ralph("install").out
    written = {path.name for path in (root / ".agents/ralph").iterdir()}
    names = ("prd", "plan", "build", "retry", "verify", "review")
    assert written == {f"PROMPT_{name}.md" for name in names}
    assert out.count("wrote") == len(names)
    assert (root / ".agents/ralph/PROMPT_verify.md").read_text() == verification.HOW
    assert (root / ".agents/ralph/PROMPT_review.md").read_text() == reviewing.HOW
    mine = root / ".agents/ralph/PROMPT_build.md"
    assert mine.read_text() == TEMPLATES["build"]
    mine.write_text("mine")
    assert "kept    .agents/ralph/PROMPT_build.md" in ralph("install").out
    assert mine.read_text() == "mine"
    ralph("install", "--force")
    assert mine.read_text() == TEMPLATES["build"]


def test_skills_go_where_agents_look_for_them(ralph: Cli) -> None:
    root = Path(ralph.path)
    ralph("install", "--skills", "--agent", "claude")
    assert (root / ".claude/skills/prd/SKILL.md").read_text().startswith("---\nname: prd\n")
    assert not (root / ".factory").exists()
    ralph("install", "--skills")
    assert (root / ".factory/skills/prd/SKILL.md").exists()
    assert (root / ".agents/skills/prd/SKILL.md").exists()
    assert_one_line(ralph("install", "--skills", "--agent", "mine", code=64), hint=True)
