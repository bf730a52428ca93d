"""`ralph story write` and `plan`: from a sentence to stories and to a plan to build them."""

import json
import signal
import subprocess

import pytest

from tests.e2e.conftest import Project
from tests.e2e.fault_helpers import Stage, ended, refs, refused
from tests.e2e.ralph_process import run_ralph

PRD, PLAN = ".agents/tasks/prd.md", ".ralph/IMPLEMENTATION_PLAN.md"
STORIES = "### [ ] US-001: One\\n- [ ] a\\n\\n### [ ] US-002: Two\\n- [ ] b\\n"
CLAIM = 'echo "<task-done>$RALPH_TASK_ID</task-done>"'
WRITE = f"mkdir -p .agents/tasks; printf '{STORIES}' > {PRD}; {CLAIM}"


def fed(project: Project, text: str, *args: str) -> subprocess.CompletedProcess[str]:
    return run_ralph(*args, cwd=project.path, said=text)


# PRD


def test_a_session_writes_the_prd_alone(project: Project) -> None:
    file = project.path.parent / "told.txt"
    project.agent(f"cat > '{file}'; {WRITE}")
    out = project.ralph("story", "write", "a shop that sells tea", "--yes")
    assert out.splitlines()[-2:] == [f"PRD: {PRD}, 2 stories", "next: ralph story plan"]
    assert "> a shop that sells tea" in file.read_text()
    assert project.commits()[0] == f"Write {PRD}"
    assert project.git("status", "--porcelain") == ""


@pytest.mark.parametrize("way", ["file", "stdin", "inline", "path"])
def test_the_request_comes_from_anywhere(project: Project, way: str) -> None:
    file = project.path.parent / "told.txt"
    project.agent(f"cat > '{file}'; {WRITE}")
    request = project.path.parent / "request.md"
    request.write_text("sell tea\nand cups\n")
    if way == "stdin":
        assert fed(project, request.read_text(), "story", "write", "--yes").returncode == 0
    elif way == "file":
        project.ralph("story", "write", "--file", str(request), "--yes")
    elif way == "inline":
        project.ralph("story", "write", "--yes", PRD_INLINE=request.read_text())
    else:
        project.ralph("story", "write", "--yes", PRD_REQUEST_PATH=str(request))
    assert "> sell tea\n> and cups\n" in file.read_text()


def test_without_a_request_nothing_is_begun(project: Project) -> None:
    project.agent(WRITE)
    refused(project.try_ralph("story", "write", "--yes"), 66, "what is wanted", "ralph story write")
    refused(project.try_ralph("story", "write", " ", "--yes"), 64, "empty")
    refused(project.try_ralph("story", "write", "--file", "no.md"), 66, "no.md")
    refused(project.try_ralph("story", "write", "x", "--file", "no.md"), 64, "two requests")
    endless = "/dev/zero is too long: a text may have 10,000,000 characters"
    refused(project.try_ralph("story", "write", "--file", "/dev/zero", "--yes"), 65, endless)
    assert project.ralph("task", "list", "--json") == "[]"
    assert not (project.path / PRD).exists()


def test_it_is_told_what_is_wrong_until_it_fits(project: Project) -> None:
    file = project.path.parent / "told.txt"
    once = project.path.parent / "once"
    bad = "### US-001: One\\n- [ ] a\\n### [x] US-002: Two\\nDepends on: US-009\\n"
    project.agent(
        f"cat > '{file}'; if [ -e '{once}' ]; then {WRITE}; else touch '{once}';"
        f" mkdir -p .agents/tasks; printf '{bad}' > {PRD}; {CLAIM}; fi"
    )
    out = project.ralph("story", "write", "tea", "--yes")
    assert "line 1: it is not read as a story; write: ### [ ] US-001: One" in out
    text = file.read_text()
    assert "line 1: it is not read as a story; write: ### [ ] US-001: One" in text
    assert "line 4: US-002 depends on US-009, and there is no such story" in text
    assert "line 3: US-002 has no criteria" in text
    assert "line 3: US-002 is not built yet: clear all its boxes" in text


