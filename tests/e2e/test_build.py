"""`ralph story build`: the stories of a PRD, one after the other."""

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Project, wait_for
from tests.e2e.fault_helpers import Stage, ended, lines, refs, refused, warnings

PRD, PLAN = ".agents/tasks/prd.md", ".ralph/IMPLEMENTATION_PLAN.md"
TEXT = """\
# A product

### [ ] US-001: One
- [ ] a
- [ ] b

### [ ] US-002: Two
Depends on: US-001
- [ ] c
"""
SIGIL = 'echo "<task-done>$RALPH_STORY_ID</task-done>"'
WORK = "echo $RALPH_STORY_ID >> work.txt"
TICK = f'sed -i "s/\\[ \\] $RALPH_STORY_ID/[x] $RALPH_STORY_ID/" {PRD}'
AGENT = f"{WORK}; {TICK}"
"""Does something, and ticks the heading of its story."""


def stories(project: Project, text: str = TEXT, agent: str = AGENT, **sections: str) -> Project:
    project.write(PRD, text)
    project.write(PLAN, "### US-001: One\n- [ ] the first step\n")
    project.agent(agent, **sections)
    return project


def prd(project: Project) -> str:
    return (project.path / PRD).read_text()


def ticked(text: str, *names: str) -> str:
    for name in names:
        text = text.replace(f"[ ] {name}", f"[x] {name}")
    return text


def build(project: Project, *args: str, code: int = 0) -> list[dict[str, object]]:
    out = project.ralph("story", "build", "--json", *args, code=code)
    return [json.loads(line) for line in out.splitlines()]


ALL = ticked(TEXT, "US-001", "US-002", "a", "b", "c")


def test_stories_are_built_in_order_ticked_and_committed(project: Project) -> None:
    stories(project)
    project.ralph("story", "build")
    assert (project.path / "work.txt").read_text() == "US-001\nUS-002\n"
    assert prd(project) == ALL
    assert project.commits()[:2] == ["US-002: Two", "US-001: One"]
    assert project.git("status", "--porcelain") == ""
    assert project.git("show", f"HEAD~1:{PRD}") + "\n" == ticked(TEXT, "US-001", "a", "b")
    assert project.status("US-002") == "done"


def test_screens_and_events_call_a_story_by_its_id(project: Project) -> None:
    stories(project, agent=f"{AGENT}; echo; echo 'I am done'")
    out = project.ralph("story", "build", "1", code=4)
    task = str(project.task("US-001")["id"])
    assert " US-001 done: One" in out
    assert task not in out
    moved = [one for one in build(project) if "retry_count" in one]
    assert {one["alias"] for one in moved} == {"US-002"}


def test_all_done_is_success_without_a_session(project: Project) -> None:
    stories(project, ALL, agent="touch ran")
    project.ralph("story", "build")
    assert not (project.path / "ran").exists()


def test_a_claim_may_also_be_a_tag_or_all_criteria(project: Project) -> None:
    criteria = f'sed -i "s/- \\[ \\] [ab]$/- [x] &/; s/- \\[x\\] - \\[ \\]/- [x]/" {PRD}'
    stories(project, agent=f"{WORK}; [ $RALPH_STORY_ID = US-001 ] && {criteria} || {SIGIL}")
    project.ralph("story", "build")
    assert prd(project) == ALL


def test_without_a_prd_or_a_plan_the_command_that_makes_it_is_named(project: Project) -> None:
    project.agent(AGENT)
    refused(project.try_ralph("story", "build"), 66, "there is no PRD", "ralph story write")
    project.write(PRD, TEXT)
    refused(project.try_ralph("story", "build"), 66, "there is no plan", "ralph story plan")
    project.write(PLAN, "plan\n")
    project.write(PRD, "# nothing\n")
    refused(project.try_ralph("story", "build"), 66, "there are no stories")
    project.write(PRD, TEXT + TEXT)
    refused(project.try_ralph("story", "build"), 65, "line 12", "US-001")


def test_it_stops_after_n_iterations(project: Project) -> None:
    stories(project)
    project.ralph("story", "build", "1", code=4)
    assert prd(project) == ticked(TEXT, "US-001", "a", "b")
    refused(project.try_ralph("story", "build", "0"), 64, "0")
    project.ralph("story", "build")
    assert prd(project) == ALL


def test_a_rejected_claim_is_cleared_and_the_next_session_hears_why(project: Project) -> None:
    file = project.path.parent / "told.txt"
    stories(
        project,
        agent=f"cat > '{file}'; {AGENT}; [ -e once ] && rm -f broken || touch once broken",
        gates='test = "test ! -e broken"',
    )
    project.ralph("story", "build", "1", code=4)
    assert prd(project) == TEXT
    project.ralph("story", "build", "1", code=4)
    assert "gate test fails" in file.read_text()
    assert prd(project) == ticked(TEXT, "US-001", "a", "b")


