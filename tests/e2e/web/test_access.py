"""Who may use the page, and what an attacker gets instead."""

import asyncio
import contextlib
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlencode

import psutil
import pytest
from playwright.sync_api import Browser
from starlette.types import Message

from ralph.cli.serve import hosts_of
from ralph.ui.web import access
from tests.async_run import run_async
from tests.e2e.conftest import Project, wait_for
from tests.e2e.fault_helpers import refused
from tests.e2e.web.conftest import ODD, Site, enter, file_of, served

PAGES = ("/", "/graph", "/tasks", "/runs", "/add", "/feed", "/static/page.js", "/task/x")


def exchange(site: Site, request: bytes) -> bytes:
    """What the server answers to these bytes before it closes the connection."""
    with socket.create_connection((site.host, site.port), timeout=60) as sock:
        sock.sendall(request)
        sock.shutdown(socket.SHUT_WR)
        answer = b""
        while more := sock.recv(65536):
            answer += more
        return answer


def write_head(site: Site) -> str:
    return (
        f"POST {site.root}/write HTTP/1.1\r\nHost: {site.host}:{site.port}\r\n"
        f"Cookie: {site.cookie}\r\nOrigin: {site.origin}\r\n"
    )


@pytest.mark.parametrize("path", PAGES)
def test_without_the_cookie_no_page_is_shown(site: Site, path: str) -> None:
    status, _, text = site.ask("GET", path, cookie="")
    assert (status, text) == (401, "open the link that `ralph serve` printed\n")


@pytest.mark.parametrize("token", ["", "x", "%00", "é", "x" * 5000])
def test_a_wrong_token_opens_nothing(site: Site, token: str) -> None:
    status, headers, _ = site.ask("GET", f"/enter?{urlencode({'token': token})}", cookie="")
    assert status == 401
    assert "set-cookie" not in headers


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil:80", ""]
)
def test_another_host_name_is_refused_although_it_leads_here(site: Site, host: str) -> None:
    status, _, _ = site.ask("GET", "/", Host=host)
    assert status == 421


def test_two_hosts_are_none(site: Site) -> None:
    head = f"GET / HTTP/1.1\r\nHost: {site.host}:{site.port}\r\nHost: evil\r\n\r\n"
    assert exchange(site, head.encode()).split()[1] in (b"421", b"400")


def test_the_cookie_is_for_this_page_alone(site: Site) -> None:
    path = site.link.removeprefix(site.origin)
    _, headers, _ = site.ask("GET", path, cookie="")
    cookie = headers["set-cookie"].lower()
    assert f"; path={site.root.lower()}/;" in cookie
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


@pytest.mark.parametrize(
    "others", ["a[]=1; {}; %s", '{"a": "1"}; %s', "ralph=x; %s", "%s; ralph=x", 'x="; %s', "%s;é=é"]
)
def test_cookies_of_other_programs_do_not_matter(site: Site, others: str) -> None:
    assert site.ask("GET", "/", cookie=others % site.cookie)[0] == 200


def test_the_cookie_opens_nothing_without_the_root(site: Site) -> None:
    head = f"GET / HTTP/1.1\r\nHost: {site.host}:{site.port}\r\nCookie: {site.cookie}\r\n\r\n"
    assert exchange(site, head.encode()).split()[1] == b"401"


