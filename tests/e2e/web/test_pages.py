"""The pages in a real browser: what people see, and how it follows what happens."""

import json
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Project, wait_for
from tests.e2e.web.conftest import EVIL_BRANCH, EVIL_FILE, Site, enter, press, quiet_page, served

PATHS = (
    "/",
    "/graph",
    "/graph?within=",
    "/tasks",
    "/tasks?status=failed",
    "/tasks?status=blocked",
    "/runs",
    "/add",
    "/task/{task}",
    "/task/{failed}",
    "/task/{odd}",
    "/task/{task}/diff",
    "/task/{task}/diff?attempt=1&attempt=3",
    "/task/{task}/1/0",
    "/task/{task}/3/2?find=img",
    "/run/{run}",
    "/task/no-such-task",
)


def addresses(site: Site) -> list[str]:
    tasks = json.loads(site.project.ralph("task", "list", "--all", "--json"))
    names = {
        "task": next(one["id"] for one in tasks if one["status"] == "done"),
        "failed": next(one["id"] for one in tasks if one["status"] == "failed"),
        "odd": next(one["id"] for one in tasks if one["title"].startswith("<script>")),
    }
    found = re.search(r"/run/([\d-]+)", site.get("/runs"))
    assert found
    return [site.home + path.format(run=found[1], **names) for path in PATHS]


def test_every_page_is_for_everybody(page: Page, site: Site) -> None:
    """Landmarks, labels, contrast: axe finds nothing serious, light and dark."""
    axe = Axe()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for address in addresses(site)[:-1]:
            page.goto(address)
            found = [
                (address, one["id"], [node["html"][:200] for node in one["nodes"]])
                for one in axe.run(page).response["violations"]
                if one["impact"] in ("serious", "critical")
            ]
            assert found == []
            for landmark in ("banner", "navigation", "main"):
                expect(page.get_by_role(landmark).first).to_be_visible()
            expect(page.get_by_role("heading", level=1)).to_have_count(1)


def test_what_others_wrote_is_text_on_every_page(page: Page, site: Site) -> None:
    page.on("dialog", lambda _: pytest.fail("a dialog was opened"))
    text = ""
    for address in addresses(site)[:-1]:
        page.goto(address)
        assert "owned" not in page.title().split("·")[0].split()
        assert page.locator("img, script:not([src]), [onerror], a[href^='javascript']").count() == 0
        html = page.content()
        assert "\x1b" not in html
        assert "\u202e" not in html
        text += page.inner_text("main")
    for seen in ("<script>document.title='owned'</script>", EVIL_FILE[:27], "␛[31mred"):
        assert seen in text
    assert EVIL_BRANCH in site.project.git("branch")


def test_no_page_does_anything_where_it_is_read_only(site: Site) -> None:
    with served(site.project, "--read-only") as read_only:
        for address in addresses(site)[:-1]:
            text = read_only.get(address.removeprefix(site.home))
            assert 'method="post"' not in text
            assert read_only.form_token() == ""
        assert "ralph task retry" in read_only.get("/"), "the command instead"


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_no_page_scrolls_sideways(browser: Browser, site: Site, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844})
    page = context.new_page()
    enter(page, site)
    for address in addresses(site):
        page.goto(address)
        over = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert over <= 0, (address, over)
    context.close()


def test_every_page_can_be_read_without_script(browser: Browser, site: Site) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    enter(page, site)
    for address in addresses(site):
        page.goto(address)
        expect(page.locator("main")).to_be_visible()
    context.close()


def test_what_needs_a_person_comes_first_with_its_buttons(page: Page, site: Site) -> None:
    first = page.locator("main section").first
    expect(first).to_contain_text("Needs you")
    expect(first).to_contain_text("needs a person")
    expect(first.get_by_role("button", name="unblock")).to_be_visible()
    expect(first.get_by_role("button", name="retry")).to_be_visible()


def test_the_page_of_a_task_shows_what_proves_it(page: Page, site: Site) -> None:
    page.goto(f"{site.home}/tasks?status=done")
    press(page.get_by_role("link", name="A first task"))
    attempts = page.get_by_role("list", name="Evidence")
    expect(attempts).to_have_count(3)
    expect(attempts.nth(0)).to_contain_text("merge: passed commit")
    expect(attempts.nth(1)).to_contain_text("review: failed")
    expect(attempts.nth(2)).to_contain_text("test failed (exit 1)")
    timeline = page.get_by_role("region", name="Timeline")
    expect(timeline.get_by_role("listitem").last).to_contain_text("added")
    expect(timeline.get_by_role("listitem").first).to_contain_text("done")
    page.get_by_role("link", name="work log").first.click()
    expect(page.locator("main")).to_contain_text("I say: <b>bold</b>")


