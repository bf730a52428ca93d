"""What sessions are told and what they leave, with the installed `ralph`."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import DONE, Project

SPEC = ".ralph/features/login/spec.md"
PATH = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]


@pytest.fixture
def briefs(project: Project) -> Path:
    folder = project.path.parent / "briefs"
    folder.mkdir()
    return folder


def keeping(briefs: Path, then: str = DONE) -> str:
    """An agent that keeps its brief before it does anything."""
    return f"cp {{prompt}} '{briefs}'/$RALPH_TASK_ID.$RALPH_ATTEMPT; {then}"


def memories(project: Project, *args: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(project.ralph("memory", "list", *args, "--json"))
    return found


def test_a_specification_that_is_edited_meanwhile_is_in_the_next_brief(
    project: Project, briefs: Path
) -> None:
    project.write(SPEC, "log in by mail\n")
    project.agent(keeping(briefs, f"echo 'log in by phone' > {SPEC}; {DONE}"))
    first = project.add("the form", "--feature", "login")
    second = project.add("the mail", "--feature", "login")
    project.ralph("run", "login")
    assert "log in by mail" in (briefs / f"{first}.1").read_text()
    assert "log in by phone" in (briefs / f"{second}.1").read_text()


def test_task_brief_shows_what_the_session_then_gets(project: Project, briefs: Path) -> None:
    project.write(SPEC, "log in by mail\n")
    project.write(".ralph/specs/api.md", "the interface\n")
    project.write(".ralph/skills/forms/SKILL.md", "---\ndescription: Making forms\n---\n")
    project.agent(keeping(briefs), gates='test = "test -e README.md"')
    project.ralph("memory", "add", "no mocks")
    task = project.add("the form", "--feature", "login", "-d", "with two fields")
    project.ralph("session", "inject", "be quick", "--task", task)
    foreseen = project.ralph("task", "brief", task)
    for words in ("by mail", "specs/api.md", "**forms**", "no mocks", "two fields", "be quick"):
        assert words in foreseen
    project.ralph("run")
    assert (briefs / f"{task}.1").read_text().strip() == foreseen
    (attempt,) = project.task(task)["attempts"]
    names = {one["name"] for one in attempt["given"]}
    assert names == {"task", "spec", "skills", "guardrails", "references", "guidance", "gates"}


def test_what_one_session_learns_another_is_told(project: Project, briefs: Path) -> None:
    fact = '<knowledge tags="db" title="Pool">the connection pool is small</knowledge>'
    project.agent(keeping(briefs, f"echo '{fact}'; {DONE}"))
    project.add("read the settings")
    later = project.add("tune the connection pool")
    project.ralph("run")
    assert "**Pool**: the connection pool is small (db)" in (briefs / f"{later}.1").read_text()
    (kept,) = memories(project)
    assert (kept["kind"], kept["title"], kept["tags"]) == ("knowledge", "Pool", ["db"])
    project.ralph("memory", "remove", f"m-{kept['id']}", "--yes")
    assert memories(project, "pool") == []


def test_an_agent_that_echoes_its_brief_leaves_nothing_behind(project: Project) -> None:
    project.agent(f"cat; {DONE}")
    project.add("echo <knowledge>me</knowledge> <journal>me</journal>")
    project.ralph("run")
    assert memories(project) == []


def test_a_link_out_of_the_project_is_not_told(project: Project, briefs: Path) -> None:
    secret = project.path.parent / "secret"
    secret.write_text("a key that nobody should see")
    plant = f"mkdir -p .ralph/features/login; ln -sf '{secret}' {SPEC}"
    project.agent(keeping(briefs, f"{plant}; {DONE}"))
    project.add("plants it", "--feature", "login")
    second = project.add("reads it", "--feature", "login")
    events = project.events()
    assert "a key" not in (briefs / f"{second}.1").read_text()
    assert f"{SPEC} leads out of the project" in [one.get("message") for one in events]


def test_learning_is_not_asked_for_when_nobody_wants_it(project: Project, briefs: Path) -> None:
    project.agent(keeping(briefs))
    first = project.add("one")
    project.ralph("run", "--no-learn")
    assert "SKILL.md" not in (briefs / f"{first}.1").read_text()
    second = project.add("two")
    project.ralph("run")
    assert "SKILL.md" in (briefs / f"{second}.1").read_text()


def test_a_skill_that_a_session_writes_is_committed_and_told_to_the_next(
    project: Project, briefs: Path
) -> None:
    skill = ".ralph/skills/release/SKILL.md"
    text = "---\\ndescription: Cutting a release\\n---\\n"
    write = f"mkdir -p .ralph/skills/release; printf -- '{text}' > {skill}"
    project.agent(keeping(briefs, f"{write}; {DONE}"))
    project.add("one")
    second = project.add("two")
    project.ralph("run")
    assert f"**release**: Cutting a release (`{skill}`)" in (briefs / f"{second}.1").read_text()
    assert project.git("ls-files", skill) == skill


def test_a_session_can_look_and_write_lessons_down(project: Project, briefs: Path) -> None:
    project.agent(
        keeping(
            briefs,
            'ralph task brief "$RALPH_TASK_ID" > own.txt; ralph memory list > /dev/null;'
            f' ralph memory add "use port 0" > /dev/null; {DONE}',
        )
    )
    first = project.add("one")
    second = project.add("two")
    project.ralph("run", PATH=PATH)
    assert (project.path / "own.txt").exists()
    assert f"## Your task: {first}" in (briefs / f"{first}.1").read_text()
    assert "- Pattern: use port 0" in (briefs / f"{second}.1").read_text()
    assert project.git("status", "--porcelain") == ""


def test_a_session_may_not_forget_for_others(project: Project) -> None:
    fact = "<knowledge>the pool is small</knowledge>"
    project.agent(f"ralph memory remove m-1 --yes; echo '{fact}'; {DONE}")
    project.add("one")
    project.add("two")
    project.ralph("run", PATH=PATH)
    assert [one["text"] for one in memories(project)] == ["the pool is small"]


def test_a_huge_project_does_not_make_a_huge_brief(project: Project, briefs: Path) -> None:
    project.write(SPEC, "a line of the specification\n" * 20_000)
    for number in range(300):
        project.write(f".ralph/specs/{number:03}.md", "x")
    project.agent(keeping(briefs), context="brief_tokens = 3000")
    task = project.add("the form", "--feature", "login", "-d", "two fields")
    events = project.events()
    brief = (briefs / f"{task}.1").read_text()
    assert len(brief) <= 4 * 3000
    assert "two fields" in brief
    assert f"all of it: `{SPEC}`" in brief
    said = [one.get("message") or "" for one in events]
    assert f"[context] brief_tokens leave no room for all of {SPEC}" in said


def test_a_dependent_is_told_what_its_blocker_said_and_where_its_work_is(project: Project) -> None:
    file = project.path.parent / "told"
    project.agent(
        f"cat > '{file}'; echo x >> parser.py; echo 'The parser reads dates, too.';"
        ' echo "<task-done>$RALPH_TASK_ID</task-done>"'
    )
    first = project.add("Write the parser")
    project.add("Use it", "--blocked-by", first)
    project.ralph("run")
    line = next(one for one in file.read_text().splitlines() if one.startswith(f"- {first}"))
    assert line == f"- {first} Write the parser: The parser reads dates, too. (files: parser.py)"
