"""What is pressed on the pages: the same as the commands, with the same refusals."""

import json
import os

import pytest
from playwright.sync_api import Browser, Page, expect

from ralph.adapters.sqlite.database import open_sqlite_store
from ralph.core.events import Warned
from ralph.core.review_thread import Dismissal
from ralph.core.run import RunOutcome
from ralph.core.session_ending import EndingKind
from ralph.core.transitions import Released
from tests.contracts.store_test_helpers import RUN, add, begin
from tests.contracts.view_contract import attempt
from tests.doubles.clock import FrozenClock
from tests.e2e.conftest import DONE, Project, wait_for
from tests.e2e.web.conftest import Site, enter, press, quiet_page, served


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_contain_text(text)


def test_a_task_is_retried_edited_skipped_and_told(browser: Browser, project: Project) -> None:
    failed = project.ralph("task", "add", "has failed")
    project.ralph("task", "fail", failed, "-r", "no luck")
    with served(project) as site, quiet_page(browser, site) as page:
        press(page.get_by_role("button", name="retry"))
        expect(page.locator(".notice")).to_contain_text("pending")
        assert project.status(failed) == "pending"
        page.goto(f"{site.home}/task/{failed}")
        page.get_by_text("Edit", exact=True).click()
        page.get_by_label("Title").fill("Edited")
        page.get_by_label("Description").fill("with\ntwo lines")
        press(page.get_by_role("button", name="save"))
        heading(page, "Edited")
        assert project.task(failed)["description"] == "with\ntwo lines"
        page.get_by_text("skip…").click()
        page.get_by_label("Why it is skipped").fill("not now")
        press(page.get_by_role("button", name="skip"))
        heading(page, "blocked")
        assert project.task(failed)["reason"] == "not now"
        page.get_by_text("Tell its next session").click()
        page.get_by_label("Guidance").fill("look at --help first")
        press(page.get_by_role("button", name="tell it"))
        expect(page.locator("main")).to_contain_text("look at --help first")
        press(page.get_by_role("button", name="unblock"))
        heading(page, "pending")
        press(page.get_by_role("button", name="done by hand"))
        heading(page, "done")
        assert project.status(failed) == "done"


def test_tasks_are_added_and_files_imported(browser: Browser, project: Project) -> None:
    with served(project) as site, quiet_page(browser, site) as page:
        press(page.get_by_role("link", name="Add", exact=True))
        page.get_by_label("Title").fill("From the page")
        page.get_by_label("Priority").fill("-3")
        press(page.get_by_role("button", name="add it"))
        expect(page.locator(".notice")).to_be_visible()
        (added,) = json.loads(project.ralph("task", "list", "--json"))
        assert (added["title"], added["priority"]) == ("From the page", -3)
        page.get_by_label("Title").fill("After it")
        page.get_by_label("Waits for").fill(added["id"])
        press(page.get_by_role("button", name="add it"))
        expect(page.locator(".notice")).to_be_visible()
        prd = project.path.parent / "prd.md"
        prd.write_text("# A shop\n\n### [ ] US-001: Sell\n\n### [ ] US-002: Pay\n")
        page.get_by_label("File").set_input_files(prd)
        expect(page.get_by_label("Text")).to_have_value(prd.read_text())
        press(page.get_by_role("button", name="import it"))
        expect(page.locator(".notice")).to_contain_text("added 2")
        page.get_by_label("Text").fill("no tasks")
        press(page.get_by_role("button", name="import it"))
        expect(page.locator(".notice.refused")).to_contain_text("JSON")
        assert project.task("US-002")["title"] == "Pay"


def test_a_run_is_started_stopped_and_its_work_undone(browser: Browser, project: Project) -> None:
    project.agent(DONE)
    task = project.ralph("task", "add", "Write it")
    with served(project) as site, quiet_page(browser, site) as page:
        press(page.get_by_role("button", name="run", exact=True))
        wait_for(lambda: project.status(task) == "done", "the run")
        page.goto(f"{site.home}/task/{task}/diff")
        expect(page.locator("tr.add")).to_contain_text("+x")
        page.goto(f"{site.home}/task/{task}")
        page.get_by_text("undo…").click()
        page.get_by_label("Why; the next session reads it").fill("it was wrong")
        press(page.get_by_role("button", name="undo"))
        heading(page, "pending")
        assert not (project.path / "work.txt").exists()
        project.agent("sleep 1000")
        page.goto(f"{site.home}/")
        press(page.get_by_role("button", name="run", exact=True))
        press(page.get_by_role("button", name="stop now"))
        wait_for(lambda: "at work" not in project.ralph("status"), "the end")
        expect(page.get_by_role("button", name="run", exact=True)).to_be_visible()


