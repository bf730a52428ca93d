"""What screens show of tasks, of the graph and of runs, whatever the store."""

from ralph.core.events import Warned
from ralph.core.graph import shown_statuses
from ralph.core.ids import RunId, TaskId
from ralph.core.run import RunOutcome
from ralph.core.session_events import SessionRole
from ralph.core.task import TaskDraft, TaskStatus
from ralph.core.transitions import Blocked, Rejected
from ralph.store.store import Store
from ralph.ui.project_view import MOST_NODES, ProjectView
from tests.contracts.store_test_helpers import RUN, add, begin, claim, settle, work
from tests.contracts.view_contract import ViewTests, attempt
from tests.doubles.clock import FrozenClock


class TaskViewContract(ViewTests):
    def test_all_about_a_task(self, store: Store, clock: FrozenClock, view: ProjectView) -> None:
        begin(store)
        top, before = add(store, "top"), add(store, "before")
        a = add(store, "a", under=top, after=[before])
        late = add(store, "late", after=[a])
        store.messages.add_guidance("be brief", a)
        work(store, before)
        attempt(store, clock)
        facts = view.task("t-a")
        assert facts.parent is not None
        assert (facts.parent.id, facts.status) == (top, TaskStatus.DONE)
        assert [one.id for one in facts.blockers] == [before]
        assert [one.id for one in facts.dependents] == [late]
        assert facts.guidance == ["be brief"]
        assert facts.spent.known_usd == 0.5
        assert [one.id for one in view.task("t-top").children] == [a]

    def test_of_many_related_tasks_as_many_are_read_as_are_asked_for(
        self, store: Store, view: ProjectView
    ) -> None:
        top, first = add(store, "top"), add(store, "first")
        parts = [add(store, f"{n}", under=top, after=[first], priority=n) for n in range(3)]
        last = add(store, "last", after=parts)
        assert [one.id for one in view.task(top, related=2).children] == parts[:2]
        assert [one.id for one in view.task(first, related=2).dependents] == parts[:2]
        assert [one.id for one in view.task(last, related=2).blockers] == parts[:2]
        assert len(view.task(top).children) == 3

    def test_a_parent_shows_the_work_below_it(self, store: Store, view: ProjectView) -> None:
        top = add(store, "top")
        middle, other = add(store, "middle", under=top), add(store, "other", under=top)
        low = add(store, "low", under=middle)
        stuck = add(store, "stuck", under=other)

        def shown() -> list[str]:
            tree = store.tasks.subtree(None)
            statuses = {one.id: view.task(one.id).status for one in tree}
            assert statuses == shown_statuses(tree)
            return [statuses[one].value for one in (top, middle, other)]

        assert shown() == ["pending", "pending", "pending"]
        store.tasks.apply(stuck, [Blocked("no key")])
        assert shown() == ["pending", "pending", "pending"]
        begin(store)
        taken = claim(store)
        assert taken.task.id == low
        assert shown() == ["in_progress", "in_progress", "pending"]
        settle(store, taken)
        assert shown() == ["in_progress", "done", "pending"]
        store.tasks.apply(other, [Blocked("no key")])
        assert shown() == ["in_progress", "done", "blocked"]

    def test_the_graph_has_every_task_and_edge(self, store: Store, view: ProjectView) -> None:
        top = add(store, "top")
        a, b = add(store, "a", under=top), add(store, "b", under=top)
        late = add(store, "late", after=[top, a])
        graph = view.graph()
        assert [(one.id, one.parent) for one in graph.nodes] == [
            (top, ""),
            (a, top),
            (b, top),
            (late, ""),
        ]
        assert sorted(graph.edges) == [(a, late), (top, late)]
        assert (graph.clusters, graph.total) == ([], 4)

    def test_a_large_graph_is_clusters_that_can_be_opened(
        self, store: Store, view: ProjectView
    ) -> None:
        one, two = add(store, "one"), add(store, "two")
        half = MOST_NODES // 2
        drafts = [
            TaskDraft(title=f"{parent} {number}", parent_id=parent)
            for parent in (one, two)
            for number in range(half)
        ]
        store.tasks.add_many([*drafts, TaskDraft(title="alone", id=TaskId("t-alone"))])
        store.tasks.link(one, two)
        graph = view.graph()
        assert graph.nodes == []
        assert graph.total == 2 * half + 3
        assert {(each.key, each.name, each.counts.pending) for each in graph.clusters} == {
            (one, "one", half),
            (two, "two", half),
            ("", "", 1),
        }
        assert graph.edges == [(one, two)]
        inside = view.graph(within=one)
        assert len(inside.nodes) == half + 1
        assert {each.parent for each in inside.nodes} == {"", one}
        assert not inside.is_cut
        store.tasks.add_many([TaskDraft(title="x", parent_id=one) for _ in range(half)])
        inside = view.graph(within=one)
        assert (len(inside.nodes), inside.is_cut) == (MOST_NODES, True)

    def test_so_many_parents_are_drawn_by_feature(self, store: Store, view: ProjectView) -> None:
        feature = store.features.add("shop")
        drafts = []
        for number in range(MOST_NODES + 1):
            parent = TaskId(f"t-p{number}")
            drafts.append(TaskDraft(title="p", id=parent, feature_id=feature.id))
            drafts.append(TaskDraft(title="c", parent_id=parent))
        store.tasks.add_many(drafts)
        (cluster,) = view.graph().clusters
        assert (cluster.key, cluster.name) == (feature.id, "shop")
        assert cluster.counts.pending == MOST_NODES + 1

    def test_a_run_is_drawn_as_bars_in_pages(
        self, store: Store, clock: FrozenClock, view: ProjectView
    ) -> None:
        begin(store)
        add(store, "a", priority=1)
        add(store, "b", priority=2)
        attempt(store, clock, checks=((SessionRole.VERIFY, {"passed": False}),))
        attempt(store, clock, Rejected("red"))
        bars = view.bars(RUN)
        assert [(one.name, one.role, one.result) for one in bars] == [
            ("t-a", "work", "accepted"),
            ("t-a", "verify", "rejected"),
            ("t-b", "work", "rejected"),
        ]
        assert bars[0].started_at < (bars[0].ended_at or "")
        assert [*view.bars(RUN, limit=2), *view.bars(RUN, limit=2, offset=2)] == bars

    def test_runs_are_listed_newest_first_with_their_cost(
        self, store: Store, clock: FrozenClock, view: ProjectView
    ) -> None:
        begin(store)
        add(store, "a")
        attempt(store, clock)
        store.runs.end(RUN, RunOutcome.COMPLETE, "", Warned(message="end"))
        begin(store, RunId("run-2"))
        seen = [(one.run.id, one.is_alive, one.spent.known_usd) for one in view.runs()]
        assert seen == [("run-2", True, 0.0), (RUN, False, 0.5)]
