"""What the tree of tasks on a screen shows, level by level, whatever the store."""

from ralph.core.ids import TaskId
from ralph.core.task import TaskStatus
from ralph.store.store import Store
from ralph.ui.project_view import ProjectView
from tests.contracts.store_test_helpers import add, begin
from tests.contracts.view_contract import ViewTests


class TreeContract(ViewTests):
    def test_a_level_of_the_tree_shows_what_is_below_its_parents(
        self, store: Store, view: ProjectView
    ) -> None:
        begin(store)
        parent, single = add(store, "p"), add(store, "s", priority=-1)
        add(store, "p1", under=parent)
        add(store, "p2", under=parent)
        store.tasks.force_done(TaskId("t-p1"))
        planning = add(store, "plan")
        store.tasks.set_planning({planning: "ralph feature plan"})
        assert [(one.id, one.status, one.children) for one in view.branch()] == [
            (parent, TaskStatus.IN_PROGRESS, 2),
            (single, TaskStatus.PENDING, 0),
        ]
        assert [one.name for one in view.branch(parent)] == ["t-p1", "t-p2"]
        assert [one.name for one in view.branch(parent, open_only=True)] == ["t-p2"]
        assert [one.id for one in view.branch(limit=1)] == [parent]

    def test_tasks_are_found_by_a_part_of_their_title_or_name(
        self, store: Store, view: ProjectView
    ) -> None:
        add(store, "a", alias="US-007")
        for name in ("b_100%", "c"):
            add(store, name)
        for text, found in (("us-0", ["US-007"]), ("_100%", ["t-b_100%"]), ("%", ["t-b_100%"])):
            assert [one.name for one in view.branch(text=text)] == found
        assert len(view.branch(text="t-")) == 3
        assert view.branch(text="t-", limit=2) == view.branch(text="t-")[:2]
        assert view.branch(text="!") == []
