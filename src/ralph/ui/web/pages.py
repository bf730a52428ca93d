"""The pages: each reads its facts from the project's view and fills a template."""

import asyncio
import shlex
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from ralph.core.cost import CostSummary
from ralph.core.errors import NoSuchTask
from ralph.core.ids import RunId
from ralph.core.review_thread import LineComment
from ralph.core.run import AllTasks
from ralph.core.safe_text import multi_line, one_line
from ralph.core.task import TaskStatus
from ralph.core.times import format_duration
from ralph.ports.executor import CommandOutput
from ralph.store.costs import CostFilter, CostGrouping
from ralph.ui.attempt_view import Attempt
from ralph.ui.followed_project import FollowedProject
from ralph.ui.formatting import format_time, parse_time, time_of_day
from ralph.ui.gantt_svg import gantt_svg
from ralph.ui.graph_svg import graph_svg
from ralph.ui.html_templates import html_templates
from ralph.ui.project_view import ProjectView, TaskInProgress
from ralph.ui.session_stream import read_page, stream_of
from ralph.ui.web import session_log
from ralph.ui.web.access import Keys, form_of, refuse
from ralph.ui.web.diff_rows import Diff, read_diff
from ralph.ui.web.session_log import SessionLog, logs_of
from ralph.ui.web.writes import BadWrite, CommandLine, Fields, command_of

PAGES: Final = (
    ("/", "Home"),
    ("/graph", "Graph"),
    ("/tasks", "Tasks"),
    ("/runs", "Runs"),
    ("/add", "Add"),
)
ROWS: Final = 50
BARS: Final = 200
"""Sessions of a run on one page."""
SUMS: Final = 15
ATTEMPTS: Final = 20
NOTICES: Final = 100
LONGEST_NOTICE: Final = 20_000
LONGEST_WORD: Final = 100_000
"""Of a command; the kernel allows little more."""

Page = Callable[[Request], Coroutine[Any, Any, Response]]
RunRalph = Callable[[tuple[str, ...], bytes], CommandOutput]
"""Runs one command of Ralph in the project, and waits for it."""
StartRalph = Callable[[tuple[str, ...]], CommandOutput]
"""Starts a run in the project, and waits until it is at work."""


class Notice(NamedTuple):
    """What a command printed after a button was pressed."""

    text: str
    is_refused: bool


class AtWork(NamedTuple):
    """A session on the first page."""

    address: str = ""
    """Below its task's."""
    lines: Sequence[str] = ()
    """The last that it said or did."""


