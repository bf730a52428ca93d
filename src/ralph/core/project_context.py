"""What a session with a person is told about the project, in a page or two."""

from collections.abc import Sequence
from typing import Final

import msgspec

from ralph.core.task import Feature

GUIDE_LENGTH: Final = 6000
"""Characters of the project's own guide: a session can read the rest itself."""


class FeatureRow(msgspec.Struct, frozen=True, kw_only=True):
    """A feature, and how many of its tasks are done."""

    feature: Feature
    done: int
    total: int


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """The project, as far as a conversation about its features needs it."""

    guide_name: str = ""
    """CLAUDE.md or AGENTS.md; empty without one."""
    guide: str = ""
    settings: Sequence[tuple[str, str]] = ()
    features: Sequence[FeatureRow] = ()


def describe(context: Context) -> str:
    """As Markdown."""
    parts = ["## The project"]
    if context.guide.strip():
        cut = shortened(context.guide.strip(), GUIDE_LENGTH)
        parts.append(f"From `{context.guide_name}`:\n\n{_quoted(cut)}")
    if context.settings:
        parts.append("\n".join(f"- {name}: {value}" for name, value in context.settings))
    if context.features:
        rows = "\n".join(map(_row, context.features))
        parts.append(f"| feature | status | tasks done |\n| --- | --- | --- |\n{rows}")
    return "\n\n".join(parts) if len(parts) > 1 else ""


def shortened(text: str, length: int) -> str:
    """The beginning, cut at the end of a line, and what was cut is said."""
    if len(text) <= length:
        return text
    end = text.rfind("\n", length // 2, length)
    kept = text[: end if end > 0 else length].rstrip()
    return f"{kept}\n[… {len(text) - len(kept)} more characters in the file]"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _row(row: FeatureRow) -> str:
    name = row.feature.name.replace("|", "\\|")
    return f"| {name} | {row.feature.status.value} | {row.done} of {row.total} |"
