"""What a change brings about above, below and along, in any order of working through it."""

import pytest

from ralph.core.graph import (
    after_blockers_changed,
    after_children_changed,
    can_still_run,
    derived_status,
    follow_ups,
)
from ralph.core.ids import TaskId, WorkerId
from ralph.core.task import TaskStatus
from ralph.core.transitions import (
    Accepted,
    Blocked,
    ChildrenDone,
    ChildReopened,
    Claimed,
    GaveUp,
    Released,
    Reset,
    Retried,
    Unblocked,
    advance,
)
from tests.core.small_graph import Forest

CLAIM = Claimed(WorkerId("agent-1"))
DONE = (CLAIM, Accepted())
FAIL = (CLAIM, GaveUp("impossible"))


@pytest.fixture(params=["depth first", "breadth first"])
def forest(request: pytest.FixtureRequest) -> Forest:
    return Forest(breadth_first=request.param == "breadth first")


@pytest.fixture
def three_levels(forest: Forest) -> Forest:
    """top > (left > a, b) and (right > c)"""
    forest.grow("top")
    forest.grow("left", under="top")
    forest.grow("right", under="top")
    forest.grow("a", under="left")
    forest.grow("b", under="left")
    forest.grow("c", under="right")
    return forest


def test_completion_climbs_level_by_level(three_levels: Forest) -> None:
    three_levels.move("a", *DONE)
    assert three_levels.status("left") is TaskStatus.PENDING
    three_levels.move("b", *DONE)
    assert three_levels.status("left") is TaskStatus.DONE
    assert three_levels.status("top") is TaskStatus.PENDING
    three_levels.move("c", *DONE)
    assert set(three_levels.statuses().values()) == {"done"}


def test_failure_waits_for_those_that_can_still_run(three_levels: Forest) -> None:
    three_levels.move("a", *FAIL)
    assert three_levels.status("left") is TaskStatus.PENDING
    three_levels.move("b", *DONE)
    assert three_levels.status("left") is TaskStatus.FAILED
    assert three_levels.status("top") is TaskStatus.PENDING
    three_levels.move("c", *DONE)
    assert three_levels.status("top") is TaskStatus.FAILED
    assert three_levels.status("right") is TaskStatus.DONE


def test_a_failed_parent_says_how_many_children_failed(three_levels: Forest) -> None:
    three_levels.move("a", *FAIL)
    three_levels.move("b", *FAIL)
    assert three_levels.node(TaskId("left")).reason == "2 of its children failed"


def test_with_fail_fast_failure_climbs_at_once(three_levels: Forest) -> None:
    three_levels.move("a", *FAIL, fail_fast=True)
    assert three_levels.status("left") is TaskStatus.FAILED
    assert three_levels.status("top") is TaskStatus.FAILED
    assert three_levels.status("b") is TaskStatus.PENDING


def test_with_fail_fast_a_sibling_that_is_given_back_changes_nothing(three_levels: Forest) -> None:
    three_levels.move("b", CLAIM)
    three_levels.move("a", *FAIL, fail_fast=True)
    three_levels.move("b", Released("interrupted"), fail_fast=True)
    assert three_levels.status("left") is TaskStatus.FAILED
    three_levels.move("b", *DONE, fail_fast=True)
    assert three_levels.status("left") is TaskStatus.FAILED


def test_giving_back_a_task_brings_nothing_about_above_it(three_levels: Forest) -> None:
    three_levels.move("b", CLAIM)
    three_levels.move("a", *FAIL, fail_fast=True)
    before = three_levels.node(TaskId("b"))
    after = advance(before, Released("interrupted"))
    assert list(follow_ups(three_levels, before, after, fail_fast=False)) == []


def test_reopening_climbs_as_far_as_it_must(three_levels: Forest) -> None:
    for leaf in "abc":
        three_levels.move(leaf, *DONE)
    three_levels.move("a", Reset())
    assert three_levels.status("left") is TaskStatus.PENDING
    assert three_levels.status("top") is TaskStatus.PENDING
    assert three_levels.status("right") is TaskStatus.DONE


def test_a_retry_reopens_what_failed_above(three_levels: Forest) -> None:
    for leaf in "abc":
        three_levels.move(leaf, *FAIL)
    assert three_levels.status("top") is TaskStatus.FAILED
    three_levels.move("a", Retried())
    assert three_levels.status("top") is TaskStatus.PENDING
    assert three_levels.status("right") is TaskStatus.FAILED