class Pages:
    """All pages of one project."""

    def __init__(
        self,
        view: ProjectView,
        run_ralph: RunRalph,
        start_ralph: StartRalph,
        keys: Keys,
        *,
        project: str,
        is_read_only: bool,
        now: Callable[[], float],
    ) -> None:
        self._view = view
        self._run_ralph = run_ralph
        self._start_ralph = start_ralph
        self._keys = keys
        self._now = now
        self._notices: OrderedDict[str, Notice] = OrderedDict()
        self._templates = html_templates()
        self._templates.globals.update(
            project=one_line(project, 80), is_read_only=is_read_only, pages=PAGES, root=keys.root
        )
        self._templates.filters.update(
            time=lambda text: format_time(parse_time(text), now()),
            span=lambda seconds: "" if seconds is None else format_duration(seconds),
            second=lambda text: format_time(at := parse_time(text), now()) + time_of_day(at)[5:],
            at=lambda at: format_time(at, now()),
            url=lambda text: quote(str(text), safe=""),
        )

    # Reading

    def with_seq(self, page: Page) -> Page:
        """The page, from which the feed goes on: after the last event before it read its facts."""

        async def answer(request: Request) -> Response:
            request.state.seq = self._view.store.events.last_seq()
            return await page(request)

        return answer

    @cached_property
    def _followed(self) -> FollowedProject:
        """Reads what is new for all who look, and not the whole run each time."""
        return FollowedProject(self._view, self._now)

    async def home(self, request: Request) -> Response:
        """What needs a person, what is being done, what it costs."""
        state = self._followed.refreshed()
        sessions = {one.task.id: self._at_work(one) for one in state.working}
        return self._page(request, "home.html", state=state, sessions=sessions)

    def _at_work(self, working: TaskInProgress) -> AtWork:
        """The session that is at work on a task, or was last."""
        attempts = [*self._view.attempts(working.task.id, 1)]
        logs = logs_of(attempts[0]) if attempts and working.log else []
        if not logs:
            return AtWork()
        return AtWork(
            f"{working.attempt}/{len(logs) - 1}", session_log.last_lines(self._path(logs[-1].log))
        )

    async def graph(self, request: Request) -> Response:
        within = request.query_params.get("within")
        graph = self._view.graph(within)
        link = self._keys.root + ("/graph?within={}" if graph.clusters else "/task/{}")
        drawing = Markup(graph_svg(graph, lambda key: link.format(quote(key, safe=""))))
        return self._page(request, "graph.html", graph=graph, drawing=drawing, within=within)

    async def tasks(self, request: Request) -> Response:
        """A page of the tasks of one status."""
        asked = request.query_params.get("status", "")
        which = TaskStatus(asked) if asked in [*TaskStatus] else TaskStatus.PENDING
        offset = _number(request.query_params.get("from"))
        found = self._view.tasks(which, ROWS + 1, offset)
        return self._page(
            request,
            "tasks.html",
            counts=self._view.store.claims.user_counts(AllTasks()),
            statuses=[*TaskStatus],
            which=which,
            tasks=found[:ROWS],
            offset=offset,
            next=offset + ROWS if len(found) > ROWS else 0,
        )

    async def task(self, request: Request) -> Response:
        """One task with its attempts and what happened to it, the newest first."""
        params = request.query_params
        # One more than is shown tells whether there are more.
        facts = self._view.task(request.path_params["task"], log_lines=1, related=ROWS + 1)
        attempts = [*self._view.attempts(facts.task.id, ATTEMPTS)][::-1]
        return self._page(
            request,
            "task.html",
            facts=facts,
            task=facts.task,
            attempts=attempts,
            logs_of=logs_of,
            rows=ROWS,
            timeline=self._view.timeline(facts.task.id, ROWS, _number(params.get("before"))),
        )

    async def diff(self, request: Request) -> Response:
        """What a task or one of its attempts has changed, or two attempts side by side."""
        task = self._view.store.tasks.find(request.path_params["task"])
        known = [one.session.attempt for one in self._view.attempts(task.id)]
        chosen = [_number(one) for one in request.query_params.getlist("attempt")]
        chosen = [one for one in chosen if one in known][:2]
        sides = [(one, await self._diff(task.id, one)) for one in chosen or [0]]
        comments: dict[tuple[int, str, str, int], list[LineComment]] = {}
        for one in self._view.store.reviews.comments_about(task.id):
            if one.about == task.id:
                place = (one.attempt, one.lines.path, one.side.value, one.lines.last)
                comments.setdefault(place, []).append(one)
        return self._page(
            request, "diff.html", task=task, sides=sides, known=known, comments=comments
        )

    async def _diff(self, task: str, attempt: int) -> Diff:
        which = (f"--attempt={attempt}",) if attempt else ()
        done = await self._ask(("diff", "--color=never", *which, "--", task))
        if done.code:
            return Diff(problem=done.stderr.decode("utf-8", "replace"))
        return read_diff(done.stdout.decode("utf-8", "replace"))

    async def session(self, request: Request) -> Response:
        """A page of a session's log; of a session that is at work the newest."""
        attempt, session = self._log(request)
        params, log = request.query_params, self._path(session.log)
        start = _number(params.get("from"))
        if session.is_open and "from" not in params:
            start = session_log.newest_page(log)
        find = params.get("find", "")
        if find:
            page = await asyncio.to_thread(session_log.search, log, start, find)
        else:
            part = read_page(stream_of(log), start, session_log.PAGE)
            entries = [*session_log.entries_of(part.events)]
            page = session_log.SearchResult(entries, part.next, part.is_last)
        return self._page(
            request,
            "session.html",
            task=self._view.store.tasks.find(request.path_params["task"]),
            attempt=attempt,
            session=session,
            start=start,
            page=page,
            newest=session_log.newest_page(log),
            earlier=max(0, start - session_log.PAGE),
            find=find,
        )

    async def raw_log(self, request: Request) -> Response:
        _, session = self._log(request)
        try:
            text = session_log.read_raw(self._path(session.log))
        except OSError:
            return PlainTextResponse("this log is not there any more\n", 404)
        return Response(text, media_type="text/plain; charset=utf-8")

    def _log(self, request: Request) -> tuple[Attempt, SessionLog]:
        """The attempt and one of the logs that it has on record: no path comes from outside."""
        task = self._view.store.tasks.find(request.path_params["task"])
        for attempt in self._view.attempts(task.id):
            if attempt.session.attempt == request.path_params["attempt"]:
                logs = logs_of(attempt)
                number = request.path_params["number"]
                if number < len(logs):
                    return attempt, logs[number]
        raise NoSuchTask(f"{task.name} has no such session")

    async def runs(self, request: Request) -> Response:
        offset = _number(request.query_params.get("from"))
        found = self._view.runs(offset + ROWS + 1)[offset:]
        costs = self._view.store.costs
        tables = [
            (by.value, costs.sums(by, CostFilter(), SUMS))
            for by in (CostGrouping.AGENT, CostGrouping.MODEL, CostGrouping.DAY)
        ]
        following = offset + ROWS if len(found) > ROWS else 0
        return self._page(request, "runs.html", runs=found[:ROWS], tables=tables, next=following)

    async def run(self, request: Request) -> Response:
        """One run: its sessions over time."""
        run = self._view.store.runs.get(RunId(request.path_params["run"]))
        if run is None:
            raise NoSuchTask("there is no such run")
        offset = _number(request.query_params.get("from"))
        found = self._view.bars(run.id, limit=BARS + 1, offset=offset)
        bars = found[:BARS]
        spent: CostSummary = self._view.store.costs.total(CostFilter(run=run.id))
        chart = Markup(gantt_svg(bars, self._now()))
        following = offset + BARS if len(found) > BARS else 0
        return self._page(
            request, "run.html", run=run, bars=bars, spent=spent, chart=chart, next=following
        )

    async def add(self, request: Request) -> Response:
        return self._page(request, "add.html")

    # Writing

    async def write(self, request: Request) -> Response:
        """Run the command of a button, and show what it printed on the page it came from."""
        fields = await form_of(request, self._keys)
        if fields is None:
            return refuse(403, "this form is not of this start of the page")
        try:
            command = self._command(fields)
        except (BadWrite, KeyError, ValueError):
            return refuse(400, "this form is not one of our pages'")
        if any("\0" in word or len(word) > LONGEST_WORD for word in command.words):
            return refuse(400, "a field is too long, or holds what no text does")
        if command.is_run:
            done = await asyncio.to_thread(self._start_ralph, command.words)
        else:
            done = await self._ask(command.words, command.stdin)
        said = done.stderr if done.code else done.stdout + done.stderr
        name = f"{self._view.store.events.last_seq()}-{len(self._notices)}-{id(done)}"
        self._notices[name] = Notice(
            multi_line(said[:LONGEST_NOTICE].decode("utf-8", "replace").strip()) or "done",
            done.code != 0,
        )
        while len(self._notices) > NOTICES:
            self._notices.popitem(last=False)
        home = f"{self._keys.root}/"
        back = fields.get("back", "")
        back = back if back.startswith(home) else home
        joint = "&" if "?" in back else "?"
        return RedirectResponse(f"{back}{joint}notice={quote(name)}", 303)

    def _command(self, fields: Fields) -> CommandLine:
        if fields.get("do") != "approve":
            return command_of(fields)
        for plan in self._view.plans():
            if plan.name == fields["plan"]:
                return CommandLine(tuple(shlex.split(plan.approve))[1:], is_run=True)
        raise BadWrite("no such plan waits for approval")

    async def _ask(self, words: tuple[str, ...], stdin: bytes = b"") -> CommandOutput:
        return await asyncio.to_thread(self._run_ralph, words, stdin)

    # Both

    def problem(self, request: Request, error: Exception, status: int) -> Response:
        """One line about what is wrong, on a page from which to go on."""
        return self._page(request, "problem.html", status, why=one_line(str(error), 300))

    def _page(self, request: Request, template: str, status: int = 200, **facts: Any) -> Response:
        query = "&".join(
            f"{quote(name)}={quote(value)}"
            for name, value in request.query_params.multi_items()
            if name != "notice"
        )
        path = self._keys.root + quote(request.url.path)
        html = self._templates.get_template(template).render(
            seq=request.state.seq,
            now=format_time(self._now(), self._now()),
            here=path,
            back=f"{path}?{query}" if query else path,
            token=self._keys.form,
            notice=self._notices.get(request.query_params.get("notice", "")),
            **facts,
        )
        return HTMLResponse(html, status)

    def _path(self, log: str) -> str:
        return log if log.startswith("/") else f"{self._view.root}/{log}"


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 16 else 0
