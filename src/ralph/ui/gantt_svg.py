"""Draw when the sessions of a run were at work, as SVG: a row for each worker."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from ralph.core.safe_text import one_line
from ralph.core.times import format_duration
from ralph.store.screens import SessionBar
from ralph.ui.formatting import fit, parse_time

WIDTH: Final = 900
NAMES: Final = 110
"""The room for the names of workers."""
MARGIN: Final = 30
"""On the right: half of the last time."""
ROW: Final = 26
AXIS: Final = 22
TICKS: Final = 6
COLORS: Final[Mapping[str, str]] = {
    "accepted": "#2da44e",
    "": "#0969da",
    "split": "#0969da",
    "released": "#8c959f",
}
FAILED: Final = "#cf222e"
MARKS: Final = {"work": "", "verify": "verification of ", "review": "review of "}


def gantt_svg(bars: Sequence[SessionBar], now: float) -> str:
    """The chart as an SVG element; a session that has not ended lasts until now."""
    spans = [(bar, start, parse_time(bar.ended_at) or now) for bar in bars if (start := _at(bar))]
    begun = min((start for _, start, _ in spans), default=now)
    ended = max((end for *_, end in spans), default=now)
    length = max(1.0, ended - begun)
    slots = sorted({bar.slot for bar in bars})
    height = AXIS + ROW * len(slots)
    scale = (WIDTH - NAMES - MARGIN) / length
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="gantt" role="img" width="{WIDTH}"'
        f' height="{height}" viewBox="0 0 {WIDTH} {height}" font-size="11"'
        ' font-family="system-ui, sans-serif"><title>sessions over time, by worker</title>'
    ]
    for number in range(TICKS):
        after = length * number / (TICKS - 1)
        x = NAMES + after * scale
        lines.append(
            f'<line class="tick" x1="{x:.1f}" y1="14" x2="{x:.1f}" y2="{height}" stroke="#d1d9e0"/>'
            f'<text class="small" x="{x:.1f}" y="11" text-anchor="middle" fill="#59636e">'
            f"{format_duration(after)}</text>"
        )
    for number, slot in enumerate(slots):
        y = AXIS + ROW * number
        name = escape(fit(one_line(slot or "run"), 16, pad=False))
        lines.append(f'<text x="4" y="{y + 16}" fill="#1f2328">{name}</text>')
        for bar, start, end in spans:
            if bar.slot == slot:
                x = NAMES + (start - begun) * scale
                lines.append(_bar(bar, x, y, max(2.0, (end - start) * scale), end - start))
    return "\n".join([*lines, "</svg>"])


def _at(bar: SessionBar) -> float | None:
    return parse_time(bar.started_at)


def _bar(bar: SessionBar, x: float, y: int, width: float, took_s: float) -> str:
    result = bar.result or ("at work" if bar.ended_at is None else "ended")
    words = (
        f"{MARKS.get(bar.role, '')}{bar.name} {bar.title}, attempt {bar.attempt}, {bar.agent},"
        f" {format_duration(max(0.0, took_s))}: {result}"
    )
    # Checks are drawn lower than the work that they check.
    top, tall = (y + 3, ROW - 8) if bar.role == "work" else (y + 9, ROW - 14)
    kind = f"{bar.role} {bar.result or 'open'}"
    return (
        f'<rect class="bar {escape(kind)}" x="{x:.1f}" y="{top}" width="{width:.1f}"'
        f' height="{tall}" rx="2" fill="{COLORS.get(bar.result, FAILED)}">'
        f"<title>{escape(one_line(words))}</title></rect>"
    )
