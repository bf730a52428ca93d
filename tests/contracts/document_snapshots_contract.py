"""What every store promises about documents and what was taken out of them."""

import pytest

from ralph.core.errors import ClaimLost, NoSuchTask, UsageError
from ralph.core.ids import TaskId
from ralph.core.task import FeatureStatus, TaskStatus
from ralph.core.transitions import Rejected
from ralph.store.documents import DocumentSnapshot
from ralph.store.store import Store
from tests.contracts.store_test_helpers import (
    Contract,
    add,
    begin,
    claim,
    next_ready,
    settle,
    start,
)
from tests.core.replay import replay


class DocumentSnapshotsContract(Contract):
    """Inherit and override the `store` fixture."""

    def test_a_document_is_kept_byte_for_byte(self, store: Store) -> None:
        assert store.documents.get("prd.md") is None
        document = DocumentSnapshot(
            path="prd.md", content=b"\xff\x00\r\n", in_session_of=TaskId("t-a")
        )
        store.documents.save(document)
        assert store.documents.get("prd.md") == document

    def test_a_document_takes_the_place_of_the_one_before(self, store: Store) -> None:
        store.documents.save(
            DocumentSnapshot(path="prd.md", content=b"one", in_session_of=TaskId("t-a"))
        )
        store.documents.save(DocumentSnapshot(path="other.md", content=b"else"))
        store.documents.save(DocumentSnapshot(path="prd.md", content=b"two"))
        assert store.documents.get("prd.md") == DocumentSnapshot(path="prd.md", content=b"two")
        assert store.documents.get("other.md") == DocumentSnapshot(path="other.md", content=b"else")

    def test_what_is_archived_is_out_of_the_graph(self, store: Store) -> None:
        feature = store.features.add("prd")
        task = add(store, "a", alias="US-001", feature_id=feature.id)
        waiting = add(store, "b", after=(task,), feature_id=feature.id)
        assert store.archive.add(task) == [task]
        with pytest.raises(NoSuchTask, match="there is no task US-001"):
            store.tasks.find("US-001")
        assert next_ready(store) == waiting
        assert [one.id for one in store.archive.of_feature(feature.id)] == [task]

    def test_what_comes_back_is_as_it_was(self, store: Store) -> None:
        feature = store.features.add("prd")
        begin(store)
        task = add(store, "a", alias="US-001", feature_id=feature.id, description="d", priority=7)
        taken = claim(store)
        start(store, taken)
        before = settle(store, taken, Rejected("red"))
        logs = store.tasks.logs(task)
        store.archive.add(task)
        back = store.archive.restore(task)
        assert (back.attempt, back.retry_count, back.reason) == (1, 1, "red")
        assert (back.alias, back.priority, back.description, back.feature_id) == (
            before.alias,
            before.priority,
            before.description,
            before.feature_id,
        )
        assert store.tasks.logs(task) == logs
        assert store.archive.of_feature(feature.id) == []
        again = claim(store)
        assert (again.task.id, again.attempt) == (task, 2)
        start(store, again)

    def test_what_is_below_goes_and_comes_back_with_it(self, store: Store) -> None:
        feature = store.features.add("prd")
        top = add(store, "a", feature_id=feature.id)
        first = add(store, "b", under=top)
        second = add(store, "c", under=top, after=(first,))
        outside = add(store, "d")
        store.tasks.link(outside, second)
        assert set(store.archive.add(top)) == {top, first, second}
        assert [one.id for one in store.archive.of_feature(feature.id)] == [top]
        store.archive.restore(top)
        assert [one.id for one in store.tasks.children(top)] == [first, second]
        assert [one.id for one in store.tasks.blockers(second)] == [first]
        assert store.tasks.find(first).feature_id == feature.id

    def test_whoever_works_on_it_loses_the_claim(self, store: Store) -> None:
        feature = store.features.add("prd")
        begin(store)
        task = add(store, "a", feature_id=feature.id)
        taken = claim(store)
        store.archive.add(task)
        with pytest.raises(ClaimLost, match="task t-a is no longer held"):
            settle(store, taken)
        assert store.archive.restore(task).status is TaskStatus.PENDING

    def test_done_stays_done(self, store: Store) -> None:
        task = add(store, "a")
        store.tasks.force_done(task)
        store.archive.add(task)
        assert store.archive.restore(task).status is TaskStatus.DONE

    def test_nothing_comes_back_twice(self, store: Store) -> None:
        task = add(store, "a")
        with pytest.raises(NoSuchTask, match="there is no archived task t-a"):
            store.archive.restore(task)
        store.archive.add(task)
        store.archive.restore(task)
        with pytest.raises(NoSuchTask, match="there is no archived task t-a"):
            store.archive.restore(task)

    def test_an_alias_that_was_given_to_another_is_not_taken_from_it(self, store: Store) -> None:
        feature = store.features.add("prd")
        task = add(store, "a", alias="US-001", feature_id=feature.id)
        store.archive.add(task)
        add(store, "b", alias="US-001", feature_id=feature.id)
        with pytest.raises(UsageError, match="there is a task US-001 already"):
            store.archive.restore(task)

    def test_an_event_records_it(self, store: Store) -> None:
        top = add(store, "a")
        child = add(store, "b", under=top)
        add(store, "c", under=top, after=(child,))
        store.archive.add(top)
        store.archive.restore(top)
        replayed = replay(recorded.event for recorded in store.events.select())
        assert replayed.tasks[child] == store.tasks.find(child)
        assert len(replayed.edges) == 1

    def test_the_status_of_the_feature_follows(self, store: Store) -> None:
        feature = store.features.add("prd")
        store.tasks.force_done(add(store, "a", feature_id=feature.id))
        task = add(store, "b", feature_id=feature.id)
        before = store.features.all()[0].status
        store.archive.add(task)
        assert store.features.all()[0].status is FeatureStatus.DONE
        store.archive.restore(task)
        assert store.features.all()[0].status is before

    def test_what_was_taken_out_of_a_deleted_feature_is_gone(self, store: Store) -> None:
        feature = store.features.add("prd")
        task = add(store, "a", feature_id=feature.id)
        store.archive.add(task)
        store.features.delete(feature.id)
        assert store.archive.of_feature(feature.id) == []
        with pytest.raises(NoSuchTask, match="there is no archived task t-a"):
            store.archive.restore(task)