def test_a_session_that_ticks_without_work_gets_nothing_for_it(project: Project) -> None:
    stories(project, agent=TICK)
    events = build(project, "1", code=4)
    assert prd(project) == TEXT
    assert any("nothing in the tree has changed" in str(one.get("reason")) for one in events)


def test_a_session_that_ticks_a_story_it_did_not_build_is_not_believed(project: Project) -> None:
    stories(project, agent=f'{WORK}; sed -i "s/### \\[ \\]/### [x]/" {PRD}')
    events = build(project, "1", code=4)
    assert prd(project) == ticked(TEXT, "US-001", "a", "b")
    assert "US-002" in warnings(events)
    assert project.status("US-002") == "pending"


def test_partial_ticks_stay_and_the_story_stays_open(project: Project) -> None:
    stories(project, agent=f'{WORK}; sed -i "s/\\[ \\] a/[x] a/" {PRD}')
    project.ralph("story", "build", "1", code=4)
    assert prd(project) == ticked(TEXT, "a")
    assert project.status("US-001") == "pending"


def test_the_word_complete_is_believed_only_when_every_story_is_done(project: Project) -> None:
    stories(project, agent=f'{AGENT}; echo "<promise>COMPLETE</promise>"')
    project.ralph("story", "build")
    assert prd(project) == ALL


@pytest.mark.parametrize(
    "wreck",
    [f"rm {PRD}", f"echo sorry > {PRD}", f": > {PRD}", f"echo '### [x] US-001: Done' > {PRD}"],
)
def test_a_prd_that_a_session_broke_is_put_back_said_and_tried_again(
    project: Project, wreck: str
) -> None:
    file = project.path.parent / "told.txt"
    once = project.path.parent / "once"
    stories(
        project,
        agent=f"cat >> '{file}'; {WORK}; {SIGIL};"
        f" [ -e '{once}' ] || {{ touch '{once}'; {wreck}; }}",
    )
    events = build(project)
    assert "it is as it was before the session" in warnings(events)
    assert "only tick boxes in it" in file.read_text()
    assert prd(project) == ALL
    assert project.task("US-001")["attempt"] == 2


def test_a_story_that_failed_is_tried_again_by_the_next_build(project: Project) -> None:
    stories(project, agent=f"{WORK}; echo '<task-failed>'$RALPH_STORY_ID'</task-failed>'")
    project.ralph("story", "build", code=2)
    assert project.status("US-001") == "failed"
    assert prd(project) == TEXT
    assert not (project.path / "work.txt").exists()
    assert refs(project)
    project.agent(AGENT)
    project.ralph("story", "build")
    assert prd(project) == ALL


def test_a_failed_story_does_not_take_a_persons_edits_of_the_prd_with_it(project: Project) -> None:
    stage = Stage(project)
    stories(
        project,
        agent=stage.agent(f"{WORK}; echo '<task-failed>'$RALPH_STORY_ID'</task-failed>'"),
    )
    run = project.start("story", "build")
    stage.enter()
    edited = TEXT.replace("### [ ] US-002: Two", "### [ ] US-002: Two and a half")
    project.write(PRD, edited)
    stage.go()
    ended(run, 2)
    assert prd(project) == edited
    assert project.task("US-002")["title"] == "Two and a half"


def test_a_prd_edited_by_hand_in_mid_run_counts_from_the_next_iteration_on(
    project: Project,
) -> None:
    stage = Stage(project)
    stories(project, agent=stage.agent(AGENT))
    run = project.start("story", "build")
    stage.enter()
    nine = "### [ ] US-009: Nine\n- [ ] n\n\n"
    project.write(PRD, TEXT.replace("### [ ] US-001", f"{nine}### [ ] US-001"))
    stage.go()
    ended(run)
    assert (project.path / "work.txt").read_text() == "US-001\nUS-009\nUS-002\n"
    assert prd(project) == ALL.replace(
        "### [x] US-001", f"{ticked(nine, 'US-009', 'n')}### [x] US-001"
    )