def test_a_run_that_refuses_says_why(project: Project) -> None:
    project.agent(DONE, gates='test = "true"')
    project.ralph("task", "add", "Write it")
    with served(project) as site:
        assert "which always succeeds" in site.notice("run")
        assert "no run is at work" in site.notice("stop")


def test_work_that_was_kept_is_brought_back(browser: Browser, project: Project) -> None:
    project.agent(DONE, gates='test = "test ! -e work.txt"', execution="max_retries = 0")
    project.ralph("task", "add", "Write it")
    project.ralph("run", code=None)
    assert not (project.path / "work.txt").exists()
    with served(project) as site, quiet_page(browser, site) as page:
        press(page.get_by_role("button", name="bring its work back"))
        expect(page.locator(".notice")).to_contain_text("in the checkout")
        assert (project.path / "work.txt").exists()


def test_an_open_breaker_is_reset(browser: Browser, project: Project) -> None:
    project.agent("exit 1", breaker='failures = 1\ncooldown = ""')
    project.ralph("task", "add", "Write it")
    project.ralph("run", code=None)
    with served(project) as site, quiet_page(browser, site) as page:
        press(page.get_by_role("button", name="reset the breaker"))
        expect(page.locator(".notice")).to_contain_text("closed")
        expect(page.get_by_role("button", name="reset the breaker")).to_have_count(0)


def test_whatever_needs_a_person_has_its_answer_beside_it(
    browser: Browser, project: Project
) -> None:
    """Logins expire in front of real agents: what the store keeps of that is written here."""
    store = open_sqlite_store(str(project.path / ".ralph/progress.db"))
    begin(store)
    a = add(store, "a")
    attempt(store, FrozenClock(), Released("logged out"), ending=EndingKind.AUTH_EXPIRED)
    store.checks.dismiss_finding(a, Dismissal(finding="F1", reason="it is right", by="attempt 1"))
    store.runs.end(RUN, RunOutcome.INTERRUPTED, "", Warned(message="end"))
    store.close()
    with served(project) as site, quiet_page(browser, site) as page:
        needs = page.get_by_role("region", name="Needs you").get_by_role("listitem")
        login, finding = needs.filter(has_text="login"), needs.filter(has_text="finding")
        expect(login.get_by_role("button", name="run")).to_be_visible()
        expect(login).to_contain_text("ralph agents list")
        expect(finding).to_contain_text("it is right")
        expect(finding.get_by_role("link", name="look")).to_be_visible()
        expect(finding.get_by_role("button", name="agree")).to_be_visible()


GOAL = ".ralph/specs/shop"


def test_a_plan_is_approved(browser: Browser, project: Project) -> None:
    project.agent(DONE)
    project.write(f"{GOAL}/goal.md", "a shop\n")
    for name in ("referents/catalog", "design/detailed-design", "implementation/plan"):
        project.write(f"{GOAL}/{name}.md", "all of it\n")
    project.write(
        f"{GOAL}/implementation/step01-sell.code-task.md",
        "# Sell\n\n## Description\nSell things.\n\n## Acceptance Criteria\n- it sells\n",
    )
    assert "waits for your approval" in project.ralph("status")
    with served(project) as site, quiet_page(browser, site) as page:
        needs = page.locator("main section").first
        expect(needs).to_contain_text("waits for your approval")
        press(needs.get_by_role("button", name="approve"))
        expect(page.locator("main")).to_contain_text("Nothing needs you")
        assert (project.path / GOAL / "implementation/execution-runbook.md").exists()
        assert site.post("approve", plan="shop")[0] == 400, "it waits no longer"


def commented(project: Project) -> str:
    project.agent('date +%N >> work.txt; echo "<task-done>$RALPH_TASK_ID</task-done>"')
    task = project.ralph("task", "add", "Write it")
    project.ralph("run")
    return task