def test_a_program_on_another_port_gets_no_cookie(browser: Browser, site: Site) -> None:
    """A browser sends a host's cookies to all its ports; an agent may have started that program."""
    sent: list[str | None] = []

    class Listening(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            sent.append(self.headers.get("Cookie"))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer((site.host, 0), Listening)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    context = browser.new_context()
    page = context.new_page()
    enter(page, site)
    for path in ("/", "/enter", "/task/x", "/static/page.js"):
        page.goto(f"http://{site.host}:{server.server_port}{path}")
    context.close()
    server.shutdown()
    server.server_close()
    assert len(sent) >= 4
    assert set(sent) == {None}


@pytest.mark.parametrize("path", ["/", "/task/nothing", "/static/style.css", "/nowhere", "/enter"])
def test_every_answer_has_the_security_headers(site: Site, path: str) -> None:
    _, headers, _ = site.ask("GET", path)
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers


def a_write(site: Site, **headers: str) -> int:
    body = urlencode({"token": site.form_token(), "do": "add", "title": "forged"}).encode()
    wanted = {"Content_Type": "application/x-www-form-urlencoded", **headers}
    return site.ask("POST", "/write", body, **wanted)[0]


@pytest.mark.parametrize("origin", ["", "null", "http://evil.example", "https://127.0.0.1"])
def test_a_write_from_another_origin_changes_nothing(site: Site, origin: str) -> None:
    before = site.project.ralph("task", "list", "--all", "--json")
    assert a_write(site, **({"Origin": origin} if origin else {})) == 403
    assert site.project.ralph("task", "list", "--all", "--json") == before


@pytest.mark.parametrize("token", ["", "x", "é"])
def test_a_form_without_our_token_changes_nothing(site: Site, token: str) -> None:
    body = urlencode({"token": token, "do": "add", "title": "forged"}).encode()
    status, _, text = site.ask("POST", "/write", body, Origin=site.origin)
    assert (status, text) == (403, "this form is not of this start of the page\n")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_not_answered(site: Site, method: str) -> None:
    assert site.ask(method, "/write", Origin=site.origin)[0] == 405


def test_a_get_never_writes(site: Site) -> None:
    assert site.ask("GET", f"/write?token={site.form_token()}&do=add&title=x")[0] == 405


@pytest.mark.parametrize(
    "fields", [{"do": "rm -rf"}, {"do": "edit"}, {"do": "dismiss", "task": "x"}]
)
def test_a_form_that_no_page_has_is_refused(site: Site, fields: dict[str, str]) -> None:
    assert site.post(**{"do": "", **fields})[0] == 400


@pytest.mark.parametrize("task", ["--help", "-r", "--reason=x", "../../etc/passwd", "t-000000; ls"])
def test_what_a_field_holds_is_never_an_option(site: Site, task: str) -> None:
    status, headers, _ = site.post("retry", task=task)
    assert status == 303
    assert "no task" in site.shown_after(headers).lower()


@pytest.mark.parametrize(
    "back", ["https://evil.example", "//evil.example", "/\\evil.example", "x", ""]
)
def test_a_write_leads_back_to_our_pages_alone(site: Site, back: str) -> None:
    _, headers, _ = site.post("reset", back=back)
    assert headers["location"].startswith(f"{site.root}/?notice=")


@pytest.mark.parametrize(
    "path",
    [
        "/static/../pages.py",
        "/static/..%2fpages.py",
        "/static/%2e%2e/%2e%2e/app.py",
        "/task/..%2f..%2fetc%2fpasswd",
        "/task/x/1/0/raw",
        "//etc/passwd",
    ],
)
def test_no_path_leads_to_the_files(site: Site, path: str) -> None:
    status, _, text = site.ask("GET", path)
    assert status == 404
    assert "root:" not in text
    assert "import" not in text


def test_a_body_that_is_too_large_is_not_read(site: Site) -> None:
    status, _, _ = site.ask("POST", "/write", Origin=site.origin, Content_Length=str(1 << 30))
    assert status == 413


def test_who_sends_too_much_gets_an_answer(site: Site) -> None:
    status, _, text = site.ask("POST", "/write", b"x" * (6 << 20), Origin=site.origin)
    assert (status, text) == (413, "the request is too large\n")


def test_a_body_without_a_length_is_read_up_to_a_bound(site: Site) -> None:
    head = write_head(site) + "Transfer-Encoding: chunked\r\n\r\n"
    chunk = b"%x\r\n%s\r\n" % (1 << 20, b"a" * (1 << 20))
    assert exchange(site, head.encode() + chunk * 5 + b"0\r\n\r\n").split()[1] == b"413"


def test_a_gigabyte_is_not_taken_in(site: Site) -> None:
    before = psutil.Process(site.process.pid).memory_info().rss
    head = write_head(site) + "Transfer-Encoding: chunked\r\n\r\n"
    chunk = b"%x\r\n%s\r\n" % (1 << 20, b"a" * (1 << 20))
    sent = 0
    with socket.create_connection((site.host, site.port), timeout=60) as sock:
        sock.sendall(head.encode())
        with contextlib.suppress(OSError):
            while sent < 1024:
                sock.sendall(chunk)
                sent += 1
    assert sent < 100, "the connection is closed long before"
    assert psutil.Process(site.process.pid).memory_info().rss - before < 64 << 20
    assert "A first task" in site.get("/tasks?status=done")


SMUGGLED = "GET {root}/static/page.js HTTP/1.1\r\nHost: {host}\r\n\r\n"


@pytest.mark.parametrize(
    "head",
    [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "Content-Length: 0\r\nContent-Length: 44\r\n\r\n",
        "Content-Length: +0\r\n\r\n",
        "Content-Length : 0\r\n\r\n",
        "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
        " Folded: 1\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
    ],
)
def test_no_request_hides_in_another_one(site: Site, head: str) -> None:
    host = f"{site.host}:{site.port}"
    inside = SMUGGLED.format(host=host, root=site.root)
    request = f"{write_head(site)}{head}{inside}"
    answer = exchange(site, request.encode("latin-1"))
    assert answer.startswith(b"HTTP/1.1 40")
    assert answer.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    "path",
    [
        "/enter?" + "&".join("abcdefgh"),
        "/enter?token=%ff%00",
        "/?notice=%00&from=-1",
        "/tasks?status=nothing&from=999999999999999",
        "/tasks?from=%D9%A3",
        "/graph?within=%00%ff",
        "/task/%00",
        "/task/%ff%fe",
        "/task/" + "x" * 20_000,
        "/run/%00",
        "/runs?from=99999999999999999999",
        "/task/x/99999999999999999999999/0",
    ],
)
def test_an_odd_address_is_no_bug(site: Site, path: str) -> None:
    assert site.ask("GET", path)[0] in (200, 401, 404)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"do": "retry", "task": "\0"}, 400),
        ({"do": "add", "title": "x\0y"}, 400),
        ({"do": "add", "title": "x" * 200_000}, 400),
        ({"do": "add", "title": "x" * 20_000}, 303),
        ({"do": "edit", "task": "x", "title": "x", "priority": "x", "description": ""}, 303),
        ({"do": "apply", "task": "x", "attempt": "--help"}, 303),
        ({"do": "inject", "message": ""}, 303),
    ],
)
def test_an_odd_field_is_no_bug(site: Site, fields: dict[str, str], code: int) -> None:
    status, headers, _ = site.post(**fields)
    assert status == code
    if code == 303:
        assert 'class="notice refused"' in site.shown_after(headers)


