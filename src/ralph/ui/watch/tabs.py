"""The tabs: live, evidence, diff, log and costs. Each shows a subject, and keeps itself up to date
while it is in sight."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from textual import on

from ralph.ports.executor import CommandOutput
from ralph.store.costs import CostFilter, CostGrouping
from ralph.ui.attempt_view import Attempt
from ralph.ui.project_view import ProjectView
from ralph.ui.watch import panes
from ralph.ui.watch.diff_lines import diff_lines
from ralph.ui.watch.line_view import Line, LineView, plain
from ralph.ui.watch.session_pages import MOST_LINES, LiveTail, LogPages
from ralph.ui.watch.subject import Subject
from ralph.ui.web.diff_rows import Diff, read_diff
from ralph.ui.web.session_log import logs_of

RUNS: Final = 12
FEED: Final = 300
SUMS: Final = 12


class Tab(LineView):
    """One of the tabs."""

    name_: ClassVar[str]

    def __init__(self, view: ProjectView, *, has_cursor: bool = False) -> None:
        super().__init__(id=self.name_, has_cursor=has_cursor)
        self._view = view

    def show(self, subject: Subject) -> None:
        """Show it as it is now."""
        raise NotImplementedError

    def beat(self) -> None:
        """Show what came since, several times in a second."""

    def turn(self, subject: Subject, way: int) -> None:
        """Show an earlier or a later attempt."""

    def note(self) -> str:
        """Which part of the subject is shown."""
        return ""

    def _path(self, log: str) -> str:
        return log if log.startswith("/") else f"{self._view.root}/{log}"


class Live(Tab):
    """What the newest session of a task says; of the project, what needs you and who works."""

    name_ = "live"

    def __init__(self, view: ProjectView) -> None:
        super().__init__(view)
        self._tail: LiveTail | None = None
        self._begun = 0
        self._what = ""

    def show(self, subject: Subject) -> None:
        log, self._what = _newest_log(subject.attempts)
        if subject.need is not None or subject.facts is None:
            self._tail = None
            self.set_lines(_about_project(subject, self._view))
        elif not log:
            self._tail = None
            self.set_lines(_untouched(subject))
        elif self._tail is None or self._tail.log != self._path(log):
            self._tail, self._begun = LiveTail(self._path(log)), 0
            self.set_lines((), at_end=True)
            self.beat()
            if not self.lines:
                self.set_lines([plain("The session has said nothing yet.", "dim")])
                self._begun = 1

    def beat(self) -> None:
        if self._tail is not None and (new := self._tail.more()) is not None:
            begun = self._tail.begun()
            self.append([*new, *begun], most=MOST_LINES, instead_of=self._begun)
            self._begun = len(begun)

    def note(self) -> str:
        return self._what if self._tail is not None else ""


def _newest_log(attempts: Sequence[Attempt]) -> tuple[str, str]:
    """The log of the session that is at work, or of the last that did the work; and what it is."""
    if not attempts:
        return "", ""
    last = attempts[-1]
    logs = logs_of(last)
    newest = next((one for one in logs if one.is_open), logs[len(last.segments)])
    return newest.log, f"attempt {last.session.attempt}, {newest.name}"


def _about_project(subject: Subject, view: ProjectView) -> list[Line]:
    if subject.need is not None:
        keys = "a runs one of these commands" if subject.need.answers else ""
        return [
            *panes.need_lines(subject.need, subject.now),
            panes.EMPTY,
            plain(keys, "dim"),
        ]
    return list(panes.home_lines(subject.state, view.runs(RUNS), subject.now))


def _untouched(subject: Subject) -> list[Line]:
    """Why no session has worked on it, and what it is about."""
    facts = subject.facts
    assert facts is not None
    lines = [plain("No session has worked on it yet.")]
    waits = [one for one in facts.blockers if one.status != "done"]
    if facts.children:
        lines = [plain("The tasks below it do its work.")]
        lines += [panes.task_line(one) for one in facts.children]
    elif waits:
        lines += [plain("It waits for:"), *map(panes.task_line, waits)]
    return [*lines, panes.EMPTY, *panes.paragraphs(facts.task.description[:20_000])]


class EvidenceTab(Tab):
    name_ = "evidence"

    def show(self, subject: Subject) -> None:
        if subject.facts is None:
            self.set_lines(_about_project(subject, self._view))
            return
        self.set_lines(panes.evidence_lines(subject.facts, subject.attempts, subject.now))


class DiffTab(Tab):
    """What an attempt has changed. Reading it takes a git, so it comes a moment later."""

    name_ = "diff"

    def __init__(self, view: ProjectView, read: Callable[[tuple[str, ...]], CommandOutput]) -> None:
        super().__init__(view, has_cursor=True)
        self._read = read
        self._shown: tuple[str, int, str | None] | None = None
        self._turned = 0
        """How many attempts back, of the same task."""
        self._of_task: str | None = None
        self._diff = Diff()
        self.attempt = 0
        self._of = 0

    def show(self, subject: Subject) -> None:
        if subject.task != self._of_task:
            self._of_task, self._turned = subject.task, 0
        ended = [one.session for one in subject.attempts if one.session.ended_at is not None]
        self._of = len(ended)
        if subject.facts is None or not ended:
            self._shown, self.attempt = None, 0
            self.set_lines([plain(_no_diff(subject), "dim")])
            return
        self._turned = max(0, min(self._turned, len(ended) - 1))
        session = ended[-1 - self._turned]
        self.attempt = session.attempt
        wanted = (str(subject.task), session.attempt, session.ended_at)
        if wanted != self._shown:
            self._shown = wanted
            self.set_lines([plain("reading the change …", "dim")])
            self.run_worker(
                lambda: self._read_diff(wanted), thread=True, exclusive=True, group="diff"
            )
        else:
            self._draw(subject)

    def _read_diff(self, wanted: tuple[str, int, str | None]) -> None:
        task, attempt, _ = wanted
        done = self._read(("diff", "--color=never", f"--attempt={attempt}", "--", task))
        self.app.call_from_thread(self._took, wanted, done)

    def _took(self, wanted: tuple[str, int, str | None], done: CommandOutput) -> None:
        if wanted == self._shown:
            if done.code:
                said = done.stderr.decode("utf-8", "replace")
                self.set_lines(panes.paragraphs(said, style="yellow"))
                return
            self._diff = read_diff(done.stdout.decode("utf-8", "replace"))
            self._draw(self.app.subject)  # type: ignore[attr-defined]

    def _draw(self, subject: Subject) -> None:
        if subject.facts is None:
            return
        comments = [
            one
            for one in subject.facts.comments
            if one.about == subject.task and one.attempt == self.attempt
        ]
        lines = list(diff_lines(self._diff, comments))
        self.set_lines(lines or [plain("This attempt has changed nothing.", "dim")])

    def turn(self, subject: Subject, way: int) -> None:
        self._turned -= way
        self.show(subject)

    def note(self) -> str:
        return (
            f"attempt {self.attempt} ({self._of - self._turned} of {self._of})"
            if self.attempt
            else ""
        )


def _no_diff(subject: Subject) -> str:
    if subject.facts is None:
        return "Select a task to see what it has changed."
    if subject.facts.children:
        return "The tasks below it make its changes."
    return "No attempt at it has ended yet, so it has changed nothing."


class LogTab(Tab):
    """All that a session said, page by page; of the project, what has happened."""

    name_ = "log"

    def __init__(self, view: ProjectView) -> None:
        super().__init__(view)
        self._pages: LogPages | None = None
        self._logs: list[tuple[str, str]] = []
        self._turned = 0
        self._of_task: str | None = None

    def show(self, subject: Subject) -> None:
        if subject.task != self._of_task:
            self._of_task, self._turned, self._pages = subject.task, 0, None
        self._logs = [
            (f"attempt {one.session.attempt}, {each.name}", each.log)
            for one in subject.attempts
            for each in logs_of(one)
            if each.log
        ]
        if subject.facts is None:
            self._show_feed(subject)
        elif not self._logs:
            self.set_lines([plain("No session has worked on it yet, so there is no log.", "dim")])
        else:
            self._turned = max(0, min(self._turned, len(self._logs) - 1))
            path = self._path(self._logs[-1 - self._turned][1])
            if self._pages is None or self._pages.log != path:
                self._pages = LogPages(path)
                self._pages.to_end()
                self._draw(at_end=True)
            self.beat()

    def _show_feed(self, subject: Subject) -> None:
        items = self._view.feed(max(0, subject.state.seq - FEED), FEED).items
        lines = list(panes.feed_lines(items, subject.now))
        follows = self.is_at_end
        self.set_lines(lines or [plain("Nothing has happened yet.", "dim")], at_end=follows)

    def beat(self) -> None:
        if self._pages is not None and self.is_at_end and self._pages.has_grown():
            self._go(1, follows=True)

    def _draw(self, *, at_end: bool = False) -> None:
        assert self._pages is not None
        nothing = [plain("The session has said nothing, or its log was removed.", "dim")]
        self.set_lines(self._pages.lines() or nothing, at_end=at_end)

    @on(LineView.AtEdge)
    def at_edge(self, event: LineView.AtEdge) -> None:
        """A person goes on beyond what is in memory."""
        event.stop()
        if self._pages is None:
            return
        if abs(event.way) > 1:
            (self._pages.to_start if event.way < 0 else self._pages.to_end)()
            self._draw(at_end=event.way > 0)
        else:
            self._go(event.way)

    def _go(self, way: int, *, follows: bool = False) -> None:
        """Take a page more; what is in sight stays where it is."""
        if self._pages is None:
            return
        top = self.line_at(self.scroll_offset.y)
        moved = self._pages.forward() if way > 0 else self._pages.backward()
        if moved is not None:
            self._draw(at_end=follows)
            if not follows:
                self.show_line(top - moved if way > 0 else top + moved)

    def find_next(self, text: str, way: int = 1) -> bool:
        """Also in what is not in memory; from the end it goes on at the beginning."""
        if super().find_next(text, way):
            return True
        if self._pages is None or not self._pages.find(text, way):
            return False
        self._draw()
        self.show_line(0)
        return super().find_next(text, 1)

    def turn(self, subject: Subject, way: int) -> None:
        self._turned, self._pages = self._turned - way, None
        self.show(subject)

    def note(self) -> str:
        if not self._logs:
            return ""
        name, _ = self._logs[-1 - self._turned]
        return f"{name} ({len(self._logs) - self._turned} of {len(self._logs)})"


class CostsTab(Tab):
    name_ = "costs"

    def show(self, subject: Subject) -> None:
        if subject.facts is not None:
            self.set_lines(panes.attempt_costs(subject.facts, subject.attempts))
            return
        costs = self._view.store.costs
        tables = {
            by.value: costs.sums(by, CostFilter(), SUMS)
            for by in (CostGrouping.AGENT, CostGrouping.MODEL, CostGrouping.DAY, CostGrouping.RUN)
        }
        self.set_lines(panes.cost_lines(subject.state.spending, tables))
