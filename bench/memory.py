"""What it costs to remember and to recall, and whether it stays so as memories pile up."""

import os
import random
import statistics
import tempfile
from collections.abc import Callable, Iterator
from functools import partial

from bench.store import took_ms
from ralph.adapters.sqlite.database import open_sqlite_store
from ralph.core.ids import TaskId
from ralph.core.memory import Memory, MemoryKind
from ralph.core.memory_selection import significant_words
from ralph.store.memories import SEARCHED
from ralph.store.store import Store

SIZES = (SEARCHED, 4 * SEARCHED)
ROUNDS = 20
WORDS = 2000
"""As many as a project uses again and again."""
RECALL_MS = 250.0
REMEMBER_MS = 10.0
FLAT = 2.0

Report = Callable[..., None]


def run(report: Report) -> None:
    """All figures."""
    with tempfile.TemporaryDirectory() as folder:
        recalled = [_measure(folder, size, report) for size in SIZES]
    ratio = recalled[-1] / recalled[0]
    text = f"recall among {SIZES[-1]:,} against {SIZES[0]:,}"
    report(text, ratio, "times", FLAT, ok=ratio <= FLAT)


def _measure(folder: str, size: int, report: Report) -> float:
    store = open_sqlite_store(os.path.join(folder, f"{size}.db"), relaxed=True)
    kept = _memories(size + ROUNDS)
    _fill(store, kept, size)
    dice = random.Random(size)
    asked = [significant_words(_text(dice, 8), _text(dice, 60)) for _ in range(ROUNDS)]
    kept_ms = [took_ms(partial(_fill, store, kept, 1)) for _ in range(ROUNDS)]
    recalled_ms = [took_ms(partial(store.memories.search, words, 30)) for words in asked]
    store.close()
    for name, times, bar in (
        ("remember", kept_ms, REMEMBER_MS),
        ("recall", recalled_ms, RECALL_MS),
    ):
        ms = statistics.median(times)
        report(f"{name} among {size:,} memories", ms, "ms", bar, ok=ms <= bar)
    return statistics.median(recalled_ms)


def _fill(store: Store, memories: Iterator[Memory], count: int) -> None:
    some = [next(memories) for _ in range(count)]

    def work() -> None:
        for memory in some:
            store.memories.add(memory)

    store.db.write(work)


def _memories(count: int) -> Iterator[Memory]:
    dice = random.Random(count)
    for number in range(count):
        yield Memory(
            kind=MemoryKind.JOURNAL,
            text=_text(dice, 60),
            title=_text(dice, 6),
            task_id=TaskId(f"t-{number:06x}"),
            attempt=1,
        )


def _text(dice: random.Random, length: int) -> str:
    """Words as people use them: a few often, most seldom."""
    return " ".join(f"word{int(WORDS * dice.random() ** 3)}" for _ in range(length))