def test_so_many_fields_are_refused(site: Site) -> None:
    body = "&".join(f"f{number}=x" for number in range(5000)).encode()
    assert site.ask("POST", "/write", body, Origin=site.origin)[0] == 400


def test_a_body_that_comes_byte_by_byte_has_an_end(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "BODY_S", 0.2)

    async def forever() -> Message:
        await asyncio.sleep(0.05)
        return {"type": "http.request", "body": b"a", "more_body": True}

    async def read_all() -> None:
        receive = access.bounded(forever)
        while True:
            await receive()

    with pytest.raises(access.BadBody) as refusal:
        run_async(asyncio.wait_for(read_all(), 30))
    assert refusal.value.status == 408


def test_clients_that_do_not_read_stop_nobody(project: Project) -> None:
    with served(project) as site:
        deaf = []
        for _ in range(50):
            sock = socket.socket()
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            sock.connect((site.host, site.port))
            head = f"GET {site.root}/feed HTTP/1.1\r\nHost: {site.host}:{site.port}\r\n"
            sock.sendall(f"{head}Cookie: {site.cookie}\r\n\r\n".encode())
            deaf.append(sock)
        before = psutil.Process(site.process.pid).memory_info().rss
        path = project.path.parent / "tasks.jsonl"
        path.write_text("".join(f'{{"title": "{"x" * 5000}"}}\n' for _ in range(500)))
        project.ralph("task", "import", str(path))
        assert "500 pending" in site.get("/tasks")
        assert psutil.Process(site.process.pid).memory_info().rss - before < 100 << 20
        for sock in deaf:
            sock.close()


def test_a_thousand_silent_connections_keep_nobody_out(site: Site) -> None:
    silent = []
    try:
        for _ in range(1000):
            sock = socket.create_connection((site.host, site.port), timeout=60)
            sock.sendall(b"GET / HTTP/1.1\r\n")
            silent.append(sock)
        assert "A first task" in site.get("/tasks?status=done")
    finally:
        for sock in silent:
            sock.close()


def test_a_read_only_page_has_no_buttons_and_takes_no_writes(project: Project) -> None:
    project.ralph("task", "add", "Write it")
    with served(project, "--read-only") as site:
        assert "<button" not in site.get("/")
        status, _, text = site.ask("POST", "/write", b"do=add&title=x", Origin=site.origin)
        assert status == 403
        assert "read-only" in text


def test_the_end_of_the_page_is_clean_and_a_new_start_has_new_secrets(project: Project) -> None:
    with served(project) as first:
        pass
    assert first.process.returncode == 0
    with served(project) as second:
        assert second.link.partition("token=")[2] != first.link.partition("token=")[2]