def test_a_session_cannot_be_done_by_taking_stories_out(project: Project) -> None:
    stories(project, agent=f"{AGENT}; sed -i '/US-002: Two/,$d' {PRD}")
    events = build(project, "1", code=4)
    assert "asks for less of US-002" in warnings(events)
    assert prd(project) == ticked(TEXT, "US-001", "a", "b")
    assert project.status("US-002") == "pending"
    (kept,) = (project.path / ".ralph/runs").glob("prd-US-001-*.md")
    assert kept.read_text() == "# A product\n\n### [x] US-001: One\n- [ ] a\n- [ ] b\n\n"
    assert project.git("status", "--porcelain") == ""
    project.agent(AGENT)
    project.ralph("story", "build")
    assert prd(project) == ALL


def test_a_person_takes_stories_out_while_no_session_is_at_work(project: Project) -> None:
    stories(project, TEXT + "\n### [ ] US-003: Three\n")
    build(project, "1", code=4)
    project.write(PRD, ticked(TEXT, "US-001", "a", "b"))
    assert "US-003 is no longer" in warnings(build(project))
    assert prd(project) == ALL
    gone = project.try_ralph("task", "show", "US-003")
    assert gone.returncode == 66
    assert gone.stderr.startswith("ralph: there is no task US-003\n")


def test_boxes_that_a_person_moves_between_runs_count(project: Project) -> None:
    stories(project)
    project.ralph("story", "build")
    project.write(PRD, ALL.replace("[x] c", "[ ] c") + "\n### [x] US-003: By hand\n- [ ] d\n")
    file = project.path.parent / "told.txt"
    project.agent(f"cat > '{file}'; {AGENT}")
    project.ralph("story", "build")
    assert (project.path / "work.txt").read_text() == "US-001\nUS-002\nUS-002\n"
    assert "it does not meet: c" in file.read_text()
    assert prd(project) == ALL + "\n### [x] US-003: By hand\n- [ ] d\n"


def test_windows_line_ends_tabs_and_odd_letters_stay(project: Project) -> None:
    text = (
        "\ufeff# Produkt\r\n\r\n###\t[ ]\tUS-001: Größe 日本\t \r\n\r\n"
        "-\t[ ] eins\r\n\t- [ ] nested\r\n\r\n```\r\n### [ ] US-002: code\r\n```\r\n  end"
    )
    project.agent(f"{WORK}; {SIGIL}")
    (project.path / ".agents/tasks").mkdir(parents=True)
    (project.path / PRD).write_bytes(text.encode())
    project.write(PLAN, "plan\n")
    project.ralph("story", "build")
    expected = text.replace("[ ]\tUS-001", "[x]\tUS-001").replace("[ ] eins", "[x] eins")
    expected = expected.replace("[ ] nested", "[x] nested")
    assert (project.path / PRD).read_bytes() == expected.encode()


def test_what_a_session_leaves_uncommitted_is_said_and_committed(project: Project) -> None:
    stories(project, agent=f"{AGENT}; echo ok")
    events = build(project, "1", code=4)
    said = "US-001: the session left uncommitted changes: work.txt"
    assert said in warnings(events)
    assert said in (project.path / ".ralph/activity.log").read_text()
    assert project.git("status", "--porcelain") == ""
    committing = f"{AGENT}; git add -A; git commit -qm mine; echo ok"
    project.agent(committing)
    assert "uncommitted changes" not in warnings(build(project))


def test_no_commit_leaves_the_work_in_the_tree(project: Project) -> None:
    stories(project)
    before = project.commits()
    project.ralph("story", "build", "--no-commit")
    assert project.commits() == before
    assert prd(project) == ALL


def test_every_iteration_leaves_a_log_a_summary_and_a_line(project: Project) -> None:
    stories(project, gates='test = "test -e README.md"')
    project.ralph("story", "build", "1", code=4)
    (log,) = (project.path / ".ralph/runs").glob("run-*-iter-1.log")
    summary = log.with_suffix(".md").read_text()
    assert "- Story: US-001: One\n" in summary
    assert "- Mode: build\n" in summary
    assert "- work.txt\n" in summary
    assert project.git("rev-parse", "HEAD") in summary
    tag = log.name.removeprefix("run-").partition("-iter-")[0]
    activity = (project.path / ".ralph/activity.log").read_text()
    assert f"| run={tag} | iter=1 | mode=build | story=US-001 | duration=" in activity
    assert "| status=success\n" in activity
    progress = (project.path / ".ralph/progress.md").read_text()
    assert "- US-001: One\n" in progress
    assert "  - Command: test -e README.md -> PASS\n" in progress
    assert (project.path / ".ralph/errors.log").read_text().startswith("# Error Log")
    assert "Read Before Writing" in (project.path / ".ralph/guardrails.md").read_text()


