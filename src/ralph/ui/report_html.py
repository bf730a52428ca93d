"""The report of a run as one HTML page: no script, no link to anywhere, every text escaped."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from ralph.core.safe_text import multi_line, one_line
from ralph.ports.workspace import ChangeReader
from ralph.ui.formatting import format_time, parse_time
from ralph.ui.gantt_svg import gantt_svg
from ralph.ui.graph_svg import graph_svg
from ralph.ui.html_templates import html_templates
from ralph.ui.report import MOST_FILES, Report, change_text, effort_text, figures, outcome_text

MOST_DIFF_CHARS: Final = 4_000_000
"""Of all diffs together: the page is to be mailed."""


def report_html(report: Report, changes: ChangeReader, now: float) -> str:
    left = MOST_DIFF_CHARS

    def diff_lines(commits: Sequence[str]) -> list[str]:
        """Empty where there are too many for one page."""
        nonlocal left
        text = changes.patch(commits) if left > 0 else ""
        left -= len(text)
        return multi_line(text).splitlines()

    charts = []
    if report.bars:
        charts.append(("Sessions over time", Markup(gantt_svg(report.bars, now))))
    if report.graph.total:
        charts.append(("Graph", Markup(graph_svg(report.graph))))
    templates = html_templates()
    templates.filters.update(time=lambda text: format_time(parse_time(text)))
    return (
        templates.get_template("report.html").render(
            report=report,
            title=one_line(f"Run {report.run.id}: {outcome_text(report)}"),
            now=format_time(now),
            figures=figures(report, now),
            charts=charts,
            diff_lines=diff_lines,
            kinds={"+": "add", "-": "del", "@": "hunk", "d": "hunk"},
            most_files=MOST_FILES,
            change_text=change_text,
            effort_text=effort_text,
        )
        + "\n"
    )
