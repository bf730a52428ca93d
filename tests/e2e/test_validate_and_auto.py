"""`ralph story validate` and `ralph go --plan stories`: checked, and made without anybody."""

import json

from tests.e2e.conftest import Project
from tests.e2e.fault_helpers import refused
from tests.e2e.ralph_process import RALPH

PRD, PLAN = ".agents/tasks/prd.md", ".ralph/IMPLEMENTATION_PLAN.md"
REPORT = ".ralph/validation.md"
BUILT = "### [x] US-001: One\n- [x] a\n- [x] b\n\n### [x] US-002: Two\n- [x] c\n"
END = "everything is built and validated; `ralph report` shows what proves it"
CLAIM = 'echo "<task-done>$RALPH_TASK_ID</task-done>"'
GOOD = "echo '1 PASS saw it'; echo '2 PASS saw it, too'"
STORIES = "### [ ] US-001: One\\n- [ ] a\\n\\n### [ ] US-002: Two\\n- [ ] b\\n"


def built(project: Project, agent: str, text: str = BUILT, **sections: str) -> None:
    project.write(PRD, text)
    project.agent(agent, **sections)


def test_every_criterion_gets_a_verdict_and_evidence(project: Project) -> None:
    built(project, GOOD, gates='test = "test -e README.md"')
    out = project.ralph("story", "validate")
    assert "pass     US-001 a" in out
    report = (project.path / REPORT).read_text()
    assert "- Result: passed\n" in report
    assert "- PASS test: `test -e README.md`\n" in report
    assert "- PASS a\n  - Evidence: saw it\n" in report
    assert project.git("rev-parse", "HEAD~1") in report
    assert project.git("status", "--porcelain") == ""
    assert (project.path / PRD).read_text() == BUILT


def test_the_report_as_json(project: Project) -> None:
    built(project, GOOD)
    report = json.loads(project.ralph("story", "validate", "--json"))
    assert report["passed"] is True
    assert report["stories"][0]["criteria"][1] == {
        "criterion": "b",
        "verdict": "pass",
        "evidence": "saw it, too",
    }


def test_what_does_not_hold_opens_its_story_with_the_reason(project: Project) -> None:
    file = project.path.parent / "told.txt"
    built(
        project,
        f"cat > '{file}'; case $RALPH_ROLE in verify) echo '1 PASS yes';"
        " echo '**2. FAIL**: no button';; *)"
        f" echo x >> work.txt; {CLAIM};; esac",
    )
    project.write(PLAN, "plan\n")
    assert "FAIL     US-001 b" in project.ralph("story", "validate", code=1)
    assert (project.path / PRD).read_text() == BUILT.replace("[x] US-001", "[ ] US-001").replace(
        "[x] b", "[ ] b"
    )
    assert project.status("US-001") == "pending"
    assert "- FAIL b\n  - Evidence: no button\n" in (project.path / REPORT).read_text()
    project.ralph("story", "build")
    assert "b: no button" in file.read_text()
    assert (project.path / PRD).read_text() == BUILT


def test_it_looks_at_the_newest_commit_and_at_nothing_else(project: Project) -> None:
    seen = project.path.parent / "seen.txt"
    built(project, f"ls > '{seen}'; cat README.md >> '{seen}'; echo x > README.md; {GOOD}")
    project.write("mine.txt", "not committed\n")
    project.write("README.md", "changed\n")
    project.ralph("story", "validate")
    assert "mine.txt" not in seen.read_text()
    assert "a project" in seen.read_text()
    assert (project.path / "README.md").read_text() == "changed\n"
    assert (project.path / "mine.txt").exists()


def test_an_answer_that_is_not_whole_is_asked_for_again(project: Project) -> None:
    file = project.path.parent / "told.txt"
    once = project.path.parent / "once"
    built(
        project,
        f"cat >> '{file}'; if [ -e '{once}' ]; then {GOOD}; else touch '{once}'; echo '1 PASS x';"
        " fi",
    )
    project.ralph("story", "validate")
    assert "there is no verdict about criterion 2" in file.read_text()


