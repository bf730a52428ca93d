"""The templates of all HTML that Ralph writes: whatever they are given is escaped."""

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from ralph.core.safe_text import multi_line, one_line
from ralph.ui.attempt_view import MARKS
from ralph.ui.formatting import cost_text, count_text, first_line


def html_templates() -> Environment:
    made = Environment(
        loader=PackageLoader("ralph.ui.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_safe,
    )
    made.globals.update(marks=MARKS, count_text=count_text)
    made.filters.update(
        line=lambda text, width=300: one_line(str(text or ""), width),
        first=first_line,
        cost=cost_text,
    )
    return made


def _safe(value: Any) -> Any:
    """Nothing that an agent, a file or an issue wrote moves the text or a terminal."""
    return multi_line(value) if type(value) is str and not value.isprintable() else value