def test_a_sibling_that_waits_for_the_failed_one_is_no_hope(three_levels: Forest) -> None:
    three_levels.link("a", "b")
    three_levels.move("a", *FAIL)
    assert three_levels.status("left") is TaskStatus.FAILED
    assert three_levels.status("b") is TaskStatus.PENDING


def test_what_blocks_a_parent_dooms_its_children(three_levels: Forest) -> None:
    three_levels.grow("outside")
    three_levels.link("outside", "left")
    three_levels.move("a", *FAIL)
    assert can_still_run(three_levels, TaskId("b"))
    three_levels.move("outside", *FAIL)
    assert not can_still_run(three_levels, TaskId("b"))
    assert three_levels.status("left") is TaskStatus.FAILED


def test_doom_travels_along_chains_into_other_parents(three_levels: Forest) -> None:
    three_levels.grow("d", under="right", after=("a",))
    three_levels.move("c", *FAIL)
    assert three_levels.status("right") is TaskStatus.PENDING
    three_levels.move("a", *FAIL)
    assert three_levels.status("right") is TaskStatus.FAILED
    assert three_levels.status("top") is TaskStatus.PENDING
    three_levels.move("b", *FAIL)
    assert three_levels.status("top") is TaskStatus.FAILED


def test_hope_travels_back_the_same_way(three_levels: Forest) -> None:
    three_levels.grow("d", under="right", after=("a",))
    for leaf in "cab":
        three_levels.move(leaf, *FAIL)
    assert three_levels.status("right") is TaskStatus.FAILED
    three_levels.move("a", Retried())
    assert three_levels.status("left") is TaskStatus.PENDING
    assert three_levels.status("right") is TaskStatus.PENDING
    assert three_levels.status("top") is TaskStatus.PENDING


def test_a_running_sibling_is_hope(three_levels: Forest) -> None:
    three_levels.move("b", CLAIM)
    three_levels.move("a", *FAIL)
    assert three_levels.status("left") is TaskStatus.PENDING


def test_a_blocked_parent_is_done_when_its_children_are(three_levels: Forest) -> None:
    three_levels.move("right", Blocked("later"))
    three_levels.move("c", *DONE)
    assert three_levels.status("right") is TaskStatus.DONE


def test_a_blocked_parent_fails_only_after_it_is_unblocked(three_levels: Forest) -> None:
    three_levels.move("right", Blocked("later"))
    three_levels.move("c", *FAIL)
    assert three_levels.status("right") is TaskStatus.BLOCKED
    three_levels.move("right", Unblocked())
    assert three_levels.status("right") is TaskStatus.FAILED


@pytest.mark.parametrize("last", [DONE, FAIL], ids=["done", "failed"])
def test_a_parent_in_somebodys_hands_is_settled_when_it_is_given_back(
    forest: Forest, last: tuple[Claimed, Accepted]
) -> None:
    forest.grow("top")
    forest.move("top", CLAIM)
    forest.grow("child", under="top")
    forest.move("child", *last)
    assert forest.status("top") is TaskStatus.IN_PROGRESS
    forest.move("top", Released("interrupted"))
    assert forest.status("top") is forest.status("child")


def test_only_what_its_blockers_held_back_is_unblocked_by_them(forest: Forest) -> None:
    forest.grow("first")
    forest.grow("second")
    forest.grow("waits", after=("first", "second"), status=TaskStatus.BLOCKED)
    forest.grow("held", after=("first",), status=TaskStatus.BLOCKED, reason="ask Ada")
    forest.move("first", *DONE)
    assert forest.status("waits") is TaskStatus.BLOCKED
    forest.move("second", *DONE)
    assert forest.status("waits") is TaskStatus.PENDING
    assert forest.status("held") is TaskStatus.BLOCKED


def test_nothing_follows_where_the_status_stays(forest: Forest) -> None:
    forest.grow("top", status=TaskStatus.DONE)
    forest.grow("a", under="top")
    task = forest.node(TaskId("a"))
    assert list(follow_ups(forest, task, task, fail_fast=True)) == []


