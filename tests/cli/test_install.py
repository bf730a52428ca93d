"""Templates and skills, written down to be edited."""

from pathlib import Path

from ralph.documents.story_prompts import template
from ralph.prompts import prompt
from tests.cli.conftest import Cli, assert_one_line


def test_templates_are_written_once(ralph: Cli) -> None:
    root = Path(ralph.path)
    out = ralph("config", "templates").out
    written = {path.name for path in (root / ".agents/ralph").iterdir()}
    names = ("prd", "plan", "build", "retry", "verify", "review")
    assert written == {f"PROMPT_{name}.md" for name in names}
    assert out.count("wrote") == len(names)
    verify, review = (root / f".agents/ralph/PROMPT_{name}.md" for name in ("verify", "review"))
    assert verify.read_text() == prompt("verification_rules")
    assert review.read_text() == prompt("review_rules")
    mine = root / ".agents/ralph/PROMPT_build.md"
    assert mine.read_text() == template("build")
    mine.write_text("mine")
    assert "kept    .agents/ralph/PROMPT_build.md" in ralph("config", "templates").out
    assert mine.read_text() == "mine"
    ralph("config", "templates", "--force")
    assert mine.read_text() == template("build")


def test_skills_go_where_agents_look_for_them(ralph: Cli) -> None:
    root = Path(ralph.path)
    ralph("config", "templates", "--skills", "--agent", "claude")
    assert (root / ".claude/skills/prd/SKILL.md").read_text().startswith("---\nname: prd\n")
    assert not (root / ".factory").exists()
    ralph("config", "templates", "--skills")
    assert (root / ".factory/skills/prd/SKILL.md").exists()
    assert (root / ".agents/skills/prd/SKILL.md").exists()
    assert_one_line(ralph("config", "templates", "--skills", "--agent", "mine", code=64), hint=True)
