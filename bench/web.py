"""The web page: large projects, many clients, and what being watched costs a run."""

import asyncio
import contextlib
import http.client
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Final
from urllib.parse import urlsplit

import psutil

from ralph.adapters.executor.own_process import this_process
from ralph.adapters.sqlite.database import open_sqlite_store
from ralph.core.events import GateEnded, RunStarted
from ralph.core.ids import RunId, TaskId, WorkerId

RALPH: Final = os.path.join(os.path.dirname(sys.executable), "ralph")
TASKS: Final = 10_000
PARTS: Final = 100
EVENTS: Final = 10_000
ROUNDS: Final = 15
PAGE_KB: Final = 200.0
PAGE_RATIO: Final = 25.0
"""Against a file that the server holds in memory."""
CLIENTS: Final = 50
RATE: Final = 200
SECONDS: Final = 60
PEAK_MB: Final = 200.0
WATCHED: Final = 1.02
RUNS: Final = 5
RUN_TASKS: Final = 20
AGENT: Final = 'sleep 0.3; echo x >> work.txt; echo "<task-done>$RALPH_TASK_ID</task-done>"'


class Page:
    """`ralph serve` in a project, and the cookie for it."""

    def __init__(self, project: str) -> None:
        self.process = subprocess.Popen(
            [RALPH, "serve", "--no-open"], cwd=project, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        address = urlsplit(self.process.stdout.readline().strip())
        self.host, self.port = address.hostname or "", address.port or 0
        connection = http.client.HTTPConnection(self.host, self.port)
        connection.request("GET", f"{address.path}?{address.query}")
        answer = connection.getresponse()
        self.root = answer.read().decode().partition("url=")[2].partition('/"')[0]
        self.cookie = str(answer.getheader("set-cookie")).partition(";")[0]

    def get(self, path: str) -> tuple[float, int]:
        """Seconds until the first byte, and bytes."""
        connection = http.client.HTTPConnection(self.host, self.port)
        connection.connect()
        began = time.perf_counter()
        connection.request("GET", self.root + path, headers={"Cookie": self.cookie})
        answer = connection.getresponse()
        took = time.perf_counter() - began
        size = len(answer.read())
        assert answer.status == 200, (path, answer.status)
        connection.close()
        return took, size

    def peak_mb(self) -> float:
        return float(psutil.Process(self.process.pid).memory_info().rss) / 1e6


def run(report: Callable[..., None]) -> None:
    """Three projects: a large one, a busy one, and one at work."""
    with tempfile.TemporaryDirectory() as folder:
        _large(report, os.path.join(folder, "large"))
        _busy(report, os.path.join(folder, "busy"))
        _watched(report, folder)


def _large(report: Callable[..., None], project: str) -> None:
    """Tasks in parts, each waiting for the one before, and a run at work that has done much."""
    initialise(project)
    ralph(project, "task", "import", "-", stdin="\n".join(map(json.dumps, _tasks())))
    _begin_run(project)
    with _page(project) as page:
        times: dict[str, list[float]] = {}
        sizes: dict[str, int] = {}
        for _ in range(ROUNDS):
            for path in ("/static/style.css", "/", "/graph", "/tasks", "/task/t-aa0001"):
                took, sizes[path] = page.get(path)
                times.setdefault(path, []).append(took)
        file = statistics.median(times.pop("/static/style.css"))
        for path, all_ in times.items():
            took, size = statistics.median(all_), sizes[path] / 1000
            report(f"page {path}, {TASKS} tasks, first byte", took * 1000, "ms", None, None)
            ratio = took / file
            report(f"page {path} against a file", ratio, "times", PAGE_RATIO, ratio <= PAGE_RATIO)
            report(f"page {path}, size", size, "kB", PAGE_KB, size <= PAGE_KB)


def _tasks() -> Iterator[dict[str, object]]:
    for part in range(PARTS):
        name = f"t-aa{part:04}"
        yield {"id": name, "title": f"part {part}"}
        for number in range(part * TASKS // PARTS, (part + 1) * TASKS // PARTS - 1):
            blockers = [f"t-{number - 1:06}"] if number % (TASKS // PARTS) else []
            task = {"id": f"t-{number:06}", "title": f"task {number}", "parent_id": name}
            yield task | {"blockers": blockers}


def _begin_run(project: str) -> None:
    """A run of this process."""
    store = open_sqlite_store(os.path.join(project, ".ralph", "progress.db"))
    run, worker, task = RunId("run-1"), WorkerId("agent-00000001"), TaskId("t-000000")
    begun = RunStarted(run_id=run, worker=worker, target="all tasks", agent="x", checkout=project)
    store.runs.start(begun, this_process(), 3600.0)
    gate = GateEnded(name="test", task_id=task, passed=True, code=0, duration_s=1.0)

    def record() -> None:
        for _ in range(EVENTS):
            store.events.emit(gate, run)

    store.events.db.write(record)
    store.close()


def _busy(report: Callable[..., None], project: str) -> None:
    """Events at a steady rate, told to many clients: each must get each of them, once."""
    initialise(project)
    ralph(project, "task", "add", "busy")
    with _page(project) as page:
        before = page.peak_mb()
        missed, doubled = asyncio.run(_follow(page, project))
        peak = page.peak_mb()
    report(f"feed: {RATE}/s to {CLIENTS} clients, missed", missed, "events", 0, missed == 0)
    report(f"feed: {RATE}/s to {CLIENTS} clients, doubled", doubled, "events", 0, doubled == 0)
    report("feed: memory grew by", peak - before, "MB", None, None)
    report("feed: memory at the end", peak, "MB", PEAK_MB, peak <= PEAK_MB)


async def _follow(page: Page, project: str) -> tuple[int, int]:
    store = open_sqlite_store(os.path.join(project, ".ralph", "progress.db"))
    first = store.events.last_seq()
    last = first + RATE * SECONDS
    head = (
        f"GET {page.root}/feed?after={first} HTTP/1.1\r\nHost: {page.host}:{page.port}\r\n"
        f"Cookie: {page.cookie}\r\n\r\n"
    ).encode()

    async def client() -> list[int]:
        reader, writer = await asyncio.open_connection(page.host, page.port)
        writer.write(head)
        seen: list[int] = []
        while not seen or seen[-1] < last:
            line = await reader.readline()
            if line.startswith(b"id: "):
                seen.append(int(line[4:]))
        writer.close()
        return seen

    async def talk() -> None:
        began = time.perf_counter()
        for number in range(RATE * SECONDS):
            store.messages.add_guidance(f"event {number}", None)
            ahead = (number + 1) / RATE - (time.perf_counter() - began)
            await asyncio.sleep(max(0.0, ahead))

    *got, _ = await asyncio.gather(*(client() for _ in range(CLIENTS)), talk())
    store.close()
    wanted = set(range(first + 1, last + 1))
    missed = sum(len(wanted - set(one)) for one in got if one)
    return missed, sum(len(one) - len(set(one)) for one in got if one)


def _watched(report: Callable[..., None], folder: str) -> None:
    """The same run alone and with a browser that shows the first page, in turn."""
    times: dict[bool, list[float]] = {False: [], True: []}
    for number in range(RUNS):
        for is_watched in (False, True):
            project = os.path.join(folder, f"run-{number}-{is_watched}")
            initialise(project)
            lines = (json.dumps({"title": f"task {one}"}) for one in range(RUN_TASKS))
            ralph(project, "task", "import", "-", stdin="\n".join(lines))
            times[is_watched].append(_time_run(project, is_watched=is_watched))
    # Whatever else the machine does only makes it slower.
    ratio = min(times[True]) / min(times[False])
    report("a run that is watched, against alone", ratio, "times", WATCHED, ratio <= WATCHED)


def _time_run(project: str, *, is_watched: bool) -> float:
    command = ["run", "--no-verify", "--json"]
    if not is_watched:
        began = time.perf_counter()
        ralph(project, *command)
        return time.perf_counter() - began
    with _page(project) as page:
        browser = Thread(target=_browse, args=(page,), daemon=True)
        browser.start()
        began = time.perf_counter()
        ralph(project, *command)
        return time.perf_counter() - began


def _browse(page: Page) -> None:
    """Load the first page when something has happened, at most once a second, as a browser does."""
    client = http.client.HTTPConnection(page.host, page.port)
    client.request("GET", f"{page.root}/feed", headers={"Cookie": page.cookie})
    loaded = 0.0
    with contextlib.suppress(OSError, http.client.HTTPException):
        for line in client.getresponse():
            if line.startswith(b"id: ") and time.monotonic() - loaded >= 1:
                loaded = time.monotonic()
                page.get("/")


def initialise(project: str) -> None:
    os.mkdir(project)
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    ralph(project, "init", "--yes")
    with open(os.path.join(project, ".ralph.toml"), "w", encoding="utf-8") as file:
        file.write(f"[agent]\ncommand = {json.dumps(AGENT)}\n[sandbox]\nmode = 'off'\n")
    for words in (["add", "-A"], ["commit", "-q", "-m", "begin"]):
        subprocess.run(["git", *words], cwd=project, check=True)


def ralph(project: str, *words: str, stdin: str = "") -> str:
    done = subprocess.run(
        [RALPH, *words], cwd=project, input=stdin, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, re.sub(r"\s+", " ", done.stderr)[-500:]
    return done.stdout


@contextmanager
def _page(project: str) -> Iterator[Page]:
    page = Page(project)
    try:
        yield page
    finally:
        page.process.send_signal(signal.SIGTERM)
        page.process.communicate()