def test_without_a_verdict_nothing_is_said_to_hold(project: Project) -> None:
    built(project, "echo fine", execution="max_retries = 0")
    report = json.loads(project.ralph("story", "validate", "--json", code=1))
    assert {one["verdict"] for story in report["stories"] for one in story["criteria"]} == {
        "unknown"
    }
    assert (project.path / PRD).read_text() == BUILT


def test_its_checks_are_none_of_a_persons_tasks(project: Project) -> None:
    during = project.path.parent / "during.json"
    built(project, f"{RALPH} status --json > '{during}'; {GOOD}")
    project.ralph("story", "validate")
    for command in (["task", "list", "--all"], ["task", "tree"]):
        found = json.loads(project.quick(*command, "--json"))
        assert {one["alias"] for one in found} == {"US-001", "US-002"}
    for status in (during.read_text(), project.quick("status", "--json")):
        assert json.loads(status)["counts"]["done"] == 2
        assert json.loads(status)["counts"]["pending"] == 0
        assert json.loads(status)["ready"] == []


def test_open_stories_and_red_gates_fail_it(project: Project) -> None:
    built(project, GOOD, BUILT.replace("[x] US-002", "[ ] US-002").replace("[x] c", "[ ] c"))
    out = project.ralph("story", "validate", code=1)
    assert "OPEN     US-002 c" in out
    built(project, GOOD, gates='test = "echo no nothing; test -e nothing"')
    assert "FAIL     gate test" in project.ralph("story", "validate", code=1)
    assert "  - Evidence: no nothing\n" in (project.path / REPORT).read_text()


def test_validation_needs_something_to_look_at(project: Project) -> None:
    project.agent(GOOD)
    refused(project.try_ralph("story", "validate"), 66, "there is no PRD")
    project.write(PRD, "### [ ] US-001: One\n")
    refused(project.try_ralph("story", "validate"), 66, "no story", "ralph story build")


# All of it


def everything(project: Project, **phases: str) -> None:
    """An agent that plays every part; each may be replaced."""
    parts = {
        "prd-prd": f"mkdir -p .agents/tasks; printf '{STORIES}' > {PRD}; {CLAIM}",
        "prd-plan": f"echo '### US-001: One' > {PLAN}; {CLAIM}",
        "prd-validate*": "echo '1 PASS saw it'",
        "*": f"echo $RALPH_STORY_ID >> work.txt; {CLAIM}",
    }
    parts |= {name.replace("_", "-"): line for name, line in phases.items()}
    order = sorted(parts, key=lambda name: (name == "*", "*" in name, name))
    cases = "".join(f" {name}) {parts[name]};;" for name in order)
    ran = project.path.parent / "ran.txt"
    project.agent(f"echo $RALPH_STORY_ID >> '{ran}'; case $RALPH_STORY_ID in{cases} esac")


def ran(project: Project) -> list[str]:
    return (project.path.parent / "ran.txt").read_text().split()


def test_from_an_idea_to_validated_commits(project: Project) -> None:
    everything(project)
    out = project.ralph("go", "--plan", "stories", "a shop that sells tea", "--yes")
    assert out.splitlines()[-1] == END
    phases = [line for line in out.splitlines() if line.startswith("phase ")]
    assert phases == [
        "phase 1 of 4: discovery",
        "phase 2 of 4: planning",
        "phase 3 of 4: building",
        "phase 4 of 4: validation",
    ]
    assert "complete: " not in out, "it ends once"
    report = project.ralph("report")
    assert "**US-001** One" in report, "of the building, not of its validation"
    assert "prd-validate" not in report
    assert ran(project) == [
        *("prd-prd", "prd-plan", "US-001", "US-002"),
        *("prd-validate-US-001", "prd-validate-US-002"),
    ]
    assert "- Result: passed" in (project.path / REPORT).read_text()
    assert project.git("status", "--porcelain") == ""
    assert project.ralph("go", "--plan", "stories") == END
    text = (project.path / PRD).read_text()
    project.write(PRD, f"{text}\n### [ ] US-003: Three\n- [ ] c\n")
    project.ralph("go", "--plan", "stories", "--yes")
    assert ran(project)[6:9] == ["prd-plan", "US-003", "prd-validate-US-001"]