def test_a_browser_names_no_usual_port() -> None:
    assert hosts_of("127.0.0.1", 80) >= {"127.0.0.1", "localhost:80"}
    assert hosts_of("::1", 8080) == {"[::1]:8080", "localhost:8080"}


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--host", "example.com"], 64, "is not an address"),
        (["--host", "0.0.0.0"], 64, "every address"),
        (["--host", "192.0.2.1"], 64, "--token-file"),
        (["--port", "70000"], 73, "cannot listen"),
        (["--host", "192.0.2.1", "--token-file", "absent"], 65, "cannot read absent"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_address_that_makes_no_sense_is_refused(
    project: Project, options: list[str], code: int, said: str
) -> None:
    refused(project.try_ralph("serve", *options), code, said)


def test_a_token_of_ones_own_is_long_and_private(project: Project) -> None:
    short = file_of(project.path.parent, "short")
    refused(project.try_ralph("serve", "--token-file", str(short)), 65, "openssl rand")
    inside = file_of(project.path, "a" * 40)
    refused(project.try_ralph("serve", "--token-file", str(inside)), 65, "sessions can read")
    good = file_of(project.path.parent, "a" * 40)
    good.chmod(0o644)
    refused(project.try_ralph("serve", "--token-file", str(good)), 65, "chmod 600")
    good.chmod(0o600)
    with served(project, "--token-file", str(good)) as site:
        assert site.link.endswith("token=" + "a" * 40)


def test_a_client_that_was_away_misses_no_event_and_gets_none_twice(project: Project) -> None:
    with served(project) as site:

        def seen(after: int) -> list[int]:
            with socket.create_connection((site.host, site.port), timeout=60) as sock:
                head = (
                    f"GET {site.root}/feed HTTP/1.1\r\nHost: {site.host}:{site.port}\r\n"
                    f"Cookie: {site.cookie}\r\nLast-Event-ID: {after}\r\n\r\n"
                )
                sock.sendall(head.encode())
                text = b""
                wanted = len(json_events(project)) - after
                while text.count(b"id: ") < wanted:
                    text += sock.recv(65536)
            lines = text.decode("utf-8", "replace").splitlines()
            return [int(line[4:]) for line in lines if line.startswith("id: ")]

        project.ralph("task", "add", ODD)
        first = seen(0)
        for number in range(30):
            project.ralph("task", "add", f"task {number}")
        assert first + seen(first[-1]) == json_events(project)


def json_events(project: Project) -> list[int]:
    import sqlite3

    with sqlite3.connect(project.path / ".ralph/progress.db") as db:
        return [row[0] for row in db.execute("SELECT seq FROM events ORDER BY seq")]


def test_the_link_that_a_browser_is_started_with_works_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser's command line can be read by other users."""
    seen = project.path.parent / "seen"
    browser = project.path.parent / "browser"
    browser.write_text(
        f"#!/bin/sh\nprintf '%s' \"$1\" > '{seen}.new' && mv '{seen}.new' '{seen}'\n"
    )
    browser.chmod(0o755)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("BROWSER", str(browser))
    with served(project, opens=True) as site:
        wait_for(seen.exists, "the browser")
        link = seen.read_text().removeprefix(site.origin)
        assert site.link != f"{site.origin}{link}"
        assert site.ask("GET", link, cookie="")[0] == 200
        assert site.ask("GET", link, cookie="")[0] == 401
        assert site.ask("GET", site.link.removeprefix(site.origin), cookie="")[0] == 200


def test_a_sandboxed_session_cannot_use_the_page(project: Project) -> None:
    """It reaches loopback, and looks for the token where it may."""
    task = project.ralph("task", "add", "Write it")
    with served(project) as site:
        token = site.link.partition("token=")[2]
        look = (
            f"grep -rlsa '[{token[0]}]{token[1:]}' /proc/[0-9]*/cmdline /proc/[0-9]*/environ"
            " . /tmp ~ | head -1;"
            f' python3 -c "{ASK}" {site.host} {site.port} {task}'
        )
        said = project.ralph("sandbox", "run", "--", "sh", "-c", look, code=None)
        assert said.split() == ["401", "401", "401"]
    assert project.status(task) == "pending"


ASK = """
import http.client, sys
host, port, task = sys.argv[1:]
for method, path in (('GET', '/'), ('POST', '/write'), ('GET', '/enter?token=x')):
    client = http.client.HTTPConnection(host, int(port))
    client.request(method, path, 'do=done&task=' + task, {'Origin': f'http://{host}:{port}'})
    print(client.getresponse().status)
"""