def test_logs_are_added_to_and_never_written_anew(project: Project) -> None:
    stories(project, agent=f"{WORK}; exit 3")
    project.write(".ralph/errors.log", "mine, without an end")
    project.write(".ralph/activity.log", "## Events\nmine\n")
    project.write(".ralph/progress.md", "mine\n")
    project.ralph("story", "build", "1", code=4)
    errors = (project.path / ".ralph/errors.log").read_text()
    assert errors.startswith("mine, without an end\n[")
    assert "story=US-001: error: " in errors
    assert "\nmine\n[" in (project.path / ".ralph/activity.log").read_text()
    assert (project.path / ".ralph/progress.md").read_text() == "mine\n"


def test_a_session_reads_its_story_and_its_part_of_the_plan(project: Project) -> None:
    file = project.path.parent / "told.txt"
    stories(project, agent=f"cat > '{file}'; {AGENT}")
    project.ralph("story", "build", "1", code=4)
    text = file.read_text()
    assert "### [ ] US-001: One\n- [ ] a\n- [ ] b\n" in text
    assert "- [ ] the first step" in text
    assert "US-002" not in text


def test_a_template_of_ones_own_takes_the_place_of_ralphs(project: Project) -> None:
    file = project.path.parent / "told.txt"
    stories(project, agent=f"cat > '{file}'; {AGENT}")
    project.write(
        ".agents/ralph/PROMPT_build.md",
        "Do {{STORY_ID}} ({{ STORY_TITLE }}), {{NO_COMMIT}}, iteration {{ITERATION}}:\n"
        "{{STORY_BLOCK}}",
    )
    project.ralph("story", "build", "1", code=4)
    assert "Do US-001 (One), false, iteration 1:\n### [ ] US-001: One\n" in file.read_text()
    project.write(".agents/ralph/PROMPT_build.md", "first\n{{STORY}}\n")
    refused(project.try_ralph("story", "build"), 78, "PROMPT_build.md, line 2", "{{STORY}}")
    verify = project.write(".agents/ralph/PROMPT_verify.md", "{{STORY_ID}}\n<verify-pass/>\n")
    refused(
        project.try_ralph("story", "build"), 78, "PROMPT_verify.md holds an answer", "how to finish"
    )
    verify.write_text("{{NOBODY}}")
    refused(project.try_ralph("story", "build"), 78, "PROMPT_verify.md, line 1", "{{NOBODY}}")


def test_a_retry_has_a_template_of_its_own_where_a_person_wrote_one(project: Project) -> None:
    file = project.path.parent / "told.txt"
    stories(
        project,
        agent=f"cat > '{file}'; {AGENT}; [ -e once ] && rm -f broken || touch once broken",
        gates='test = "test ! -e broken"',
    )
    template = "Again ({{RETRY_ATTEMPT}} of {{RETRY_MAX}}), since {{FAILURE_CONTEXT}}: {{STORY_ID}}"
    project.write(".agents/ralph/PROMPT_retry.md", template)
    project.ralph("story", "build", "1", code=4)
    assert "Again" not in file.read_text()
    project.ralph("story", "build", "1", code=4)
    assert "Again (1 of 3), since " in file.read_text()
    assert "gate test fails" in file.read_text()
    project.write(".agents/ralph/PROMPT_retry.md", "{{NOBODY}}")
    assert "NOBODY" not in project.ralph("story", "build", "1"), (
        "the next story is tried for the first time"
    )


def test_config_sh_says_where_things_are(project: Project) -> None:
    file = project.path.parent / "told.txt"
    stories(project, agent=f"cat > '{file}'; {WORK}; {SIGIL}")
    project.write("docs/stories.md", TEXT)
    project.write("docs/plan.md", "### US-001: One\n- [ ] another step\n")
    project.write("docs/prompt.md", "Do {{STORY_ID}} by {{PLAN_PATH}}")
    project.write(
        ".agents/ralph/config.sh",
        'PRD_PATH="docs/stories.md"\nexport PLAN_PATH=docs/plan.md\nPROMPT_BUILD="docs/prompt.md"\n'
        "RUNS_DIR=.ralph/logs\n"
        "PROGRESS_PATH='docs/progress.md'\nMAX_ITERATIONS=1 # for now\n",
    )
    project.ralph("story", "build", code=4)
    assert (project.path / "docs/stories.md").read_text() == ticked(TEXT, "US-001", "a", "b")
    assert "Do US-001 by docs/plan.md" in file.read_text()
    assert "another step" in file.read_text()
    assert "- US-001: One\n" in (project.path / "docs/progress.md").read_text()
    assert prd(project) == TEXT
    assert list((project.path / ".ralph/logs").glob("run-*-iter-1.log"))
    assert not list((project.path / ".ralph/runs").glob("run-*"))
    assert ".ralph/logs" not in project.git("status", "--porcelain", "-uall")
    (project.path / "docs/prompt.md").unlink()
    refused(project.try_ralph("story", "build"), 66, "docs/prompt.md")