def test_a_prd_that_never_fits_fails_in_the_end(project: Project) -> None:
    project.agent(
        f"mkdir -p .agents/tasks; echo sorry > {PRD}; {CLAIM}", execution="max_retries = 1"
    )
    project.ralph("story", "write", "tea", "--yes", code=5)


def test_a_prd_goes_where_it_is_wanted(project: Project) -> None:
    project.agent(f"mkdir -p docs; printf '{STORIES}' > docs/shop.md; {CLAIM}")
    out = project.ralph("story", "write", "tea", "--yes", "--out", "docs/shop.md")
    assert "next: ralph story plan --prd docs/shop.md" in out
    assert not (project.path / PRD).exists()


def test_revising_a_prd_keeps_what_is_built(project: Project) -> None:
    project.write(PRD, "### [x] US-001: One\n- [x] a\n")
    file = project.path.parent / "told.txt"
    project.agent(f"cat > '{file}'; printf '\\n### [ ] US-002: Two\\n- [ ] b\\n' >> {PRD}; {CLAIM}")
    project.ralph("story", "write", "more", "--yes")
    assert "Revise it" in file.read_text()


# Plan


def planned(project: Project, agent: str, **sections: str) -> None:
    project.write(PRD, "### [ ] US-001: One\n- [ ] a\n")
    project.agent(agent, **sections)


def test_a_plan_needs_a_prd(project: Project) -> None:
    project.agent(CLAIM)
    refused(project.try_ralph("story", "plan"), 66, "there is no PRD", "ralph story write")
    project.write(PRD, "nothing\n")
    refused(project.try_ralph("story", "plan"), 66, "there are no stories")


def test_a_plan_is_written_and_committed(project: Project) -> None:
    file = project.path.parent / "told.txt"
    planned(project, f"cat > '{file}'; echo '### US-001: One' > {PLAN}; {CLAIM}")
    out = project.ralph("story", "plan")
    assert out.splitlines()[-2:] == [f"plan: {PLAN}", "next: ralph story build"]
    assert "### US-001: Its title" in file.read_text()
    # In a sandbox there is an empty one, and some tools write only what they have read.
    assert f"then `{PLAN}`" in file.read_text()
    assert (project.path / PLAN).read_text() == "### US-001: One\n"
    assert project.git("status", "--porcelain") == ""
    assert "mode=plan" in (project.path / ".ralph/activity.log").read_text()


def test_planning_is_not_counted_among_a_persons_tasks(project: Project) -> None:
    planned(project, f"echo step > {PLAN}; {CLAIM}")
    project.ralph("story", "plan")
    mine = project.add("Mine")
    assert [one["id"] for one in json.loads(project.ralph("task", "list", "--all", "--json"))] == [
        mine
    ]
    assert "prd-plan" not in project.ralph("task", "tree")
    assert project.ralph("status").startswith("1 task: 1 pending\n")
    assert "prd-plan  done" in project.ralph("logs", "prd-plan")


def test_each_iteration_goes_on_from_the_last(project: Project) -> None:
    planned(project, f"echo step >> {PLAN}; {CLAIM}")
    project.ralph("story", "plan", "3")
    assert (project.path / PLAN).read_text() == "step\n" * 3
    assert len(list((project.path / ".ralph/runs").glob("run-*-iter-*.log"))) == 3
    project.ralph("story", "plan")
    assert (project.path / PLAN).read_text() == "step\n" * 4


def test_it_ends_early_when_an_iteration_changes_nothing(project: Project) -> None:
    ran = project.path.parent / "ran"
    planned(project, f"echo x >> '{ran}'; [ -e {PLAN} ] || echo step > {PLAN}; {CLAIM}")
    out = project.ralph("story", "plan", "5")
    assert ran.read_text() == "x\nx\n"
    assert "changed nothing" in out