def test_lines_are_commented_and_what_answers_them_is_shown(
    browser: Browser, project: Project
) -> None:
    project.agent(
        f"printf 'one\\ntwo\\nthree\\n' > work.txt; {DONE.partition(';')[2]}",
        gates='test = "false || grep -q TWO work.txt || test ! -e work.txt"',
    )
    task = project.ralph("task", "add", "Write it")
    project.ralph("run", "--once", code=None)
    with served(project) as site, quiet_page(browser, site) as page:
        page.goto(f"{site.home}/task/{task}/diff?attempt=1")
        page.get_by_text("+two").click()
        page.get_by_text("+three").click(modifiers=["Shift"])
        page.get_by_label("Comment", exact=True).fill("louder")
        page.get_by_role("button", name="write another one first").click()
        page.get_by_text("+one").click()
        page.get_by_label("Comment", exact=True).fill("why <b>one</b>?")
        press(page.get_by_role("button", name="send"))
        expect(page.locator(".notice")).to_contain_text("F1 on work.txt:2-3\nF2 on work.txt:1")
        expect(page.locator("tr", has_text="+three").locator("+ tr")).to_contain_text("louder")
        assert project.status(task) == "pending"
        project.agent(
            "printf 'one\\nTWO\\nTHREE\\n' > work.txt;"
            """ echo '<dismiss id="F2">it is the first</dismiss>';"""
            f" {DONE.partition(';')[2]}",
            gates='test = "test -e work.txt"',
        )
        project.ralph("run")
        page.goto(f"{site.home}/task/{task}")
        comments = page.get_by_role("region", name="Comments on its lines")
        expect(comments).to_contain_text("F1 addressed work.txt:2-3")
        expect(comments.locator("pre")).to_have_text("TWO\nTHREE")
        expect(comments).to_contain_text("F2 disputed work.txt:1")
        expect(comments).to_contain_text("it is the first")
        press(page.get_by_role("link", name="compare"))
        for number, seen in ((1, "+two"), (2, "+TWO")):
            expect(page.get_by_role("region", name=f"attempt {number}")).to_contain_text(seen)
        press(page.get_by_role("link", name="Home", exact=True))
        expect(page.locator("main section").first).to_contain_text("it is the first")
        press(page.get_by_role("button", name="agree"))
        expect(page.locator("main")).to_contain_text("Nothing needs you")


@pytest.mark.parametrize("has_script", [True, False])
def test_a_file_with_an_odd_name_is_commented(
    browser: Browser, project: Project, *, has_script: bool
) -> None:
    """The page shows a mark for what would move its text; the command gets the name."""
    name = "100%25 \u202e'\".txt"
    project.write("../name", name)
    project.agent('echo x > "$(cat ../name)"; echo "<task-done>$RALPH_TASK_ID</task-done>"')
    task = project.ralph("task", "add", "Write it")
    project.ralph("run")
    with served(project) as site:
        context = browser.new_context(java_script_enabled=has_script)
        page = context.new_page()
        enter(page, site)
        page.goto(f"{site.home}/task/{task}/diff?attempt=1")
        if has_script:
            page.get_by_text("+x").click()
        page.get_by_label("Comment", exact=True).fill("another name")
        press(page.get_by_role("button", name="send"))
        expect(page.locator(".notice")).to_contain_text("F1 on 100%25")
        context.close()
    (comment,) = json.loads(project.ralph("review", "list", task, "--json"))
    assert comment["lines"]["path"] == name


def test_without_script_a_comment_names_its_lines(browser: Browser, project: Project) -> None:
    task = commented(project)
    with served(project) as site:
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        enter(page, site)
        page.goto(f"{site.home}/task/{task}/diff?attempt=1")
        page.get_by_label("Comment", exact=True).fill("say which day")
        press(page.get_by_role("button", name="send"))
        expect(page.locator(".notice")).to_contain_text("F1 on work.txt:1")
        context.close()
    (comment,) = json.loads(project.ralph("review", "list", task, "--json"))
    assert comment["text"] == "say which day"


@pytest.mark.parametrize(
    ("fields", "code"),
    [({"first": "x"}, 400), ({"comments": "[{}]"}, 303), ({"comments": "null"}, 303)],
)
def test_a_comment_that_no_form_sends_is_refused(
    site: Site, fields: dict[str, str], code: int
) -> None:
    before = site.project.ralph("task", "list", "--all", "--json")
    task = next(one["id"] for one in json.loads(before) if one["status"] == "done")
    whole = {"path": "work.txt", "side": "new", "first": "1", "last": "1", "text": "x"}
    assert site.post("comment", task=task, attempt="1", **(whole | fields))[0] == code
    assert site.project.ralph("task", "list", "--all", "--json") == before


def test_what_a_person_set_for_git_does_not_change_the_diff(project: Project) -> None:
    task = commented(project)
    for key, value in (("noprefix", "true"), ("mnemonicPrefix", "true"), ("external", "false")):
        project.git("config", f"diff.{key}", value)
    with served(project) as site:
        text = site.get(f"/task/{task}/diff?attempt=1")
        assert 'data-path="work.txt" data-side="new" data-line="1"' in text
    assert "GIT_CONFIG_COUNT" not in os.environ
