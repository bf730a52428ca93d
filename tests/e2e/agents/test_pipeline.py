"""From an idea to validated commits with the real agents, in one go."""

import pytest

from ralph.testing.model import ScriptedCall, Shell, Turn, Write, do, say
from ralph.testing.model.script import ModelRequestLog, Scripted
from tests.e2e.agents.conftest import Real
from tests.e2e.agents.real import CLAIM, RealProject
from tests.e2e.test_validate_and_auto import END

PRD, PLAN = ".agents/tasks/prd.md", ".ralph/IMPLEMENTATION_PLAN.md"
STORIES = """\
# Tea

### [ ] US-001: One
The first. [[scenario:one]]

- [ ] one.txt is there

### [ ] US-002: Two
The second. [[scenario:two]]

Depends on: US-001

- [ ] two.txt is there
"""
VALIDATING = "Decide about each of these criteria"


def story(name: str) -> tuple[Scripted, ...]:
    """A session that builds it, ticks it and commits; and one that looks whether that is so."""
    tick = f"sed -i 's/- \\[ \\] {name}/- [x] {name}/' {PRD}"
    building = f"echo {name} > {name}.txt; {tick}; git add -A; git commit -q -m 'Add {name}'"

    def first(asked: ModelRequestLog) -> Turn:
        looks = VALIDATING in asked.user
        return do(Shell(command=f"cat {name}.txt" if looks else building))

    def last(asked: ModelRequestLog) -> Turn:
        if VALIDATING not in asked.user:
            # It has ticked its only criterion, and says nothing else about it.
            return say("All criteria hold.")
        seen = name in "".join(asked.results)
        return say(f"1 {'PASS' if seen else 'FAIL'} cat {name}.txt says so")

    return first, last


def test_an_idea_becomes_validated_commits(real: Real, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RALPH_SANDBOX_MODE")
    project = real("claude")
    out = becomes_validated(project)
    assert "sandbox bubblewrap" in out
    assert "sandbox off" not in out
    project.ralph("story", "validate")


def looks(asked: ModelRequestLog) -> Turn:
    """In a sandbox an empty one is there already, and some tools write only what they have read;
    in this phase not every agent has a shell for it."""
    if "Read" in asked.tools:
        return do(ScriptedCall(name="Read", input={"file_path": f"{{cwd}}/{PLAN}"}))
    return do(Shell(command=f"cat {PLAN}"))


def becomes_validated(project: RealProject) -> str:
    """All four phases."""
    server = project.server
    server.script("prd", do(Write(path=f"{{cwd}}/{PRD}", text=STORIES)), say(CLAIM))
    plan = "### US-001: One\n- [ ] write it\n"
    server.script("default", looks, do(Write(path=f"{{cwd}}/{PLAN}", text=plan)), say(CLAIM))
    for name in ("one", "two"):
        server.script(name, *story(name))
    out = project.ralph("go", "--plan", "stories", "a shop [[scenario:prd]]", "--yes")
    assert out.splitlines()[-1] == END
    text = (project.path / PRD).read_text()
    assert text == STORIES.replace("[ ]", "[x]")
    assert "Result: passed" in (project.path / ".ralph/validation.md").read_text()
    assert {"Add one", "Add two", "US-001: One", "US-002: Two"} <= set(project.commits())
    assert project.git("status", "--porcelain") == ""
    prompts = [one.user for one in server.asked_in("one") if VALIDATING not in one.user]
    assert any("- [ ] write it" in one for one in prompts)
    return out
