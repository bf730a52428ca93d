"""`ralph watch`: a tree of tasks on the left, tabs about the selected one on the right.

It reads the store and the logs, so it may come and go beside a run. What its keys do are commands
of Ralph, run in processes of their own, as on the web page.
"""

import shlex
import time
from collections.abc import Callable
from typing import Any, ClassVar, Final
from urllib.parse import quote

from rich.text import Text
from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Click
from textual.widget import Widget
from textual.widgets import ContentSwitcher, Footer, Input, Static

from ralph.core.ids import TaskId
from ralph.core.review_thread import LineRange
from ralph.core.safe_text import multi_line
from ralph.ports.executor import CommandOutput
from ralph.store.runs import Run
from ralph.ui.followed_project import FollowedProject
from ralph.ui.needs import Need, NeedAction
from ralph.ui.project_view import ProjectView
from ralph.ui.watch.dialogs import AskText, Choose, Help
from ralph.ui.watch.diff_lines import DiffRange, range_of
from ralph.ui.watch.header import header
from ralph.ui.watch.keys import help_text
from ralph.ui.watch.line_view import LineView
from ralph.ui.watch.subject import Subject, read_subject
from ralph.ui.watch.tabs import CostsTab, DiffTab, EvidenceTab, Live, LogTab, Tab
from ralph.ui.watch.task_tree import Home, More, OfTask, TaskTree
from ralph.ui.web.writes import CommandLine, command_of

BEAT_S: Final = 0.25
LOOK_BEATS: Final = 2
"""After so many the store is asked whether something has happened."""
REFRESH_BEATS: Final = 8
"""After so many the state is read though nothing has: a run may have died, and time goes by."""
NOTICE_BEATS: Final = 40
TALL: Final = 30
"""Lines of a window in which there is room for empty ones."""
ACTIONS: Final = {
    "p": "pause",
    "r": "retry",
    "s": "skip",
    "i": "inject",
    "c": "comment",
    "a": "answer",
    "slash": "search",
    "question_mark": "help",
    "q": "leave",
}
MOVES: Final = {
    **{str(at + 1): f"tab({at})" for at in range(5)},
    "tab,shift+tab": "switch",
    "o": "open_only",
    "z": "zoom",
    "n": "found(1)",
    "N": "found(-1)",
    "left_square_bracket": "turn(-1)",
    "right_square_bracket": "turn(1)",
}
LETTERS: Final = {one.partition("(")[0] for one in (*ACTIONS.values(), *MOVES.values())}
STARTS: Final = (NeedAction.RUN, NeedAction.APPROVE)
"""Answers that start a run."""
RunRalph = Callable[[tuple[str, ...], bytes], CommandOutput]
StartRalph = Callable[[tuple[str, ...]], CommandOutput]


