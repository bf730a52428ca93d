"""What the store costs, and whether it costs the same for a thousand tasks as for a million."""

import multiprocessing
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from ralph.adapters.sqlite.database import open_sqlite_store
from ralph.core.graph import Schedule
from ralph.core.ids import TaskId, WorkerId
from ralph.core.run import AllTasks
from ralph.core.task import TaskDraft
from ralph.core.transitions import Accepted
from ralph.store.store import Store

SIZES = (1_000, 10_000, 100_000, 1_000_000)
ROUNDS = 80
IMPORTED = 100_000
PROCESSES = 8
SECONDS = 4.0
LADDERS = (300, 3_000, 30_000)
LINKS = 30
FAN_OUT = 8
GENERATIONS = 10

NEXT_MS = 0.05
FLAT = 2.0
IMPORT_S = 15.0
PAIRS_PER_S = 3_000
TIP_MS = 2.0

Report = Callable[..., None]


def run(report: Report) -> None:
    """All figures."""
    with tempfile.TemporaryDirectory() as folder:
        _by_size(folder, report)
        _by_eight(folder, report)
        _ladders(folder, report)


def _open(path: str, *, relaxed: bool = True) -> Store:
    return open_sqlite_store(path, relaxed=relaxed)


def _at_most(report: Report, name: str, value: float, unit: str, bar: float | None = None) -> None:
    report(name, value, unit, bar, ok=None if bar is None else value <= bar)


