"""Which ready task comes first."""

import sys

from hypothesis import given
from hypothesis import strategies as st

from ralph.core.graph import chain_lengths
from ralph.core.ids import TaskId


def ids(text: str) -> list[TaskId]:
    return [TaskId(name) for name in text.split()]


def test_a_chain_counts_the_task_itself_and_the_longest_way_on() -> None:
    dependents = {TaskId("a"): ids("b c"), TaskId("b"): ids("d"), TaskId("d"): ids("e")}
    assert chain_lengths(ids("a b c d e f"), dependents) == {
        "a": 4,
        "b": 3,
        "c": 1,
        "d": 2,
        "e": 1,
        "f": 1,
    }


def test_a_chain_longer_than_the_stack_is_no_trouble() -> None:
    length = sys.getrecursionlimit() * 3
    dependents = {TaskId(str(n)): [TaskId(str(n + 1))] for n in range(length - 1)}
    assert chain_lengths([TaskId("0")], dependents)[TaskId("0")] == length


def test_a_ladder_of_diamonds_is_measured_rung_by_rung() -> None:
    looks = 0

    class Ladder(dict[TaskId, list[TaskId]]):
        def get(self, key: TaskId, default: object = None) -> list[TaskId]:  # type: ignore[override]
            nonlocal looks
            looks += 1
            rung = int(key[1:])
            return ids(f"l{rung + 1} r{rung + 1}") if rung < 200 else []

    assert chain_lengths(ids("l0 r0"), Ladder())[TaskId("l0")] == 201
    # Walking paths instead of tasks would look 2 ** 200 times.
    assert looks < 1000


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25))
def test_every_task_is_longer_than_what_follows_it(pairs: list[tuple[int, int]]) -> None:
    edges = {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
    tasks = [TaskId(str(n)) for n in range(10)]
    dependents = {a: [b for b in tasks if (int(a), int(b)) in edges] for a in tasks}
    lengths = chain_lengths(tasks, dependents)
    for task in tasks:
        after = [lengths[one] for one in dependents[task]]
        assert lengths[task] == 1 + max(after, default=0)