def test_everything_is_reached_with_the_keyboard(page: Page, site: Site) -> None:
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/task/|/graph|/tasks"))


def a_busy_session(project: Project) -> Path:
    """An agent that repeats what is in a file, line by line, until it ends with `end`."""
    said = project.path.parent / "said"
    said.write_text("the first words\n")
    project.agent(
        f"""tail -n +1 -f '{said}' | while read -r line; do
          if [ "$line" = end ]; then break; fi
          echo "$line"
        done
        echo x > work.txt; echo "<task-done>$RALPH_TASK_ID</task-done>\"""",
        sandbox='mode = "off"',
    )
    return said


def say(file: Path, line: str) -> None:
    with file.open("a") as out:
        out.write(f"{line}\n")


def test_a_session_is_followed_while_it_works(browser: Browser, project: Project) -> None:
    said = a_busy_session(project)
    project.ralph("task", "add", "Write it")
    run = project.start("run", "--no-verify")
    with served(project) as site, quiet_page(browser, site) as page:
        at_work = page.get_by_role("region", name="At work")
        expect(at_work).to_contain_text("the first words")
        say(said, "and then more")
        expect(at_work).to_contain_text("and then more")
        press(at_work.get_by_role("link", name="transcript"))
        expect(page.locator("main")).to_contain_text("and then more")
        say(said, "and the last words")
        expect(page.locator("main")).to_contain_text("and the last words")
        page.get_by_label("Find in this session").fill("THEN")
        press(page.get_by_role("button", name="find"))
        expect(page.locator("main")).to_contain_text("and then more")
        expect(page.locator("main")).not_to_contain_text("the last words")
        press(page.get_by_role("link", name="show it in its place"))
        expect(page.locator("main")).to_contain_text("the last words")
        say(said, "end")
        assert run.wait(60) == 0
        press(page.get_by_role("link", name="Home"))
        expect(page.locator("main")).to_contain_text("complete")


def test_what_is_open_focused_or_being_written_outlives_what_happens(
    browser: Browser, project: Project
) -> None:
    task = project.ralph("task", "add", "Write it")
    with served(project) as site, quiet_page(browser, site) as page:
        page.goto(f"{site.home}/task/{task}")
        page.get_by_text("Edit", exact=True).click()
        page.get_by_role("link", name="diff").focus()
        project.ralph("task", "log", task, "-m", "the first note")
        expect(page.locator("main")).to_contain_text("the first note")
        expect(page.get_by_label("Title")).to_be_visible()
        expect(page.get_by_role("link", name="diff")).to_be_focused()
        page.get_by_label("Title").fill("A better title")
        project.ralph("task", "log", task, "-m", "the second note")
        expect(page.locator("#connection")).to_contain_text("waits")
        expect(page.get_by_label("Title")).to_have_value("A better title")
        press(page.get_by_role("button", name="save"))
        expect(page.get_by_role("heading", level=1)).to_contain_text("A better title")
        expect(page.locator("main")).to_contain_text("the second note")


def test_what_is_pressed_or_selected_outlives_what_happens(
    browser: Browser, project: Project
) -> None:
    task = project.ralph("task", "add", "Write it", "-d", "a long description")
    with served(project) as site, quiet_page(browser, site) as page:
        page.goto(f"{site.home}/task/{task}")
        page.locator("pre", has_text="a long description").select_text()
        project.ralph("task", "log", task, "-m", "the first note")
        expect(page.locator("#connection")).to_contain_text("text is selected")
        assert page.evaluate("getSelection().toString()").strip() == "a long description"
        page.evaluate("getSelection().empty()")
        expect(page.locator("main")).to_contain_text("the first note")
        expect(page.locator("#connection")).to_have_text("live")
        page.get_by_role("button", name="done by hand").hover()
        page.mouse.down()
        project.ralph("task", "log", task, "-m", "the second note")
        expect(page.locator("#connection")).to_contain_text("waits")
        with page.expect_navigation():
            page.mouse.up()
        assert project.status(task) == "done"


def test_a_tab_that_comes_back_has_missed_nothing(browser: Browser, project: Project) -> None:
    def show(*, hidden: bool) -> None:
        page.evaluate(
            """hidden => {
                Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
                document.dispatchEvent(new Event("visibilitychange"));
            }""",
            hidden,
        )

    with served(project) as site, quiet_page(browser, site) as page:
        expect(page.locator("#connection")).to_have_text("live")
        show(hidden=True)
        project.ralph("task", "add", "came meanwhile")
        project.ralph("task", "block", project.ralph("task", "add", "stuck"), "-r", "no key")
        expect(page.locator("main")).not_to_contain_text("came meanwhile")
        show(hidden=False)
        expect(page.locator("main")).to_contain_text("came meanwhile")
        expect(page.locator("main")).to_contain_text("no key")


