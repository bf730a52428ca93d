"""What a report says of a run, and that nothing that an agent wrote takes effect in it."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from ralph.core.cost import CostSummary, session_cost
from ralph.core.events import Warned
from ralph.core.gates import GateResult
from ralph.core.ids import TaskId
from ralph.core.run import RunOutcome
from ralph.core.safe_text import one_line
from ralph.core.settings import BreakerSection, BudgetSection
from ralph.core.task import TaskStatus
from ralph.core.transitions import GaveUp, Rejected
from ralph.ports.workspace import FileChange
from ralph.store.claims import Counts
from ralph.store.screens import GraphCluster, GraphNode, SessionBar
from ralph.store.store import Store
from ralph.ui.gantt_svg import gantt_svg
from ralph.ui.graph_svg import ROWS, graph_svg
from ralph.ui.project_view import Graph, ProjectView
from ralph.ui.report import Report, read_report, report_markdown
from ralph.ui.report_html import report_html
from tests.contracts.store_test_helpers import RUN, add, begin
from tests.contracts.view_contract import attempt
from tests.doubles.clock import FrozenClock
from tests.stores import memory_store

GREEN = GateResult(name="test", passed=True, code=0)
RED = GateResult(name="test", passed=False, code=1)
EVIL = (
    '"><script>alert(1)</script> [x](javascript:alert(1)) `x` \x1b[31m \u202e <img src=x onerror=y>'
)


class Commits:
    """A `ChangeReader` of a repository that has every commit."""

    def __init__(self, diff: str = "diff --git a/x b/x\n+one\n-two\n") -> None:
        self.diff = diff

    def on_branches(self, commits: Sequence[str], since: str) -> set[str]:
        assert since
        return set(commits)

    def stat(self, commits: Sequence[str]) -> list[FileChange]:
        return [FileChange(path=EVIL, added=len(commits), removed=1)]

    def patch(self, commits: Sequence[str]) -> str:
        return self.diff if commits else ""

    def between(self, start: str, end: str) -> str:
        return self.diff if start != end else ""

    def text_of(self, at: str, path: str) -> str | None:
        raise AssertionError(f"no report needs {path} of {at}")


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def store(clock: FrozenClock) -> Store:
    store = memory_store(clock)
    begin(store)
    return store


def read(
    store: Store, clock: FrozenClock, name: str | None = None, *, is_alive: bool = True
) -> Report:
    view = ProjectView(
        store,
        "/x",
        is_alive=lambda _: is_alive,
        now=clock.now,
        budget=BudgetSection(),
        breaker=BreakerSection(),
    )
    return read_report(view, name, Commits(), clock.now())


def markdown(report: Report, clock: FrozenClock) -> str:
    return "\n".join(report_markdown(report, clock.now()))


def test_a_report_says_what_is_done_and_what_proves_it(store: Store, clock: FrozenClock) -> None:
    add(store, "a")
    attempt(store, clock, Rejected("red"), gates=(RED,))
    attempt(store, clock, gates=(GREEN,))
    shown = markdown(read(store, clock), clock)
    assert shown.startswith(f"# Run {RUN}: at work\n\n**Asked:** all tasks\n")
    assert "- tasks of this run: 1 done\n" in shown
    assert "- **t-a** a (2 attempts, 2m 00s, $1.00, scripted)" in shown
    assert "claim passed; change passed: 1 commit; gates passed: test; merge passed" in shown
    assert "1 file, 1 line added, 1 removed" in shown
    assert shown.endswith("## Next\n\n    git log --notes='ralph*' -1\n    ralph watch")


@pytest.mark.parametrize(
    ("spent", "said"),
    [
        (CostSummary(), "no cost"),
        (session_cost(0.5), "cost $0.50"),
        (session_cost(None), "cost unknown"),
        (session_cost(0.5) + session_cost(None), "cost $0.50 and 1 session of unknown cost"),
    ],
    ids=str,
)
def test_a_report_says_what_it_cost_as_far_as_that_is_known(
    store: Store, clock: FrozenClock, spent: CostSummary, said: str
) -> None:
    report = replace(read(store, clock), spent=spent)
    assert f"- {said}\n" in markdown(report, clock)


def test_a_report_says_what_failed_and_which_command_answers_it(
    store: Store, clock: FrozenClock
) -> None:
    add(store, "a")
    attempt(store, clock, GaveUp("there is no API"))
    report = read(store, clock)
    assert [one.id for one in report.failed] == ["t-a"]
    shown = markdown(report, clock)
    assert (
        "## Failed\n\n- **t-a** a (1 attempt, 1m 00s, $0.50, scripted)\n  there is no API" in shown
    )
    assert "- failed: **t-a** a: there is no API\n  - `ralph logs t-a`" in shown
    assert "## Done" not in shown


def test_a_report_advises_to_run_only_where_something_is_left_for_a_run(
    store: Store, clock: FrozenClock
) -> None:
    add(store, "a")
    attempt(store, clock, GaveUp("there is no API"))
    assert read(store, clock, is_alive=False).next == ("ralph logs t-a",)
    add(store, "b")
    assert read(store, clock, is_alive=False).next == ("ralph logs t-a", "ralph run")
    assert read(store, clock).next == ("ralph logs t-a", "ralph watch")


def test_work_that_a_person_marked_done_is_not_called_proved(
    store: Store, clock: FrozenClock
) -> None:
    a = add(store, "a")
    attempt(store, clock, Rejected("red"), gates=(RED,))
    store.tasks.force_done(a)
    shown = markdown(read(store, clock), clock)
    assert "marked done by a person; Ralph accepted no attempt" in shown
    assert "passed" not in shown


def test_what_a_session_says_of_itself_is_not_in_the_report(
    store: Store, clock: FrozenClock
) -> None:
    add(store, "a")
    attempt(store, clock, message="Everything is perfect, grade A+")
    report = read(store, clock)
    assert "perfect" not in markdown(report, clock)
    assert "perfect" not in report_html(report, Commits(), clock.now())


def test_an_agents_markup_takes_no_effect(store: Store, clock: FrozenClock) -> None:
    add(store, "a", description=EVIL)
    attempt(store, clock, GaveUp(EVIL))
    page = report_html(read(store, clock), Commits(f"+{EVIL}"), clock.now())
    assert "<script" not in page
    assert "<img" not in page
    assert re.findall(r'\s(?:href|src|on\w+)="', page) == []
    assert "\x1b" not in page
    assert "\u202e" not in page
    shown = markdown(read(store, clock), clock)
    assert "\\<script\\>" in shown
    assert "\\[x\\]" in shown
    assert one_line(shown.replace("\n", " ")).isprintable()


def test_the_page_allows_no_script_and_loads_nothing(store: Store, clock: FrozenClock) -> None:
    add(store, "a")
    attempt(store, clock)
    page = report_html(read(store, clock), Commits(), clock.now())
    assert "default-src 'none'" in page
    assert '<span class="add">+one</span><span class="del">-two</span>' in page
    assert page.count("<svg ") == 2, "the chart and the graph"
    assert page.endswith("</html>\n")


def test_too_many_diffs_are_left_out(
    store: Store, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ralph.ui.report_html.MOST_DIFF_CHARS", 10)
    for number in range(2):
        add(store, f"{number}", priority=number)
    for _ in range(2):
        attempt(store, clock)
    page = report_html(read(store, clock), Commits(), clock.now())
    assert page.count("<details>") == 1
    assert page.count("The diff is not on this page.") == 1


def test_a_run_that_has_ended_names_its_outcome(store: Store, clock: FrozenClock) -> None:
    store.runs.end(RUN, RunOutcome.COMPLETE, "every task is done", Warned(message="end"))
    shown = markdown(read(store, clock, RUN), clock)
    assert shown.startswith(f"# Run {RUN}: complete (every task is done)")


# Drawings


def a_node(name: str, status: TaskStatus = TaskStatus.PENDING, parent: str = "") -> GraphNode:
    return GraphNode(id=TaskId(name), name=name, title=name, status=status, parent=parent)


def places(svg: str) -> dict[str, tuple[int, int]]:
    """Where each node is, by what it is called."""
    found = {}
    for group in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}g"):
        rect = group.find("{http://www.w3.org/2000/svg}rect")
        title = group.find("{http://www.w3.org/2000/svg}title")
        assert rect is not None
        assert title is not None
        assert title.text
        name = title.text.split(" ")[0]
        found[name] = (int(rect.attrib["x"]), int(rect.attrib["y"]))
    return found


def test_what_must_come_first_is_drawn_further_to_the_left() -> None:
    nodes = [a_node("late"), a_node("top"), a_node("child", parent="top"), a_node("first")]
    nodes += [a_node("grandchild", parent="child"), a_node("free")]
    edges = [("first", "top"), ("top", "late")]
    at = places(graph_svg(Graph(nodes=nodes, edges=edges, total=6)))
    columns = [at[name][0] for name in ("first", "grandchild", "child", "top", "late")]
    assert columns == sorted(set(columns)), "a parent is done after what is below it"
    assert at["free"][0] == at["first"][0]
    assert len(set(at.values())) == 6, "no node covers another"


def test_a_circle_is_drawn_and_does_not_hang() -> None:
    nodes = [a_node("a"), a_node("b")]
    svg = graph_svg(Graph(nodes=nodes, edges=[("a", "b"), ("b", "a")], total=2))
    assert svg.count('class="node') == 2


def test_a_wide_layer_is_drawn_in_columns() -> None:
    nodes = [a_node(f"n{number}") for number in range(ROWS + 1)]
    at = places(graph_svg(Graph(nodes=nodes, total=ROWS + 1)))
    assert len({x for x, _ in at.values()}) == 2
    assert len(set(at.values())) == ROWS + 1


def test_a_cluster_shows_the_status_that_a_person_should_see() -> None:
    counts = Counts(done=3, failed=1)
    clusters = [GraphCluster(key="f-1", name="shop", counts=counts), GraphCluster(key="")]
    svg = graph_svg(Graph(clusters=clusters, total=4), link=lambda key: f"/graph/{key}")
    assert "3 of 4 done, 1 failed" in svg
    assert '<g class="node failed">' in svg
    assert '<a href="/graph/f-1">' in svg


def test_titles_are_text_in_drawings() -> None:
    node = replace(a_node("a"), title=EVIL)
    svg = graph_svg(Graph(nodes=[node], total=1), link=lambda _: EVIL)
    bar = SessionBar(
        slot=EVIL,
        task_id=TaskId("a"),
        name="a",
        title=EVIL,
        attempt=1,
        role="work",
        agent=EVIL,
        started_at="2026-01-01T00:00:00.000000Z",
    )
    for drawing in (svg, gantt_svg([bar], 1_800_000_000.0)):
        tags = {one.tag.rpartition("}")[2] for one in ElementTree.fromstring(drawing).iter()}
        assert tags <= {"svg", "title", "g", "rect", "text", "a", "path", "line"}


def test_bars_are_in_the_row_of_their_worker_and_as_long_as_their_sessions() -> None:
    def a_bar(slot: str, begin: int, end: int, result: str = "accepted") -> SessionBar:
        return SessionBar(
            slot=slot,
            task_id=TaskId("a"),
            name="a",
            title="",
            attempt=1,
            role="work",
            agent="x",
            started_at=f"2026-01-01T00:00:{begin:02}.000000Z",
            ended_at=f"2026-01-01T00:00:{end:02}.000000Z",
            result=result,
        )

    svg = gantt_svg([a_bar("one", 0, 10), a_bar("two", 10, 30, "rejected")], 0.0)
    bars = [
        one.attrib for one in ElementTree.fromstring(svg).iter() if "bar" in one.get("class", "")
    ]
    first, second = bars
    assert first["y"] != second["y"]
    assert float(second["width"]) == pytest.approx(2 * float(first["width"]), abs=0.2)
    assert float(second["x"]) == pytest.approx(float(first["x"]) + float(first["width"]), abs=0.2)