class WatchApp(App[None]):
    """The terminal view."""

    CSS_PATH = "watch.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority: keys that were typed ahead go where the ones before them lead.
        *(Binding(key, action, action, priority=True) for key, action in ACTIONS.items()),
        *(Binding(key, what, show=False, priority=True) for key, what in MOVES.items()),
        Binding("right,l,enter", "inward", show=False),
        Binding("left,h", "outward", show=False),
        Binding("escape", "return", show=False),
        Binding("ctrl+c", "quit", show=False),
        Binding("ctrl+z", "suspend_process", show=False),
    ]

    def __init__(
        self,
        view: ProjectView,
        run_ralph: RunRalph,
        start_ralph: StartRalph,
        *,
        project: str,
        run: Run | None = None,
        task: TaskId | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(ansi_color=True)  # the terminal's own colours, light or dark
        self.theme = "ansi-dark"
        self._view, self._now = view, now
        self._run_ralph, self._start_ralph = run_ralph, start_ralph
        self._project, self._run = project, run
        self._followed = FollowedProject(view, now)
        self._tree = TaskTree(view, run.id if run is not None else None)
        self._state = self._followed.refreshed()
        self.subject = Subject(state=self._state, now=now())
        self._start_at = task
        self._beats = self._notice_until = 0
        self._find = ""
        self._tabs: tuple[Tab, ...] = (
            Live(view),
            EvidenceTab(view),
            DiffTab(view, lambda words: run_ralph(words, b"")),
            LogTab(view),
            CostsTab(view),
        )
        self._tab: Tab = self._tabs[0]
        self._left = LineView(id="tree", has_cursor=True, wraps=False)
        self._head, self._notice, self._bar = (
            Static(id="head"),
            Static(id="notice"),
            Static(id="tabs"),
        )
        self._title, self._search = Static(id="subject"), Input(id="search", compact=True)

    def compose(self) -> ComposeResult:
        yield self._head
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield self._left
            with Vertical(id="right"):
                yield self._bar
                yield self._title
                with ContentSwitcher(initial=self._tabs[0].id, id="pages"):
                    yield from self._tabs
        yield self._notice
        yield self._search
        yield Footer(compact=True)

    def on_mount(self) -> None:
        self._focus(self._left)
        self._draw()
        if self._start_at is not None:
            self._go_to(self._start_at)
        self.set_interval(BEAT_S, self.beat)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """In a dialog, and where a text is typed, letters are letters."""
        del parameters
        is_text = isinstance(self.focused, Input) or self.screen.is_modal
        return not (is_text and action in LETTERS)

    # What is shown

    def beat(self) -> None:
        """Show what came since."""
        if not self._left.is_attached:
            return  # it is being closed
        self._beats += 1
        self._tab.beat()
        if self._beats % LOOK_BEATS == 0:
            seq = self._view.store.events.last_seq()
            if seq != self._state.seq or self._beats % REFRESH_BEATS == 0:
                self.look()
        if self._beats == self._notice_until:
            self._notice.display = False

    def look(self) -> None:
        """Read the state of the project again, and show it."""
        self._state = self._followed.refreshed()
        self._draw()

    def _draw(self) -> None:
        self._draw_tree()
        self._draw_subject()
        width = self.size.width - 2
        run = self._run and self._view.store.runs.get(self._run.id)
        head = header(self._state, self._project, run, width, self._now())
        self._head.update(head)

    def _draw_tree(self) -> None:
        width = self._left.scrollable_content_region.width or 30
        self._left.set_lines(self._tree.lines(self._state, width))

    def _draw_subject(self) -> None:
        key: Any = self._left.key
        self.subject = read_subject(self._view, self._state, key, self._now())
        self._tab.show(self.subject)
        self._draw_titles()

    def _draw_titles(self) -> None:
        names = Text()
        for at, tab in enumerate(self._tabs):
            style = "bold reverse" if tab is self._tab else ""
            name = Text.assemble((f" {at + 1} ", f"dim {style}"), (f"{tab.name_} ", style))
            names.append_text(name).append(" ")
        self._bar.update(names)
        more = " · ".join(filter(None, (self._tab.note(), self.subject.summary)))
        title = Text.assemble((self.subject.title, "bold"), (f"\n{more}" if more else "", "dim"))
        self._title.update(title)

    @on(LineView.Moved, "#tree")
    def selected(self, event: LineView.Moved) -> None:
        """Another row of the tree."""
        event.stop()
        self._draw_subject()

    def on_resize(self) -> None:
        self.set_class(self.size.height >= TALL, "tall")
        self.call_after_refresh(self._draw)

    @on(Click, "#tabs")
    def clicked_tab(self, event: Click) -> None:
        """By its place: each has its number, its name and spaces."""
        left = 0
        for at, tab in enumerate(self._tabs):
            left += len(tab.name_) + 5
            if event.x < left:
                self.action_tab(at)
                return

    # Moving about

    def _go_to(self, task: TaskId) -> None:
        """Select a task, wherever it is in the tree."""
        above = self._view.store.tasks.find(task).parent_id
        while above is not None:
            self._tree.toggle(above, is_open=True)
            above = self._view.store.tasks.find(above).parent_id
        self._draw_tree()
        self._left.move_to(OfTask(task))
        if self._left.key != OfTask(task):
            # Too far down to be read.
            self._tree.text = task
            self._draw_tree()
            self._left.move_to(OfTask(task))

    def action_tab(self, at: int) -> None:
        self._tab = self._tabs[at]
        self.query_one("#pages", ContentSwitcher).current = self._tab.id
        self._draw_subject()
        if self.focused is not self._left:
            self._focus(self._tab)

    def _focus(self, widget: Widget) -> None:
        """At once: the next key may be typed already."""
        self.screen.set_focus(widget)

    def action_switch(self) -> None:
        self._focus(self._tab if self.focused is self._left else self._left)

    def action_inward(self) -> None:
        key = self._left.key
        if self.focused is not self._left:
            return
        if isinstance(key, More):
            self._tree.load_more(key.parent)
            self._draw_tree()
        elif isinstance(key, OfTask) and self._is_branch(key) and not self._tree.is_open(key.task):
            self._tree.toggle(key.task, is_open=True)
            self._draw_tree()
        else:
            self._focus(self._tab)

    def _is_branch(self, key: OfTask) -> bool:
        facts = self.subject.facts
        return not key.section and facts is not None and bool(facts.children)

    def action_outward(self) -> None:
        key = self._left.key
        if self.focused is not self._left:
            self.remove_class("wide")
            self._focus(self._left)
        elif isinstance(key, OfTask) and self._tree.is_open(key.task):
            self._tree.toggle(key.task, is_open=False)
            self._draw_tree()
        elif isinstance(key, OfTask) and key.task in self._tree.parents:
            self._left.move_to(OfTask(self._tree.parents[key.task]))

    def action_return(self) -> None:
        """From a search to all tasks, from the tabs to the tree."""
        if self._search.display:
            self._end_search()
        elif self.focused is self._left and self._tree.text:
            self._tree.text = ""
            self._draw_tree()
        elif self.focused is not self._left:
            self._tab.find = ""
            self.action_outward()

    def action_zoom(self) -> None:
        self.toggle_class("wide")
        self._focus(self._tab)
        self.call_after_refresh(self._draw)

    def action_open_only(self) -> None:
        self._tree.open_only = not self._tree.open_only
        self._draw_tree()

    def action_turn(self, way: int) -> None:
        self._tab.turn(self.subject, way)
        self._draw_titles()

    # Searching

    def action_search(self) -> None:
        bar = self._search
        in_tree = self.focused is self._left
        bar.placeholder = "tasks with …" if in_tree else f"find in {self._tab.name_}"
        bar.value = self._tree.text if in_tree else self._find
        bar.set_class(in_tree, "in-tree")
        bar.display = True
        self._focus(bar)

    @on(Input.Changed, "#search")
    def typed(self, event: Input.Changed) -> None:
        if event.input.has_class("in-tree") and event.input.display:
            self._tree.text = event.value.strip()
            self._draw_tree()
            found = (line.key for line in self._left.lines if isinstance(line.key, OfTask))
            self._left.move_to(next(found, Home()))

    @on(Input.Submitted, "#search")
    def submitted(self, event: Input.Submitted) -> None:
        in_tree = event.input.has_class("in-tree")
        self._end_search()
        if not in_tree:
            self._find = event.value.strip()
            self.action_found(1)

    def _end_search(self) -> None:
        bar = self._search
        bar.display = False
        self._focus(self._left if bar.has_class("in-tree") else self._tab)

    def action_found(self, way: int) -> None:
        if self._find and not self._tab.find_next(self._find, way):
            self._say(f"{self._find}: not found" if way > 0 else f"{self._find}: not found before")

    # Acting: each of these is a command of Ralph

    def action_pause(self) -> None:
        is_held = self._state.state == "pausing" or self._state.wait is not None
        self._do({"do": "resume" if is_held else "pause"})

    def action_retry(self) -> None:
        if (task := self._needed_task("retry")) is not None:
            self._do({"do": "retry", "task": task})

    def action_skip(self) -> None:
        if (task := self._needed_task("skip")) is not None:
            dialog = AskText(
                f"Skip {self.subject.title}", "why; may be empty", keys="enter skips it"
            )
            self.push_screen(dialog, lambda reason: self._skip(task, reason))

    def _skip(self, task: str, reason: str | None) -> None:
        if reason is not None:
            self._do({"do": "skip", "task": task, "reason": reason})

    def action_inject(self) -> None:
        task = self.subject.task
        whose = self.subject.title if task else "whichever task comes next"
        dialog = AskText("Tell the next session", f"of {whose}", keys="enter sends it")
        self.push_screen(dialog, lambda text: self._inject(task, text))

    def _inject(self, task: str | None, text: str | None) -> None:
        if text:
            self._do({"do": "inject", "message": text} | ({"task": task} if task else {}))

    def action_comment(self) -> None:
        diff = self._tabs[2]
        assert isinstance(diff, DiffTab)
        lines = range_of(diff.selected)
        if self._tab is not diff or self.focused is not diff:
            self.action_tab(2)
            self._focus(diff)
            self._say("choose lines with the arrows (shift selects more), then press c")
        elif lines is None or self.subject.task is None:
            self._say("there is no line to comment on")
        else:
            task, attempt = self.subject.task, diff.attempt
            where = LineRange(path=lines.path, first=lines.first, last=lines.last)
            dialog = AskText("Comment", f"on {where}", keys="enter adds it")
            self.push_screen(dialog, lambda text: self._comment(task, attempt, lines, text))

    def _comment(self, task: str, attempt: int, lines: DiffRange, text: str | None) -> None:
        if text:
            about = {"path": quote(lines.path), "side": lines.side, "text": text}
            numbers = {"first": str(lines.first), "last": str(lines.last)}
            where = {"task": task, "attempt": str(attempt)}
            self._do({"do": "comment"} | where | about | numbers)

    def action_answer(self) -> None:
        need = self.subject.need or self._need_of_task()
        if need is None or not need.answers:
            self._say("nothing about this needs you")
            return
        options = [one.command for one in need.answers]
        dialog = Choose(f"{need.subject} {need.title}".strip(), need.reason, options)
        self.push_screen(dialog, lambda chosen: self._answer(need, chosen))

    def _need_of_task(self) -> Need | None:
        task = self.subject.task
        return next((one for one in self._state.needs if task and one.task_id == task), None)

    def _answer(self, need: Need, chosen: int | None) -> None:
        if chosen is None:
            return
        answer = need.answers[chosen]
        if answer.action is NeedAction.LOOK and need.task_id is not None:
            self.action_tab(1)
            self._focus(self._tab)
        elif answer.action is NeedAction.MERGE:
            self._say(f"in a shell: {answer.command}", lasts=True)
        else:
            words = tuple(shlex.split(answer.command))[1:]
            self._run_command(CommandLine(words, is_run=answer.action in STARTS))

    def _needed_task(self, verb: str) -> str | None:
        if self.subject.task is None:
            self._say(f"select a task to {verb}")
        return self.subject.task

    def _do(self, fields: dict[str, str]) -> None:
        self._run_command(command_of(fields))

    def _run_command(self, command: CommandLine) -> None:
        self._say(f"ralph {' '.join(command.words[:2])} …", lasts=True)
        self._run_in_thread(command)

    @work(thread=True, group="commands")
    def _run_in_thread(self, command: CommandLine) -> None:
        if command.is_run:
            done = self._start_ralph(command.words)
        else:
            done = self._run_ralph(command.words, command.stdin)
        self.call_from_thread(self._told, done)

    def _told(self, done: CommandOutput) -> None:
        """What the command printed; a refusal with its way out."""
        said = done.stderr if done.code else done.stdout + done.stderr
        text = multi_line(said.decode("utf-8", "replace").strip()) or "done"
        self._say(text, "red" if done.code else "green")
        self.look()

    def _say(self, text: str, style: str = "", *, lasts: bool = False) -> None:
        self._notice.update(Text(text, style))
        self._notice.display = True
        self._notice_until = -1 if lasts else self._beats + NOTICE_BEATS

    def action_leave(self) -> None:
        self.exit()

    def action_help(self) -> None:
        self.push_screen(Help(help_text()))

    def _fatal_error(self) -> None:
        """The caller reports it, as for every command."""
        self._close_messages_no_wait()

    @property
    def failure(self) -> Exception | None:
        """Why it ended, if something went wrong."""
        return self._exception
