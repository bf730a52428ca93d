"""The rows on the left: what needs you, what is at work, and all tasks as a tree."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from rich.text import Text

from ralph.core.ids import RunId, TaskId
from ralph.core.safe_text import one_line
from ralph.core.task import Task, TaskStatus
from ralph.store.screens import GraphNode
from ralph.ui.formatting import fit, text_width
from ralph.ui.needs import Need
from ralph.ui.project_view import Overview, ProjectView, TaskInProgress
from ralph.ui.watch.line_view import Line

PAGE: Final = 200
"""Rows of one level; the last row asks for more."""
DEEPEST: Final = 30
NAMED: Final = 44
"""A row this wide also has the id of a task without an alias."""
MARKS: Final = {
    TaskStatus.DONE: ("✓", "green"),
    TaskStatus.IN_PROGRESS: ("●", "cyan"),
    TaskStatus.PENDING: ("·", "dim"),
    TaskStatus.BLOCKED: ("‖", "yellow"),
    TaskStatus.FAILED: ("✗", "red"),
}


class Home(NamedTuple):
    """The project as a whole."""


class OfNeed(NamedTuple):
    """Something that needs a person."""

    kind: str
    subject: str
    finding: str


class OfTask(NamedTuple):
    """A task, in one of the sections or in the tree."""

    task: TaskId
    section: str = ""


class More(NamedTuple):
    """The rest of a level."""

    parent: TaskId | None


Key = Home | OfNeed | OfTask | More


def key_of_need(need: Need) -> OfNeed:
    return OfNeed(need.kind.value, need.subject, need.finding)


class TaskTree:
    """Which branches are open, what is left out, and the rows that follow from it."""

    def __init__(self, view: ProjectView, run: RunId | None = None) -> None:
        self._view = view
        self._run = run
        """Only the tasks that this run worked on."""
        self._open: set[TaskId] = set()
        self._pages: dict[TaskId | None, int] = {}
        self.parents: dict[TaskId, TaskId] = {}
        """Of the tasks that are shown."""
        self.open_only = False
        self.text = ""
        """Only tasks with this in their title or name."""

    def toggle(self, task: TaskId, *, is_open: bool | None = None) -> None:
        wanted = task not in self._open if is_open is None else is_open
        (self._open.add if wanted else self._open.discard)(task)

    def is_open(self, task: TaskId) -> bool:
        return task in self._open

    def load_more(self, parent: TaskId | None) -> None:
        self._pages[parent] = self._pages.get(parent, 1) + 1

    def lines(self, state: Overview, width: int) -> list[Line]:
        return list(self._lines(state, width))

    def _lines(self, state: Overview, width: int) -> Iterator[Line]:
        self.parents = {}
        yield Line(Text(fit("Overview", width), "bold"), Home())
        if not self.text:
            if state.needs:
                yield _heading(f"Needs you ({len(state.needs)})", "yellow")
                yield from (_need(one, width) for one in state.needs)
            if state.working:
                yield _heading(f"At work ({len(state.working)})", "cyan")
                yield from (_at_work(one, width) for one in state.working)
        yield _heading(self._title(state))
        yield from self._tasks(width)

    def _title(self, state: Overview) -> str:
        if self.text:
            return f"Tasks like {one_line(self.text, 30)}"
        if self._run is not None:
            return "Tasks of this run"
        what = "Open tasks" if self.open_only else "Tasks"
        return f"{what} ({state.counts.done}/{state.counts.total} done)"

    def _tasks(self, width: int) -> Iterator[Line]:
        if self._run is not None and not self.text:
            statuses = frozenset(TaskStatus) - ({TaskStatus.DONE} if self.open_only else set())
            tasks = self._view.store.screens.run_tasks(self._run, statuses, PAGE)
            found = [_node(task) for task in tasks]
        else:
            found = self._level(None)
        if not found:
            yield Line(Text(self._nothing(), "dim"))
        yield from self._branch(found, None, 0, width)

    def _nothing(self) -> str:
        if self.text:
            return "  none; esc shows all"
        if self.open_only:
            return "  none; o shows all"
        return "  none yet"

    def _level(self, parent: TaskId | None) -> list[GraphNode]:
        return self._view.branch(
            parent,
            text=self.text if parent is None else "",
            open_only=self.open_only,
            limit=self._pages.get(parent, 1) * PAGE + 1,
        )

    def _branch(
        self, nodes: Sequence[GraphNode], parent: TaskId | None, depth: int, width: int
    ) -> Iterator[Line]:
        most = self._pages.get(parent, 1) * PAGE
        for node in nodes[:most]:
            if parent is not None:
                self.parents[node.id] = parent
            is_open = node.children > 0 and node.id in self._open
            yield _task(node, depth, width, is_open=is_open)
            if is_open:
                yield from self._branch(self._level(node.id), node.id, depth + 1, width)
        if len(nodes) > most:
            yield Line(Text(f"{_indent(depth)}  … more: enter", "dim"), More(parent))


def _node(task: Task) -> GraphNode:
    return GraphNode(
        id=task.id, name=task.name, title=task.title, status=task.status, attempt=task.attempt
    )


def _heading(text: str, style: str = "") -> Line:
    return Line(Text(text, f"bold {style}"))


def _need(need: Need, width: int) -> Line:
    text = Text("  ! ", "yellow")
    words = f"{need.subject} {need.title or need.reason}"
    text.append(fit(one_line(words, 200), width - 4), "default")
    return Line(text, key_of_need(need))


def _at_work(one: TaskInProgress, width: int) -> Line:
    mark, style = MARKS[TaskStatus.IN_PROGRESS]
    if one.is_stale:
        mark, style = "?", "yellow"
    took = "" if one.elapsed_s is None else _short(one.elapsed_s)
    text = Text(f"  {mark} ", style)
    alias = one.task.name if one.task.name != one.task.id else ""
    _add_title(text, alias, one.task.title, took, width)
    return Line(text, OfTask(one.task.id, "at work"))


def _short(seconds: float) -> str:
    """`12s`, `3m`, `1h05`"""
    minutes = int(seconds // 60)
    if not minutes:
        return f"{seconds:.0f}s"
    return f"{minutes}m" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02}"


def _task(node: GraphNode, depth: int, width: int, *, is_open: bool) -> Line:
    twist = ("▾" if is_open else "▸") if node.children else " "
    mark, style = MARKS[node.status]
    text = Text.assemble(f"{_indent(depth)}{twist} ", (mark, style), " ")
    facts = node.id if width >= NAMED and node.name == node.id else ""
    _add_title(text, node.name if node.name != node.id else "", node.title, facts, width)
    return Line(text, OfTask(node.id))


def _indent(depth: int) -> str:
    return "  " * min(depth, DEEPEST)


def _add_title(text: Text, alias: str, title: str, facts: str, width: int) -> None:
    """The title, with its alias before it and facts at the right edge."""
    alias = f"{one_line(alias, 20)} " if alias else ""
    room = width - text.cell_len - text_width(alias) - (text_width(facts) + 1 if facts else 0)
    text.append(alias, "bold")
    text.append(fit(one_line(title, 300), max(4, room)), "default")
    if facts:
        text.append(f" {facts}", "dim")
