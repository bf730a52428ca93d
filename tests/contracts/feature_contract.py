"""What every store promises about features: their documents, and a status that follows the work."""

import pytest

from ralph.core.errors import NoSuchTask
from ralph.core.events import FeatureChanged
from ralph.core.ids import FeatureId, TaskId
from ralph.core.task import Feature, FeatureStatus, TaskEdit, TaskStatus
from ralph.core.transitions import Accepted, GaveUp, Released, Unblocked
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from tests.contracts.store_test_helpers import Contract, add, claim, settle

DRAFT, PLANNED, READY = FeatureStatus.DRAFT, FeatureStatus.PLANNED, FeatureStatus.READY
RUNNING, DONE, FAILED = FeatureStatus.RUNNING, FeatureStatus.DONE, FeatureStatus.FAILED


def now(store: Store, name: str = "login") -> Feature:
    found = store.features.get(name)
    assert found is not None
    return found


def begun(store: Store, *names: str) -> FeatureId:
    """The feature `login` with a root and tasks below it."""
    feature = store.features.add("login").id
    root = add(store, "root", feature_id=feature)
    for name in names:
        add(store, name, under=root)
    return feature


class FeatureContract(Contract):
    """Documents, statuses, deletion."""

    def test_a_new_feature_is_a_draft_and_planned_with_its_plan(self, store: Store) -> None:
        feature = store.features.add("login")
        assert feature.status is DRAFT
        changed = store.features.set_paths(feature.id, spec_path="spec.md", plan_path=None)
        assert (changed.status, changed.spec_path, changed.plan_path) == (DRAFT, "spec.md", None)
        store.features.set_paths(feature.id, spec_path="spec.md", plan_path="plan.md")
        assert now(store).status is PLANNED
        store.features.set_paths(feature.id, spec_path=None, plan_path=None)
        assert (now(store).status, now(store).spec_path) == (DRAFT, None)

    def test_an_unknown_feature_has_no_documents(self, store: Store) -> None:
        with pytest.raises(NoSuchTask, match="there is no feature f-nobody"):
            store.features.set_paths(FeatureId("f-nobody"), spec_path=None, plan_path=None)

    def test_with_tasks_it_is_ready_and_running_from_the_first_claim_on(self, store: Store) -> None:
        begun(store, "a", "b")
        assert now(store).status is READY
        settle(store, claim(store), Accepted())
        assert now(store).status is RUNNING, "one is done, and nobody holds the other"
        settle(store, claim(store), Accepted())
        assert now(store).status is DONE

    def test_while_a_task_is_held_it_is_running(self, store: Store) -> None:
        begun(store, "a")
        taken = claim(store)
        assert now(store).status is RUNNING
        store.claims.settle(taken, Released("interrupted"), message="", fail_fast=False)
        assert now(store).status is READY

    def test_it_has_failed_when_nothing_is_left_and_something_failed(self, store: Store) -> None:
        begun(store, "a", "b")
        settle(store, claim(store), GaveUp("impossible"))
        assert now(store).status is RUNNING
        settle(store, claim(store), Accepted())
        assert now(store).status is FAILED

    def test_it_has_failed_when_what_is_left_waits_for_a_failure(self, store: Store) -> None:
        begun(store, "a", "b")
        store.tasks.link(TaskId("t-a"), TaskId("t-b"))
        settle(store, claim(store), GaveUp("impossible"))
        assert now(store).status is FAILED
        store.tasks.retry(TaskId("t-a"))
        assert now(store).status is READY

    def test_a_new_task_opens_it_again(self, store: Store) -> None:
        feature = begun(store, "a")
        settle(store, claim(store), Accepted())
        assert now(store).status is DONE
        add(store, "late", feature_id=feature)
        assert now(store).status is RUNNING

    def test_without_tasks_it_is_what_its_documents_say(self, store: Store) -> None:
        feature = begun(store, "a")
        store.features.set_paths(feature, spec_path="s", plan_path="p")
        assert now(store).status is READY
        store.tasks.delete(TaskId("t-root"))
        assert now(store).status is PLANNED

    def test_a_task_that_changes_sides_counts_on_the_new_one(self, store: Store) -> None:
        other = store.features.add("search").id
        feature = store.features.add("login").id
        task = add(store, "a", feature_id=feature)
        store.tasks.edit(task, TaskEdit(feature_id=other))
        assert (now(store).status, now(store, "search").status) == (DRAFT, READY)

    def test_a_root_that_is_held_back_does_not_make_it_ready(self, store: Store) -> None:
        feature = store.features.add("login").id
        root = add(store, "root", feature_id=feature, status=TaskStatus.BLOCKED, reason="not yet")
        add(store, "a", under=root)
        assert now(store).status is DRAFT
        store.tasks.apply(root, [Unblocked()])
        assert now(store).status is READY

    def test_other_tasks_do_not_matter(self, store: Store) -> None:
        store.features.add("login")
        add(store, "a")
        settle(store, claim(store), Accepted())
        assert now(store).status is DRAFT

    def test_every_change_is_told_once(self, store: Store) -> None:
        begun(store, "a", "b")
        settle(store, claim(store), Accepted())
        settle(store, claim(store), Accepted())
        found = [recorded.event for recorded in store.events.select(limit=0)]
        statuses = [one.feature.status for one in found if isinstance(one, FeatureChanged)]
        assert statuses == [READY, RUNNING, DONE]

    def test_deleting_it_deletes_its_tasks_and_nothing_else(self, store: Store) -> None:
        feature = begun(store, "a", "b")
        kept = add(store, "kept", after=[TaskId("t-a")])
        gone = store.features.delete(feature)
        assert sorted(gone) == ["t-a", "t-b", "t-root"]
        assert store.features.get("login") is None
        assert [task.id for task in store.tasks.select(TaskFilter())] == [kept]
        assert store.tasks.blockers(kept) == []

    def test_an_unknown_feature_cannot_be_deleted(self, store: Store) -> None:
        with pytest.raises(NoSuchTask, match="there is no feature f-nobody"):
            store.features.delete(FeatureId("f-nobody"))