def test_another_prd_is_another_feature(project: Project) -> None:
    stories(project, agent=f"{WORK}; {SIGIL}")
    project.write("docs/more.md", "### [ ] US-001: More\n- [ ] m\n")
    project.ralph("story", "build", "--prd", "docs/more.md")
    assert (project.path / "docs/more.md").read_text() == "### [x] US-001: More\n- [x] m\n"
    assert prd(project) == TEXT
    project.ralph("story", "build")
    assert prd(project) == ALL
    refused(project.try_ralph("story", "build", "--prd", "../x.md"), 64, "outside of the project")


def test_a_dry_run_shows_what_is_open_and_changes_nothing(project: Project) -> None:
    stories(project)
    out = project.ralph("story", "build", "--dry-run")
    assert "2 open of 2" in out
    assert json.loads(project.ralph("task", "list", "--json")) == []


def test_killed_in_mid_session_the_ticks_are_nobodys(project: Project, tmp_path: Path) -> None:
    stage = Stage(project)
    ran = tmp_path / "ran"
    stories(
        project,
        agent=f"echo x >> '{ran}'; {AGENT}; [ $(wc -l < '{ran}') -gt 1 ] || {{"
        f" {stage.agent('true')}; }}",
    )
    run = project.start("story", "build")
    stage.enter()
    assert "[x] US-001" in prd(project)
    run.kill()
    run.wait()
    stage.go()
    project.ralph("story", "build")
    assert prd(project) == ALL
    assert len(lines(ran)) == 3


def test_a_pause_is_a_moment_for_a_persons_ticks(project: Project) -> None:
    stage = Stage(project)
    stories(project, agent=stage.agent(AGENT))
    run = project.start("story", "build")
    stage.enter()
    project.ralph("pause")
    stage.go()
    wait_for(lambda: project.status("US-001") == "done", "the first story is done")
    wait_for(lambda: "[x] US-001" in prd(project), "and ticked")
    project.write(PRD, ticked(prd(project), "US-002"))
    project.ralph("resume")
    ended(run)
    assert (project.path / "work.txt").read_text() == "US-001\n"
    assert project.status("US-002") == "done"


KEY = ("ghp_", "k3Jd82HsPq7LmNc5VbXz9TgYw4RfEa6UoQ2i")
"""In two parts, so that what is committed does not hold it."""


def test_a_secret_in_a_document_stays_uncommitted_and_is_named_once(project: Project) -> None:
    log = ".ralph/progress.md"
    stories(project, agent=f"{AGENT}; printf %s {' '.join(KEY)} >> {log}")
    events = build(project)
    assert warnings(events).count(f"{log} is not committed: ") == 1
    assert "".join(KEY) not in project.git("log", "-p", "--all")
    assert "".join(KEY) in (project.path / log).read_text()
    assert prd(project) == ALL
    assert project.git("status", "--porcelain") == f"?? {log}"


def test_a_persons_uncommitted_edits_of_a_document_are_not_committed_unsaid(
    project: Project,
) -> None:
    stories(project)
    assert "not committed" not in warnings(build(project, "1", code=4))
    guardrails = project.path / ".ralph/guardrails.md"
    guardrails.write_text(guardrails.read_text() + "\nmine\n")
    said = warnings(build(project))
    assert ".ralph/guardrails.md has changes that are not committed: Ralph commits them" in said
    assert "not committed" not in warnings(build(project))


@pytest.mark.parametrize("retries", ["1", "0"], ids=["done in the end", "failed"])
def test_what_a_story_was_refused_for_becomes_a_guardrail_once(
    project: Project, retries: str
) -> None:
    once = project.path.parent / "once"
    stories(
        project,
        agent=f"{WORK}; [ -e '{once}' ] && echo good > good.txt; touch '{once}'; {SIGIL}",
        gates='exists = "test ! -e work.txt || test -e good.txt || { echo no good.txt; exit 1; }"',
        execution=f"max_retries = {retries}",
    )
    build(project, "2" if retries == "1" else "1", code=4)
    text = (project.path / ".ralph/guardrails.md").read_text()
    how = "was done in the end; it had been refused" if retries == "1" else "failed"
    assert text.count(f"> One (US-001) {how}: gate exists fails (exit 1)") == 1
    if retries == "1":
        assert project.git("show", "HEAD:.ralph/guardrails.md").strip() == text.strip()
