"""Sums of costs, as a table for people and as objects for programs."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ralph.cli.screen import Screen
from ralph.core.errors import NoSuchTask
from ralph.core.spent import Spent
from ralph.ports.store import Graph
from ralph.ui.tables import table

HEADERS = ("SESSIONS", "INPUT", "CACHED", "OUTPUT", "COST")
WIDEST_TITLE = 60


def lines(
    by: str, sums: Sequence[tuple[str, Spent]], total: Spent, store: Graph, screen: Screen
) -> list[str]:
    """The sums, the total below them; tasks with their titles."""
    headers: tuple[str, ...] = (by.upper(), *HEADERS)
    rows = [(key or "unknown", *_figures(spent)) for key, spent in sums]
    rows.append(("total", *_figures(total)))
    if by == "task":
        titles = [*(_title(store, key) for key, _ in sums), ""]
        headers = (*headers, "TITLE")
        rows = [(*row, title) for row, title in zip(rows, titles, strict=True)]
    return table(rows, headers, width=screen.width, color=screen.has_colour)


def _figures(spent: Spent) -> tuple[str, ...]:
    tokens = (spent.input_tokens, spent.cached_tokens, spent.output_tokens)
    known = (f"{number:,}" if spent.counted else "unknown" for number in tokens)
    return (str(spent.sessions), *known, str(spent))


def _title(store: Graph, task: str) -> str:
    try:
        return store.find(task).title[:WIDEST_TITLE]
    except NoSuchTask:
        return "(deleted)"


def as_object(spent: Spent) -> dict[str, Any]:
    """A sum as scripts rely on it: `cost_usd` is null where any of it is unknown."""
    total = {"cost_usd": spent.total_usd, "known_usd": spent.known_usd}
    fields = msgspec.structs.asdict(spent)
    tokens = ("input_tokens", "cached_tokens", "output_tokens")
    if not spent.counted:
        fields |= dict.fromkeys(tokens)
    return total | fields
