"""Documents that sessions write and Ralph writes back: it writes nothing else for them."""

from pathlib import Path

import pytest

from tests.e2e.conftest import Project
from tests.e2e.fault_helpers import path
from tests.e2e.test_build import PRD, SIGIL, TEXT, prd, stories

WORK = "echo $RALPH_STORY_ID >> work.txt"


@pytest.mark.parametrize("target", ["../../.git/config", "../../.git/hooks/post-checkout"])
def test_a_link_to_what_is_protected_is_not_written_through(plain: Project, target: str) -> None:
    link = f"rm -f {PRD}; ln -s {target} {PRD}; {WORK}; {SIGIL}"
    stories(plain, agent=link, execution="verify = false\nmax_retries = 0")
    before = (plain.path / ".git/config").read_text()
    plain.ralph("story", "build", "--limit", "2", code=None)
    assert (plain.path / ".git/config").read_text() == before
    assert not (plain.path / ".git/hooks/post-checkout").exists()
    assert not (plain.path / PRD).is_symlink()
    assert prd(plain) == TEXT


def test_a_link_beside_a_document_leads_nowhere(plain: Project, outside: Path) -> None:
    """The process that will write is known from the run's name."""
    profile = outside / "home/.bashrc"
    profile.write_text("# mine\n")
    beside = f"{PRD}.${{RALPH_RUN_ID##*-}}.tmp {PRD}.tmp {PRD}~"
    plant = f"for name in {beside}; do ln -s {profile} $name; done; ln -s {outside}/made {PRD}.lock"
    stories(plain, agent=f"{plant}; {WORK}; {SIGIL}", execution="verify = false")
    plain.ralph("story", "build", "--limit", "1", code=None)
    assert profile.read_text() == "# mine\n"
    assert not (outside / "made").exists()


def test_documents_have_the_names_that_people_gave_them(plain: Project) -> None:
    """What `config.sh` puts elsewhere is open, or closed, there."""
    settings = "PLAN_PATH=.ralph/steps.md\nPROMPT_BUILD=prompts/build.md\n"
    for name, text in ((".ralph/config.sh", settings), (".ralph/steps.md", "# Steps\n")):
        plain.write(name, text)
    for name in ("prompts/build.md", ".ralph/validation.md", ".ralph/IMPLEMENTATION_PLAN-x.md"):
        plain.write(name, "mine\n")
    script = (
        "for name in .ralph/steps.md prompts/build.md .ralph/validation.md .ralph/config.sh"
        " .ralph/IMPLEMENTATION_PLAN-x.md; do echo theirs >> $name; done; mv prompts away"
    )
    plain.try_ralph("sandbox", "run", "--", "sh", "-c", script)
    changed = {
        str(file.relative_to(plain.path))
        for folder in (".ralph", "prompts")
        for file in (plain.path / folder).iterdir()
        if file.suffix in (".md", ".sh") and "theirs" in file.read_text()
    }
    assert changed == {".ralph/steps.md", ".ralph/IMPLEMENTATION_PLAN-x.md"}


REPLACE = "echo {text} > .ralph/draft && mv .ralph/draft .ralph/{name}"
"""As most tools write a file."""


@pytest.mark.parametrize("name", ["guardrails.md", "progress.md", "IMPLEMENTATION_PLAN.md"])
def test_documents_can_be_replaced_and_made(plain: Project, name: str) -> None:
    document = plain.path / ".ralph" / name
    for text in ("made", "replaced"):
        script = REPLACE.format(text=text, name=name)
        done = plain.try_ralph("sandbox", "run", "--", "sh", "-c", f"{script} && git add -A")
        assert (done.returncode, done.stderr) == (0, "")
        assert document.read_text() == f"{text}\n"
        assert plain.git("status", "--porcelain", "--", f".ralph/{name}").startswith("A ")
    assert not (plain.path / ".ralph/draft").exists()


def test_nothing_but_documents_comes_back(plain: Project) -> None:
    names = ("config.sh", "progress.db-journal", "ABORT", "metrics.json", "new.md", "x/y")
    script = "mkdir .ralph/x; " + "; ".join(f"echo x > .ralph/{name}" for name in names)
    plain.ralph("sandbox", "run", "true")
    before = sorted(file.name for file in (plain.path / ".ralph").iterdir())
    plain.try_ralph("sandbox", "run", "--", "sh", "-c", script)
    assert sorted(file.name for file in (plain.path / ".ralph").iterdir()) == before


def test_a_lesson_by_the_door_and_one_by_hand_are_both_kept(plain: Project) -> None:
    script = (
        "printf '# Guardrails\\n' > .ralph/guardrails.md;"
        ' ralph memory add "by the door" && cat .ralph/guardrails.md > .ralph/d2 &&'
        " echo by hand >> .ralph/d2 && mv .ralph/d2 .ralph/guardrails.md; echo x > work.txt;"
        ' echo "<task-done>$RALPH_TASK_ID</task-done>"'
    )
    plain.agent(script, execution="verify = false")
    plain.add("a task")
    events = plain.events(PATH=path())
    assert events[-1]["outcome"] == "complete"
    text = (plain.path / ".ralph/guardrails.md").read_text()
    assert "by the door" in text
    assert "by hand" in text
