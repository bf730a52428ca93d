"""No task waits for itself: not by edges, not by parents, not by both."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.graph import closes_cycle, parent_closes_cycle
from ralph.core.ids import TaskId
from tests.core.small_graph import Forest


def wait(forest: Forest, blocker: str, blocked: str) -> bool:
    return closes_cycle(forest, TaskId(blocker), TaskId(blocked))


def contain(forest: Forest, child: str, parent: str) -> bool:
    return parent_closes_cycle(forest, TaskId(child), TaskId(parent))


@pytest.fixture
def two_groups() -> Forest:
    """one > a; two > b, c"""
    forest = Forest()
    forest.grow("one")
    forest.grow("two")
    forest.grow("a", under="one")
    forest.grow("b", under="two")
    forest.grow("c", under="two")
    return forest


def test_a_task_cannot_wait_for_itself(two_groups: Forest) -> None:
    assert wait(two_groups, "a", "a")


def test_a_circle_of_edges_is_seen(two_groups: Forest) -> None:
    two_groups.link("a", "b")
    two_groups.link("b", "c")
    assert wait(two_groups, "c", "a")
    assert wait(two_groups, "b", "a")
    assert not wait(two_groups, "a", "c")


def test_a_parent_and_its_child_cannot_wait_for_each_other(two_groups: Forest) -> None:
    assert wait(two_groups, "one", "a")
    assert wait(two_groups, "a", "one")


def test_edges_between_parents_bind_their_children(two_groups: Forest) -> None:
    two_groups.link("one", "two")
    assert wait(two_groups, "b", "a")
    assert wait(two_groups, "two", "a")
    assert wait(two_groups, "b", "one")
    assert not wait(two_groups, "a", "b")


def test_edges_between_children_bind_their_parents(two_groups: Forest) -> None:
    two_groups.link("a", "b")
    assert wait(two_groups, "two", "one")
    # One child of `two` may come before `one` even so.
    assert not wait(two_groups, "c", "a")
    assert not wait(two_groups, "c", "one")


def test_siblings_may_wait_for_each_other_in_one_direction(two_groups: Forest) -> None:
    assert not wait(two_groups, "b", "c")
    two_groups.link("b", "c")
    assert wait(two_groups, "c", "b")


def test_a_task_cannot_contain_itself(two_groups: Forest) -> None:
    assert contain(two_groups, "one", "one")
    assert contain(two_groups, "one", "a")
    assert not contain(two_groups, "one", "b")


def test_a_task_cannot_move_below_what_waits_for_it_or_what_it_waits_for() -> None:
    forest = Forest()
    forest.grow("group")
    forest.grow("first")
    forest.grow("later", after=("group",))
    forest.link("first", "group")
    assert contain(forest, "first", "group")
    assert contain(forest, "later", "group")


def test_a_ladder_of_diamonds_is_searched_rung_by_rung() -> None:
    forest = Forest()
    rungs = 300
    for rung in range(rungs):
        below = (f"l{rung - 1}", f"r{rung - 1}") if rung else ()
        forest.grow(f"l{rung}", after=below)
        forest.grow(f"r{rung}", after=below)
    forest.looks = 0
    assert wait(forest, f"l{rungs - 1}", "r0")
    assert not wait(forest, "l0", f"r{rungs - 1}")
    # Walking paths instead of tasks would look 2 ** 300 times.
    assert forest.looks < 4 * rungs


def test_an_edge_at_the_rim_of_a_large_graph_costs_next_to_nothing() -> None:
    forest = Forest()
    for number in range(400):
        forest.grow(f"t{number}", after=(f"t{number - 1}",) if number else ())
    forest.grow("new")
    forest.looks = 0
    assert not wait(forest, "t399", "new")
    assert not wait(forest, "new", "t0")
    assert forest.looks < 30


NAMES = "abcdef"


@st.composite
def forests(draw: st.DrawFn) -> Forest:
    """Any graph that the checks let through, edge by edge."""
    forest = Forest()
    for position, name in enumerate(NAMES):
        under = draw(st.sampled_from([None, *NAMES[:position]]))
        forest.grow(name, under=under)
    pairs = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES))
    for blocker, blocked in draw(st.lists(pairs, max_size=10)):
        if not wait(forest, blocker, blocked):
            forest.link(blocker, blocked)
    return forest


@given(forests())
def test_whatever_is_let_through_can_be_worked_off(forest: Forest) -> None:
    done: set[str] = set()
    while len(done) < len(NAMES):
        ready = [name for name in NAMES if name not in done and _may_finish(forest, name, done)]
        assert ready, f"{set(NAMES) - done} wait for each other"
        done.update(ready)


@given(forests(), st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_whatever_is_refused_could_not_be_worked_off(
    forest: Forest, blocker: str, blocked: str
) -> None:
    if not wait(forest, blocker, blocked):
        return
    forest.link(blocker, blocked)
    done: set[str] = set()
    for _ in NAMES:
        done.update(name for name in NAMES if _may_finish(forest, name, done))
    assert len(done) < len(NAMES)


def _may_finish(forest: Forest, name: str, done: set[str]) -> bool:
    """Its children are done, and so is what blocks it or anything above it."""
    task = TaskId(name)
    above = [task]
    while (parent := forest.node(above[-1]).parent_id) is not None:
        above.append(parent)
    blockers = itertools.chain.from_iterable(forest.blockers(one) for one in above)
    return done.issuperset(blockers) and done.issuperset(forest.children(task))