def took_ms(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


# One process, growing graphs


def _by_size(folder: str, report: Report) -> None:
    """The next task, a claim and a completion, among more and more tasks."""
    costs: dict[str, list[float]] = {}
    for size in SIZES:
        path = os.path.join(folder, f"{size}.db")
        _grow(path, size, report)
        for name, ms in _measure(path).items():
            costs.setdefault(name, []).append(ms)
            bar = NEXT_MS if name == "next" else None
            _at_most(report, f"{name} among {size:,} tasks", ms, "ms", bar)
    for name, growing in costs.items():
        ratio = growing[-1] / growing[0]
        text = f"{name} among {SIZES[-1]:,} against {SIZES[0]:,}"
        _at_most(report, text, ratio, "times", FLAT)


def _grow(path: str, size: int, report: Report) -> None:
    store = _open(path)
    drafts = a_forest(size)
    while piece := list(islice(drafts, IMPORTED)):
        ms = took_ms(partial(store.tasks.add_many, piece))
        if size == IMPORTED:
            edges = sum(len(draft.blocked_by) for draft in piece)
            text = f"import of {size:,} tasks and {edges:,} edges"
            _at_most(report, text, ms / 1000, "s", IMPORT_S)
    store.close()


def _measure(path: str) -> dict[str, float]:
    """Medians: what else the machine does should not count."""
    store = _open(path)
    times: dict[str, list[float]] = {"next": [], "claim": [], "complete": []}
    for _ in range(ROUNDS):
        times["next"].append(
            took_ms(lambda: store.claims.next_ready(AllTasks(), Schedule.PRIORITY))
        )
        began = time.perf_counter()
        claim = store.claims.claim(WorkerId("bench"), None, AllTasks(), Schedule.PRIORITY)
        claimed = time.perf_counter()
        assert claim is not None
        store.claims.settle(claim, Accepted(), message="done", fail_fast=False)
        times["claim"].append((claimed - began) * 1000)
        times["complete"].append((time.perf_counter() - claimed) * 1000)
    store.close()
    return {name: statistics.median(taken) for name, taken in times.items()}


# Eight processes, one database


def _by_eight(folder: str, report: Report) -> None:
    """Claim and complete as fast as they can."""
    path = os.path.join(folder, f"{IMPORTED}.db")
    for relaxed, bar in ((True, PAIRS_PER_S), (False, None)):
        # The best of three: what else the machine does should not count.
        rounds = [_hammer(path, relaxed=relaxed) for _ in range(3)]
        per_s, twice = max(one for one, _ in rounds), sum(two for _, two in rounds)
        how = "relaxed" if relaxed else "durable"
        text = f"claims and completions by {PROCESSES} processes, {how}"
        report(text, per_s, "per s", bar, ok=None if bar is None else per_s >= bar)
        _at_most(report, f"of these claimed twice, {how}", twice, "tasks", 0)


def _hammer(path: str, *, relaxed: bool) -> tuple[float, int]:
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(PROCESSES)
    answers: multiprocessing.Queue[tuple[float, list[TaskId]]] = context.Queue()
    workers = [
        context.Process(target=_work, args=(path, relaxed, number, start, answers))
        for number in range(PROCESSES)
    ]
    for worker in workers:
        worker.start()
    found = [answers.get(timeout=120) for _ in workers]
    for worker in workers:
        worker.join()
    done = [task for _, tasks in found for task in tasks]
    return sum(len(tasks) / seconds for seconds, tasks in found), len(done) - len(set(done))


def _work(path: str, relaxed: bool, number: int, start: Any, answers: Any) -> None:  # noqa: FBT001
    store = _open(path, relaxed=relaxed)
    me = WorkerId(f"agent-{number:08x}")
    done = []
    start.wait()
    began = time.monotonic()
    while (elapsed := time.monotonic() - began) < SECONDS:
        claim = store.claims.claim(me, None, AllTasks(), Schedule.PRIORITY)
        if claim is None:
            break
        store.claims.settle(claim, Accepted(), message="done", fail_fast=False)
        done.append(claim.task.id)
    answers.put((elapsed, done))
    store.close()


# Edges


def _ladders(folder: str, report: Report) -> None:
    """Adding an edge where the graph is nearly at its end, and where half of it is on each side."""
    tips = []
    for rungs in LADDERS:
        store = _open(os.path.join(folder, f"ladder-{rungs}.db"))
        store.tasks.add_many(a_ladder(rungs))
        tips.append(statistics.median(_link_ms(store, rungs - 1 - back) for back in range(LINKS)))
        _at_most(report, f"edge at the tip of {rungs:,} diamonds", tips[-1], "ms", TIP_MS)
        middle = _link_ms(store, rungs // 2)
        _at_most(report, f"edge in the middle of {rungs:,} diamonds", middle, "ms")
        store.close()
    ratio = tips[-1] / tips[0]
    text = f"edge at the tip of {LADDERS[-1]:,} against {LADDERS[0]:,}"
    _at_most(report, text, ratio, "times", FLAT)


def _link_ms(store: Store, rung: int) -> float:
    left, right = _sides(rung)
    return took_ms(lambda: store.tasks.link(left, right))


# Graphs


def a_forest(count: int, edges_each: float = 2.0) -> Iterator[TaskDraft]:
    """A tree of eight children each, twice as many edges as tasks, and some that wait for a whole
    group. Leaves wait only for earlier ones, so there is no circle."""
    dice = random.Random(count)
    leaves = _leaves_in_order(count)
    place = {leaf: number for number, leaf in enumerate(leaves)}
    share = edges_each * count / len(leaves)
    # Whoever is named comes before, so that a large forest can be added in pieces.
    for number in (*range(count - len(leaves)), *leaves):
        blockers = set(_blockers(dice, number, leaves, place, share))
        yield TaskDraft(
            id=_name(number),
            title=f"task {number}",
            description="what is to be done, in a sentence or two " * 4,
            parent_id=_name((number - 1) // FAN_OUT) if number else None,
            priority=dice.randrange(4),
            blocked_by=tuple(_name(one) for one in blockers),
        )


def _leaves_in_order(count: int) -> list[int]:
    """As one meets them going through the tree from left to right: the deepest level first."""
    first_leaf = (count - 2) // FAN_OUT + 1
    level = 0
    while level * FAN_OUT + 1 < count:
        level = level * FAN_OUT + 1
    return [*range(max(level, first_leaf), count), *range(first_leaf, level)]


def _blockers(
    dice: random.Random, task: int, leaves: list[int], place: dict[int, int], share: float
) -> Iterator[int]:
    """Some of the generation before its own, anywhere in it: so a task has as many dependents in
    a large forest as in a small one, and they are just as scattered."""
    generation = len(leaves) // GENERATIONS + 1
    before = (place.get(task, 0) // generation - 1) * generation
    if before < 0:
        return
    for _ in range(round(dice.uniform(0.5, 1.72) * share)):
        blocker = leaves[before + dice.randrange(generation)]
        group = (blocker - 1) // FAN_OUT
        # Three in a hundred wait for a whole group, if all of it is of that generation.
        is_past = place.get(group * FAN_OUT + FAN_OUT, len(leaves)) < before + generation
        yield group if is_past and dice.random() < 0.03 else blocker


def a_ladder(rungs: int) -> list[TaskDraft]:
    """Diamonds in a row: a top, two sides, the next top. Two ways through each of them make more
    paths than anybody could walk."""
    drafts = []
    for rung in range(rungs):
        top = TaskId(f"t-{rung:06x}0")
        drafts.append(TaskDraft(id=top, title="top", blocked_by=_sides(rung - 1) if rung else ()))
        drafts += [TaskDraft(id=side, title="side", blocked_by=(top,)) for side in _sides(rung)]
    return drafts


def _sides(rung: int) -> tuple[TaskId, TaskId]:
    return TaskId(f"t-{rung:06x}1"), TaskId(f"t-{rung:06x}2")


def _name(number: int) -> TaskId:
    return TaskId(f"t-{number:06x}")
