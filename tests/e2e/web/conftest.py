"""A project with a history, its page, and a browser that looks at it."""

import http.client
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from ralph.ui.web.access import ENTRANCE
from tests.e2e.conftest import Project

expect.set_options(timeout=30_000)
EVIL = "<script>document.title='owned'</script><img src=x onerror=alert(1)>"
"""In every field that an agent or an issue can write."""
ODD = f"{EVIL} \x1b[31mred\x1b[0m \u202eright to left [a link](javascript:alert(1))"
EVIL_FILE = "<img src=x onerror=alert(1)> \"quoted\" 'x' \u202e.txt"
EVIL_BRANCH = "<img/src=x>'x'"
CHROMIUM = (
    *("--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


class Site:
    """A project, `ralph serve` in it, and a client that has used its link."""

    def __init__(self, project: Project, *options: str, opens: bool = False) -> None:
        self.project = project
        self.process = project.start("serve", *([] if opens else ["--no-open"]), *options)
        assert self.process.stdout is not None
        self.link = self.process.stdout.readline().strip()
        address = urlsplit(self.link)
        self.host, self.port = address.hostname or "", address.port or 0
        self.origin = f"http://{address.netloc}"
        _, headers, text = self.ask("GET", f"{address.path}?{address.query}", cookie="")
        self.cookie = headers.get("set-cookie", "").partition(";")[0]
        self.root = text.partition("url=")[2].partition('/"')[0]
        self.home = f"{self.origin}{self.root}"

    def ask(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        cookie: str | None = None,
        **headers: str,
    ) -> tuple[int, Mapping[str, str], str]:
        """One request; the cookie is sent unless another one is given."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        wanted = {name.replace("_", "-"): value for name, value in headers.items()}
        if cookie is None:
            cookie = self.cookie
        if cookie:
            wanted["Cookie"] = cookie
        try:
            root = "" if path.startswith(ENTRANCE) else self.root
            connection.request(method, root + path, body or None, wanted)
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, text
        finally:
            connection.close()

    def get(self, path: str) -> str:
        status, _, text = self.ask("GET", path)
        assert status == 200, (path, status, text)
        return text

    def shown_after(self, headers: Mapping[str, str]) -> str:
        """The page to which a write leads back."""
        return self.get(headers["location"].removeprefix(self.root))

    def close(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=120)

    def form_token(self) -> str:
        return self.get("/add").partition('name="token" value="')[2].partition('"')[0]

    def post(self, do: str, **fields: str) -> tuple[int, Mapping[str, str], str]:
        """Press a button, as the page would."""
        body = urlencode({"token": self.form_token(), "do": do, **fields})
        kind = "application/x-www-form-urlencoded"
        return self.ask("POST", "/write", body.encode(), Origin=self.origin, Content_Type=kind)

    def notice(self, do: str, **fields: str) -> str:
        """Press a button, and read what the page shows then."""
        status, headers, text = self.post(do, **fields)
        assert status == 303, text
        return self.shown_after(headers).partition('class="notice')[2].partition("</p>")[0]


AGENT = """case "$RALPH_ROLE" in
verify) cat ../words; echo "<verify-pass/>";;
review) echo "<finding>$(cat ../words)</finding>"
  if [ -e ../reviewed ]; then echo "<review-pass>$(cat ../words)</review-pass>"
  else touch ../reviewed; echo "<review-fail>$(cat ../words)</review-fail>"; fi;;
*) echo x >> work.txt; cat ../words > "$(cat ../name)"
  if [ -e ../tried ]; then rm -f bad.txt; else touch ../tried bad.txt; fi
  cat ../words; echo "I say: <b>bold</b>"
  echo "<journal>$(cat ../words)</journal><knowledge>$(cat ../words)</knowledge>"
  echo "<task-done>$RALPH_TASK_ID</task-done>";;
esac
"""
"""Its first attempt leaves a file that the gate refuses, its second fails the review."""
GATE = "cat ../words; test ! -e bad.txt"


def write_history(project: Project) -> None:
    """Done, rejected, failed, blocked and open tasks, with odd words in every field."""
    (project.path.parent / "words").write_text(ODD)
    (project.path.parent / "name").write_text(EVIL_FILE)
    project.git("checkout", "-q", "-b", EVIL_BRANCH)
    project.agent(AGENT, gates=f"test = {GATE!r}", sandbox='mode = "off"')
    first = project.ralph("task", "add", "A first task", "-d", ODD)
    reviewed = {"RALPH_EXECUTION_VERIFY": "true", "RALPH_REVIEW_ENABLED": "true"}
    project.ralph("run", **reviewed)
    project.ralph("review", "comment", first, "work.txt:1", ODD)
    project.ralph("task", "add", ODD, "-d", ODD)
    blocked = project.ralph("task", "add", "needs a person")
    project.ralph("task", "block", blocked, "-r", ODD)
    failed = project.ralph("task", "add", "has failed")
    project.ralph("task", "fail", failed, "-r", ODD)
    project.ralph("task", "log", failed, "-m", ODD)
    project.ralph("session", "inject", "--task", failed, ODD)


@pytest.fixture(scope="session")
def sites() -> Iterator[list[Site]]:
    """The pages that are shared by tests."""
    made: list[Site] = []
    yield made
    for one in made:
        one.close()


@pytest.fixture
def site(sites: list[Site], tmp_path_factory: pytest.TempPathFactory) -> Site:
    """One for all tests: made by the first, in its clean environment."""
    if not sites:
        project = Project(tmp_path_factory.mktemp("site") / "project", initialised=True)
        write_history(project)
        sites.append(Site(project))
    return sites[0]


@contextmanager
def served(project: Project, *options: str, opens: bool = False) -> Iterator[Site]:
    """A page that ends with the block; `opens`: it starts a browser."""
    site = Site(project, *options, opens=opens)
    try:
        yield site
    finally:
        site.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Ends with its module: while it is there, its event loop runs in this thread."""
    chromium = shutil.which("chromium")
    assert chromium, "tools/system-packages installs chromium"
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=[*CHROMIUM])
        yield found
        found.close()


def enter(page: Page, site: Site) -> None:
    """Open the link, and wait for the page that it leads to."""
    page.goto(site.link)
    page.wait_for_url(f"{site.home}/")


def press(target: Locator) -> None:
    """Follow a link or send a form, and wait for the page that answers.

    The page before looks like it: it loads by itself what a button has changed.
    """
    with target.page.expect_navigation(timeout=60_000):
        target.click()


@contextmanager
def quiet_page(browser: Browser, site: Site) -> Iterator[Page]:
    """A page that has used the link; its console must have nothing to say."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda one: complaints.append(one.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    enter(opened, site)
    yield opened
    context.close()
    assert complaints == []


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:
    with quiet_page(browser, site) as opened:
        yield opened


def file_of(folder: Path, text: str) -> Path:
    path = folder / "token"
    path.write_text(text)
    path.chmod(0o600)
    return path