def test_it_stops_for_approval_after_planning(project: Project) -> None:
    everything(project)
    refused(
        project.try_ralph("go", "--plan", "stories", "tea"),
        6,
        "waits for your approval",
        "--from build",
    )
    assert ran(project) == ["prd-prd", "prd-plan"]
    refused(project.try_ralph("go", "--plan", "stories"), 6, "waits for your approval")
    project.ralph("go", "--plan", "stories", "--from", "build")
    assert ran(project)[2:4] == ["US-001", "US-002"]


def test_without_commits_it_stops_before_validation(project: Project) -> None:
    everything(project)
    done = project.try_ralph("go", "--plan", "stories", "tea", "--yes", "--no-commit")
    refused(done, 6, "built, and not committed", "then ralph go --plan stories")
    assert ran(project) == ["prd-prd", "prd-plan", "US-001", "US-002"]
    project.git("add", "-A")
    project.git("commit", "-qm", "by hand")
    project.ralph("go", "--plan", "stories", "--no-commit")
    assert ran(project)[4:] == ["prd-validate-US-001", "prd-validate-US-002"]


def test_it_goes_on_with_the_phase_where_it_stopped(project: Project) -> None:
    everything(project)
    project.ralph("go", "--plan", "stories", "tea", "--yes", "--limit", "1", code=4)
    project.ralph("go", "--plan", "stories", "tea", "--yes")
    assert ran(project).count("prd-prd") == 1
    assert ran(project).count("US-001") == 1


def test_what_validation_opens_is_built_again(project: Project) -> None:
    once = project.path.parent / "once"
    everything(
        project,
        **{
            "prd-validate-US-001": f"[ -e '{once}' ] && echo '1 PASS yes' ||"
            f" {{ touch '{once}'; echo '1 FAIL no'; }}"
        },
    )
    project.ralph("go", "--plan", "stories", "tea", "--yes")
    assert ran(project).count("US-001") == 2


def test_what_never_holds_ends_it(project: Project) -> None:
    everything(project, **{"prd-validate*": "echo '1 FAIL no'"})
    project.ralph("go", "--plan", "stories", "tea", "--yes", code=1)
    assert ran(project).count("US-001") == 3


def test_where_only_a_gate_is_red_nothing_is_repeated(project: Project) -> None:
    seen = project.path.parent / "seen.txt"
    built(project, f"echo x >> '{seen}'; {GOOD}", gates='test = "test -e nothing"')
    out = project.ralph("go", "--plan", "stories", "--from", "validate", code=1)
    assert "FAIL     gate test" in out
    assert "next: ralph story build" not in out
    assert seen.read_text() == "x\nx\n"


def test_a_phase_can_be_chosen(project: Project) -> None:
    everything(project)
    project.ralph("go", "--plan", "stories", "tea", "--yes")
    project.ralph("go", "--plan", "stories", "--from", "planning", "--yes")
    assert ran(project).count("prd-plan") == 2
    refused(project.try_ralph("go", "--plan", "stories", "--from", "bild"), 64, "bild")


def test_without_an_idea_there_is_nothing_to_begin_with(project: Project) -> None:
    everything(project)
    refused(
        project.try_ralph("go", "--plan", "stories", "--yes"),
        66,
        "what is wanted",
        "ralph go --from plan",
    )
    refused(
        project.try_ralph("go", "--plan", "stories", "--from", "build", "--yes"),
        66,
        "there is no PRD",
    )
