"""What every store promises about documents and what was taken out of them."""

import pytest

from ralph.core.errors import ClaimLost, NoSuchTask, UsageError
from ralph.core.ids import TaskId
from ralph.core.replay import replay
from ralph.core.task import FeatureStatus, Status
from ralph.core.transitions import Rejected
from ralph.ports.papers import Paper
from ralph.ports.store import Store
from ralph.testing.store_words import Contract, add, begin, claim, next_ready, settle, start


class PapersContract(Contract):
    """Inherit and override the `store` fixture."""

    def test_a_document_is_kept_byte_for_byte(self, store: Store) -> None:
        assert store.paper("prd.md") is None
        paper = Paper(path="prd.md", content=b"\xff\x00\r\n", held_for=TaskId("t-a"))
        store.keep_paper(paper)
        assert store.paper("prd.md") == paper

    def test_a_document_takes_the_place_of_the_one_before(self, store: Store) -> None:
        store.keep_paper(Paper(path="prd.md", content=b"one", held_for=TaskId("t-a")))
        store.keep_paper(Paper(path="other.md", content=b"else"))
        store.keep_paper(Paper(path="prd.md", content=b"two"))
        assert store.paper("prd.md") == Paper(path="prd.md", content=b"two")
        assert store.paper("other.md") == Paper(path="other.md", content=b"else")

    def test_what_is_archived_is_out_of_the_graph(self, store: Store) -> None:
        feature = store.add_feature("prd")
        task = add(store, "a", alias="US-001", feature_id=feature.id)
        waiting = add(store, "b", after=(task,), feature_id=feature.id)
        assert store.archive(task) == [task]
        with pytest.raises(NoSuchTask):
            store.find("US-001")
        assert next_ready(store) == waiting
        assert [one.id for one in store.archived(feature.id)] == [task]

    def test_what_comes_back_is_as_it_was(self, store: Store) -> None:
        feature = store.add_feature("prd")
        begin(store)
        task = add(store, "a", alias="US-001", feature_id=feature.id, description="d", priority=7)
        taken = claim(store)
        start(store, taken)
        before = settle(store, taken, Rejected("red"))
        logs = store.logs(task)
        store.archive(task)
        back = store.bring_back(task)
        assert (back.attempt, back.retry_count, back.reason) == (1, 1, "red")
        assert (back.alias, back.priority, back.description, back.feature_id) == (
            before.alias,
            before.priority,
            before.description,
            before.feature_id,
        )
        assert store.logs(task) == logs
        assert store.archived(feature.id) == []
        again = claim(store)
        assert (again.task.id, again.attempt) == (task, 2)
        start(store, again)

    def test_what_is_below_goes_and_comes_back_with_it(self, store: Store) -> None:
        feature = store.add_feature("prd")
        top = add(store, "a", feature_id=feature.id)
        first = add(store, "b", under=top)
        second = add(store, "c", under=top, after=(first,))
        outside = add(store, "d")
        store.link(outside, second)
        assert set(store.archive(top)) == {top, first, second}
        assert [one.id for one in store.archived(feature.id)] == [top]
        store.bring_back(top)
        assert [one.id for one in store.children(top)] == [first, second]
        assert [one.id for one in store.blockers(second)] == [first]
        assert store.find(first).feature_id == feature.id

    def test_whoever_works_on_it_loses_the_claim(self, store: Store) -> None:
        feature = store.add_feature("prd")
        begin(store)
        task = add(store, "a", feature_id=feature.id)
        taken = claim(store)
        store.archive(task)
        with pytest.raises(ClaimLost):
            settle(store, taken)
        assert store.bring_back(task).status is Status.PENDING

    def test_done_stays_done(self, store: Store) -> None:
        task = add(store, "a")
        store.force_done(task)
        store.archive(task)
        assert store.bring_back(task).status is Status.DONE

    def test_nothing_comes_back_twice(self, store: Store) -> None:
        task = add(store, "a")
        with pytest.raises(NoSuchTask):
            store.bring_back(task)
        store.archive(task)
        store.bring_back(task)
        with pytest.raises(NoSuchTask):
            store.bring_back(task)

    def test_an_alias_that_was_given_to_another_is_not_taken_from_it(self, store: Store) -> None:
        feature = store.add_feature("prd")
        task = add(store, "a", alias="US-001", feature_id=feature.id)
        store.archive(task)
        add(store, "b", alias="US-001", feature_id=feature.id)
        with pytest.raises(UsageError):
            store.bring_back(task)

    def test_the_journal_tells_of_it(self, store: Store) -> None:
        top = add(store, "a")
        child = add(store, "b", under=top)
        add(store, "c", under=top, after=(child,))
        store.archive(top)
        store.bring_back(top)
        told = replay(recorded.event for recorded in store.events())
        assert told.tasks[child] == store.find(child)
        assert len(told.edges) == 1

    def test_the_status_of_the_feature_follows(self, store: Store) -> None:
        feature = store.add_feature("prd")
        store.force_done(add(store, "a", feature_id=feature.id))
        task = add(store, "b", feature_id=feature.id)
        before = store.features()[0].status
        store.archive(task)
        assert store.features()[0].status is FeatureStatus.DONE
        store.bring_back(task)
        assert store.features()[0].status is before

    def test_what_was_taken_out_of_a_deleted_feature_is_gone(self, store: Store) -> None:
        feature = store.add_feature("prd")
        task = add(store, "a", feature_id=feature.id)
        store.archive(task)
        store.delete_feature(feature.id)
        assert store.archived(feature.id) == []
        with pytest.raises(NoSuchTask):
            store.bring_back(task)