def test_a_long_line_of_parents_is_climbed_without_recursion(forest: Forest) -> None:
    forest.grow("p0")
    for level in range(1, 1500):
        forest.grow(f"p{level}", under=f"p{level - 1}")
    forest.move("p1499", *DONE)
    assert forest.status("p0") is TaskStatus.DONE


class TestChangedChildren:
    """After a child came, went or was moved."""

    def test_a_parent_whose_other_children_are_done_is_done(self, forest: Forest) -> None:
        forest.grow("top")
        forest.grow("a", under="top", status=TaskStatus.DONE)
        assert list(after_children_changed(forest, TaskId("top"))) == [("top", ChildrenDone())]

    def test_a_parent_whose_last_hope_went_fails(self, forest: Forest) -> None:
        forest.grow("top")
        forest.grow("a", under="top", status=TaskStatus.FAILED)
        ((task, _),) = after_children_changed(forest, TaskId("top"))
        assert task == "top"

    def test_a_failed_parent_without_children_is_a_task_again(self, forest: Forest) -> None:
        forest.grow("top", status=TaskStatus.FAILED)
        assert list(after_children_changed(forest, TaskId("top"))) == [("top", ChildReopened())]

    def test_a_failed_parent_whose_failed_child_went_is_open_again(self, forest: Forest) -> None:
        forest.grow("top", status=TaskStatus.FAILED)
        forest.grow("a", under="top")
        assert list(after_children_changed(forest, TaskId("top"))) == [("top", ChildReopened())]

    def test_a_done_parent_that_got_an_open_child_is_open_again(self, forest: Forest) -> None:
        forest.grow("top", status=TaskStatus.DONE)
        forest.grow("a", under="top")
        assert list(after_children_changed(forest, TaskId("top"))) == [("top", ChildReopened())]

    @pytest.mark.parametrize("status", [TaskStatus.PENDING, TaskStatus.DONE, TaskStatus.BLOCKED])
    def test_a_task_without_children_stays_as_it_is(
        self, forest: Forest, status: TaskStatus
    ) -> None:
        forest.grow("top", status=status)
        assert list(after_children_changed(forest, TaskId("top"))) == []

    def test_a_parent_in_somebodys_hands_is_left_alone(self, forest: Forest) -> None:
        forest.grow("top", status=TaskStatus.IN_PROGRESS)
        forest.grow("a", under="top", status=TaskStatus.DONE)
        assert list(after_children_changed(forest, TaskId("top"))) == []


class TestChangedEdges:
    """After edges changed."""

    def test_a_new_edge_to_a_failed_task_may_fail_the_parent(self, forest: Forest) -> None:
        forest.grow("top")
        forest.grow("a", under="top", status=TaskStatus.FAILED)
        forest.grow("b", under="top")
        assert list(after_blockers_changed(forest, TaskId("b"))) == []
        forest.link("a", "b")
        ((task, _),) = after_blockers_changed(forest, TaskId("b"))
        assert task == "top"

    def test_an_edge_less_may_reopen_the_parent_of_what_waits_further_on(
        self, forest: Forest
    ) -> None:
        forest.grow("freed")
        forest.grow("top", status=TaskStatus.FAILED)
        forest.grow("a", under="top", status=TaskStatus.FAILED)
        forest.grow("b", under="top", after=("freed",))
        assert list(after_blockers_changed(forest, TaskId("freed"))) == [("top", ChildReopened())]

    def test_what_is_below_a_rewired_parent_counts(self, forest: Forest) -> None:
        forest.grow("top", status=TaskStatus.FAILED)
        forest.grow("a", under="top", status=TaskStatus.FAILED)
        forest.grow("b", under="top")
        assert list(after_blockers_changed(forest, TaskId("top"))) == [("top", ChildReopened())]


@pytest.mark.parametrize(
    ("own", "below", "shown"),
    [
        ("pending", [], "pending"),
        ("pending", ["pending", "blocked"], "pending"),
        ("pending", ["in_progress", "pending"], "in_progress"),
        ("pending", ["done", "pending"], "in_progress"),
        ("pending", ["done", "done"], "done"),
        ("blocked", ["in_progress"], "blocked"),
        ("failed", ["done"], "failed"),
    ],
)
def test_a_parent_shows_the_work_below_it(own: str, below: list[str], shown: str) -> None:
    assert derived_status(TaskStatus(own), [TaskStatus(one) for one in below]) == shown
