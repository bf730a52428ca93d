"""`.ralph/runs/run-<tag>-iter-<n>.md`: one iteration, for whoever looks later."""

import msgspec

from ralph.core.safe_text import one_line

SHOWN = 200
"""Files and commits in a list; more are counted."""


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What one iteration did. Times are as people read them."""

    run: str
    iteration: int
    mode: str
    story: str = ""
    """Its id and title."""
    started: str
    ended: str
    duration_s: float
    status: str
    log: str
    head_before: str = ""
    head_after: str = ""
    commits: tuple[str, ...] = ()
    """Each with its subject."""
    committed: tuple[str, ...] = ()
    uncommitted: tuple[str, ...] = ()


def render(summary: RunSummary) -> str:
    """As Markdown."""
    s = summary
    facts = [
        ("Run ID", s.run),
        ("Iteration", str(s.iteration)),
        ("Mode", s.mode),
        *([("Story", s.story)] if s.story else []),
        ("Started", s.started),
        ("Ended", s.ended),
        ("Duration", f"{s.duration_s:.0f}s"),
        ("Status", s.status),
        ("Log", s.log),
    ]
    heads = [("Head (before)", s.head_before), ("Head (after)", s.head_after)]
    return "\n".join(
        [
            "# Ralph Run Summary",
            "",
            *(f"- {name}: {one_line(value)}" for name, value in facts),
            "",
            "## Git",
            *(f"- {name}: {one_line(value) or 'none'}" for name, value in heads),
            "",
            "### Commits",
            *listed(s.commits),
            "",
            "### Changed Files (commits)",
            *listed(s.committed),
            "",
            "### Uncommitted Changes",
            *listed(s.uncommitted),
            "",
        ]
    )


def listed(items: tuple[str, ...], indent: str = "") -> list[str]:
    """A list, or that there is nothing in it."""
    more = [f"{indent}- and {len(items) - SHOWN} more"] if len(items) > SHOWN else []
    return [f"{indent}- {one_line(item)}" for item in items[:SHOWN]] + more or [f"{indent}- none"]
