"""Draw the task graph as SVG: what must be done first is further to the left.

A pure function of the facts. Every text is escaped, and colours are attributes that a stylesheet
may override by class, so that a page with a strict content security policy can show it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Final, NamedTuple

from ralph.core.safe_text import one_line
from ralph.core.task import TaskStatus
from ralph.store.claims import Counts
from ralph.ui.formatting import count_text, fit
from ralph.ui.project_view import Graph

WIDTH: Final = 200
HEIGHT: Final = 40
GAP_X: Final = 56
GAP_Y: Final = 12
ROWS: Final = 24
"""Nodes above one another; more of one layer go into the next column."""
LABEL: Final = 25
"""Columns of text in a node."""
Place = tuple[int, int]


class Look(NamedTuple):
    """How a status is drawn. Its mark says it without colour."""

    mark: str
    fill: str
    stroke: str


LOOKS: Final[Mapping[str, Look]] = {
    "pending": Look("○", "#f6f8fa", "#6e7781"),
    "in_progress": Look("▶", "#ddf4ff", "#0969da"),
    "done": Look("✓", "#dafbe1", "#1a7f37"),
    "blocked": Look("‖", "#fff8c5", "#9a6700"),
    "failed": Look("✗", "#ffebe9", "#cf222e"),
}


class NodeBox(NamedTuple):
    key: str
    status: str
    label: str
    below: str
    parent: str = ""


def graph_svg(graph: Graph, link: Callable[[str], str] | None = None) -> str:
    """The graph as an SVG element; `link` makes the address of a node from its id or key."""
    boxes = [*_tasks(graph), *_clusters(graph)]
    known = {box.key for box in boxes}
    parents = {box.key: box.parent for box in boxes if box.parent in known}
    edges = [edge for edge in graph.edges if edge[0] in known and edge[1] in known]
    order = [*parents.items(), *edges, *_inherited(parents, edges)]
    places = _places([box.key for box in boxes], order)
    width = max((x for x, _ in places.values()), default=0) + WIDTH + 2
    height = max((y for _, y in places.values()), default=0) + HEIGHT + 2
    words = f"{count_text(graph.total, 'task')} and what they wait for"
    # What is in an image cannot be reached by those who do not see it.
    role = "group" if link else "img"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" role="{role}" width="{width}"'
            f' height="{height}" viewBox="-1 -1 {width} {height}" font-size="12"'
            f' font-family="system-ui, sans-serif"><title>{words}</title>',
            *(_line(places[one], places[other], "part") for one, other in parents.items()),
            *(_line(places[one], places[other], "edge") for one, other in edges),
            *(_node(box, places[box.key], link(box.key) if link else "") for box in boxes),
            "</svg>",
        ]
    )


def _tasks(graph: Graph) -> Iterable[NodeBox]:
    for one in graph.nodes:
        tries = f"attempt {one.attempt}" if one.attempt > 1 else one.status.value.replace("_", " ")
        yield NodeBox(one.id, one.status.value, one.title, f"{one.name} · {tries}", one.parent)


def _clusters(graph: Graph) -> Iterable[NodeBox]:
    for one in graph.clusters:
        counts = one.counts
        done = f"{counts.done} of {counts.total} done"
        failed = f", {counts.failed} failed" if counts.failed else ""
        yield NodeBox(one.key, _status(counts), one.name or "other tasks", done + failed)


def _status(counts: Counts) -> str:
    """The one that a person should see."""
    for status in (TaskStatus.FAILED, TaskStatus.BLOCKED, TaskStatus.IN_PROGRESS):
        if getattr(counts, status):
            return status.value
    return "done" if counts.done == counts.total else "pending"


def _inherited(
    parents: Mapping[str, str], edges: Iterable[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    """What blocks a parent blocks its parts."""
    blockers: dict[str, list[str]] = {}
    for blocker, blocked in edges:
        blockers.setdefault(blocked, []).append(blocker)
    for key in parents:
        above, seen = parents.get(key), {key}
        while above is not None and above not in seen:
            yield from ((one, key) for one in blockers.get(above, ()))
            seen.add(above)
            above = parents.get(above)


def _places(keys: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, Place]:
    """Where each node is: layers from left to right, each sorted by what leads to it."""
    before: dict[str, list[str]] = {key: [] for key in keys}
    after: dict[str, list[str]] = {key: [] for key in keys}
    for one, other in edges:
        before[other].append(one)
        after[one].append(other)
    layers: list[list[str]] = []
    left = {key: len(found) for key, found in before.items()}
    layer = [key for key in keys if not left[key]]
    while layer:
        layers.append(layer)
        following = []
        for key in layer:
            for other in after[key]:
                left[other] -= 1
                if not left[other]:
                    following.append(other)
        layer = following
    # In a circle nothing comes first; the store has none, and a drawing must not hang on one.
    layers.append([key for key in keys if left[key]])
    places: dict[str, Place] = {}
    column = 0
    for layer in filter(None, layers):
        ordered = sorted(layer, key=lambda key: _height_of(before[key], places))
        for number, key in enumerate(ordered):
            x, row = column + number // ROWS, number % ROWS
            places[key] = (x * (WIDTH + GAP_X), row * (HEIGHT + GAP_Y))
        column += 1 + (len(ordered) - 1) // ROWS
    return places


def _height_of(before: Sequence[str], places: Mapping[str, Place]) -> float:
    """The mean height of what leads to a node."""
    heights = [places[one][1] for one in before if one in places]
    return sum(heights) / len(heights) if heights else 0.0


def _line(start: Place, end: Place, kind: str) -> str:
    (x, y), (to_x, to_y) = (
        (start[0] + WIDTH, start[1] + HEIGHT // 2),
        (end[0], end[1] + HEIGHT // 2),
    )
    bend = max(GAP_X // 2, abs(to_x - x) // 3)
    dashes = ' stroke-dasharray="3 3"' if kind == "part" else ""
    return (
        f'<path class="{kind}" d="M{x} {y} C{x + bend} {y} {to_x - bend} {to_y} {to_x} {to_y}"'
        f' fill="none" stroke="#8c959f"{dashes}/>'
    )


def _node(box: NodeBox, place: Place, address: str) -> str:
    x, y = place
    look = LOOKS[box.status]
    title, below = (
        escape(fit(one_line(text), LABEL, pad=False)) for text in (box.label, box.below)
    )
    whole = escape(f"{one_line(box.below)}: {one_line(box.label)} ({box.status})")
    drawn = (
        f'<g class="node {box.status}"><title>{whole}</title>'
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5" fill="{look.fill}"'
        f' stroke="{look.stroke}"/>'
        f'<text x="{x + 8}" y="{y + 17}" fill="#1f2328">{look.mark} {title}</text>'
        f'<text class="small" x="{x + 8}" y="{y + 32}" font-size="10" fill="#59636e">{below}</text>'
        "</g>"
    )
    return f'<a href="{escape(one_line(address))}">{drawn}</a>' if address else drawn