def test_everything_else_that_it_changes_is_put_back_and_said(project: Project) -> None:
    planned(
        project,
        f"echo step > {PLAN}; echo spoiled > README.md; echo new > new.txt; rm {PRD};"
        f" git add -A; git commit -qm sneaky; echo more > more.txt; {CLAIM}",
    )
    project.write("mine.txt", "a person's\n")
    before = project.commits()
    out = project.ralph("story", "plan")
    assert (project.path / "README.md").read_text() == "a project\n"
    assert (project.path / "mine.txt").read_text() == "a person's\n"
    assert (project.path / PRD).exists()
    assert not (project.path / "new.txt").exists()
    assert not (project.path / "more.txt").exists()
    assert (project.path / PLAN).read_text() == "step\n"
    assert project.commits()[1:] == before
    assert "reverted, kept as" in out
    assert "README.md" in out
    (ref,) = refs(project)
    assert project.git("show", f"{ref}:README.md") == "spoiled"


def test_a_second_one_does_not_disturb_the_first(project: Project) -> None:
    stage = Stage(project)
    planned(project, stage.agent(f"echo step >> {PLAN}; {CLAIM}"))
    first = project.start("story", "plan")
    stage.enter()
    for command in (("story", "plan"), ("story", "write", "tea", "--yes")):
        refused(project.try_ralph(*command), 75, "another run is at work", "ralph stop")
    stage.go()
    ended(first)
    assert (project.path / PLAN).read_text() == "step\n"
    assert project.task("prd-plan")["attempt"] == 1


def test_what_it_leaves_undone_is_its_own(project: Project) -> None:
    stage = Stage(project)
    planned(project, stage.agent(CLAIM))
    stopped = project.start("story", "plan")
    stage.enter()
    stopped.send_signal(signal.SIGTERM)
    assert "next  ralph story plan   goes on" in ended(stopped, 130)
    assert "prd-plan" not in project.ralph("run", "--dry-run")
    assert "prd-plan was left undone by `ralph story plan`" in project.ralph("run", code=3)


def test_a_session_without_a_plan_is_tried_again(project: Project) -> None:
    once = project.path.parent / "once"
    planned(project, f"[ -e '{once}' ] && echo step > {PLAN}; touch '{once}'; {CLAIM}")
    project.ralph("story", "plan", "2")
    assert (project.path / PLAN).read_text() == "step\n"
    assert "rejected: there is no" in (project.path / ".ralph/errors.log").read_text()


@pytest.mark.parametrize("agent", [CLAIM, "exit 3", "echo nothing"])
def test_failing_sessions_count_as_iterations(project: Project, agent: str) -> None:
    ran = project.path.parent / "ran"
    planned(project, f"echo x >> '{ran}'; {agent}")
    project.ralph("story", "plan", "2", code=4)
    assert ran.read_text() == "x\nx\n"


def test_a_plan_that_used_its_iterations_is_there(project: Project) -> None:
    once = project.path.parent / "once"
    planned(project, f"[ -e '{once}' ] && exit 3; touch '{once}'; echo step > {PLAN}; {CLAIM}")
    assert f"plan: {PLAN}" in project.ralph("story", "plan", "2")


def test_an_agent_that_fails_leaves_a_line_in_the_errors_log(project: Project) -> None:
    planned(project, "echo no; exit 3")
    project.ralph("story", "plan", code=None)
    assert "mode" not in (project.path / ".ralph/errors.log").read_text()
    assert "error:" in (project.path / ".ralph/errors.log").read_text()


def test_from_a_sentence_to_commits(project: Project) -> None:
    project.agent(
        'case "$RALPH_STORY_ID" in'
        f" prd-prd) {WRITE};;"
        f" prd-plan) echo '### US-001: One' > {PLAN}; {CLAIM};;"
        f" *) echo $RALPH_STORY_ID >> work.txt; {CLAIM};; esac"
    )
    project.ralph("story", "write", "tea", "--yes")
    project.ralph("story", "plan")
    project.ralph("story", "build")
    assert project.commits()[:2] == ["US-002: Two", "US-001: One"]
    assert project.git("status", "--porcelain") == ""