def test_the_page_follows_and_finds_its_way_back(browser: Browser, project: Project) -> None:
    token = project.path.parent / "token"
    token.write_text("a" * 40)
    token.chmod(0o600)
    context = browser.new_context()
    page = context.new_page()
    with served(project, "--token-file", str(token)) as site:
        enter(page, site)
        expect(page.locator("#connection")).to_have_text("live")
        project.ralph("task", "add", "came meanwhile")
        expect(page.locator("main")).to_contain_text("came meanwhile")
        port = str(site.port)
    expect(page.locator("#connection")).to_contain_text("trying again")
    project.ralph("task", "add", "came while it was away", "--priority=-1")
    with served(project, "--token-file", str(token), "--port", port) as again:
        # The cookie is of the start before: the link is opened again.
        expect(page.locator("#connection")).to_have_text("ended: open the newest link")
        enter(page, again)
        expect(page.locator("main")).to_contain_text("came while it was away")
    context.close()


def test_a_project_without_tasks_and_runs_has_pages_too(browser: Browser, project: Project) -> None:
    with served(project) as site, quiet_page(browser, site) as page:
        expect(page.locator("main")).to_contain_text("Nothing needs you")
        for name, seen in (("Graph", "no task yet"), ("Runs", "no run yet"), ("Tasks", "No task")):
            press(page.get_by_role("link", name=name, exact=True))
            expect(page.locator("main")).to_contain_text(seen)


def test_a_team_is_shown_worker_by_worker(browser: Browser, project: Project) -> None:
    said = a_busy_session(project)
    for name in ("one", "two"):
        project.ralph("task", "add", name)
    run = project.start("run", "--no-verify", "--workers", "2")
    with served(project) as site, quiet_page(browser, site) as page:
        at_work = page.get_by_role("region", name="At work")
        for worker in ("teammate-1", "teammate-2"):
            expect(at_work).to_contain_text(f"{worker} · works, attempt 1", timeout=60_000)
        expect(at_work.locator("pre")).to_have_count(2)
        say(said, "end")
        assert run.wait(120) == 0
        press(page.get_by_role("link", name="Runs", exact=True))
        press(page.get_by_role("link", name=re.compile(r"^\d{8}-")))
        expect(page.locator("svg.gantt rect.bar")).to_have_count(2)
        for worker in ("teammate-1", "teammate-2"):
            expect(page.locator("svg.gantt")).to_contain_text(worker)


def test_a_large_graph_opens_part_by_part(browser: Browser, project: Project) -> None:
    lines = [{"id": f"t-aa000{part}", "title": f"Part {part}"} for part in range(3)]
    lines += [
        {"title": f"task {number}", "parent_id": f"t-aa000{number % 3}"} for number in range(240)
    ]
    path = project.path.parent / "tasks.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    project.ralph("task", "import", str(path))
    with served(project) as site, quiet_page(browser, site) as page:
        page.goto(f"{site.home}/graph")
        expect(page.locator("svg.graph a")).to_have_count(3)
        press(page.get_by_role("link", name=re.compile("Part 1")))
        expect(page.locator("svg.graph a")).to_have_count(81)
        page.get_by_role("link", name=re.compile("task 4 ")).first.click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("task 4")


def test_the_page_works_while_a_run_does_and_its_end_leaves_the_run_alone(
    browser: Browser, project: Project
) -> None:
    said = a_busy_session(project)
    task = project.ralph("task", "add", "Write it")
    run = project.start("run", "--no-verify")
    with served(project) as site, quiet_page(browser, site) as page:
        expect(page.get_by_role("region", name="At work")).to_contain_text(task)
        press(page.get_by_role("button", name="pause"))
        expect(page.locator(".notice")).to_contain_text("will pause")
        expect(page.get_by_role("region", name="Progress")).to_contain_text("pausing")
    say(said, "end")
    wait_for(lambda: "paused" in project.ralph("status", code=None), "the pause")
    with served(project) as site, quiet_page(browser, site) as page:
        needs = page.locator("main section").first
        expect(needs).to_contain_text("pause")
        press(needs.get_by_role("button", name="resume"))
        assert run.wait(60) == 0
        expect(page.locator("main")).to_contain_text("complete")
