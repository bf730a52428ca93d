"""`.ralph/progress.md`: what was done, story by story. Ralph and agents only ever add to it."""

import re
from typing import Final

import msgspec

from ralph.core.safe_text import block, one_line
from ralph.documents.run_summary import listed

PATH: Final = ".ralph/progress.md"
SIGIL: Final = re.compile(r"<(task-done|promise|next-model|phase-complete|knowledge|dismiss)\b")
LINES: Final = 20
WIDTH: Final = 500
"""More than so many lines, or longer ones, are no summary."""


def fresh(date: str) -> str:
    """A log that nobody has written into."""
    return f"# Progress Log\nStarted: {date}\n\n## Codebase Patterns\n\n---\n\n"


def is_fresh(text: str) -> bool:
    """Has nobody written into it yet?"""
    date = text.partition("Started: ")[2].partition("\n")[0]
    return text == fresh(date)


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """A command that said something about the work."""

    command: str
    passed: bool


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """An accepted attempt."""

    time: str
    story: str
    """Its id and title."""
    run: str
    iteration: int
    log: str
    summary: str
    commit: str = ""
    """With its subject; empty where nothing was committed."""
    uncommitted: tuple[str, ...] = ()
    """What is left in the tree after it."""
    checked: tuple[Checked, ...] = ()
    files: tuple[str, ...] = ()
    done: str = ""
    """What the session says that it did."""
    learned: tuple[str, ...] = ()


def entry(progress: Progress) -> str:
    """What is added to the log."""
    p = progress
    checks = [
        f"  - Command: {one_line(one.command)} -> {'PASS' if one.passed else 'FAIL'}"
        for one in p.checked
    ]
    status = ["- Post-commit status: clean"]
    if p.uncommitted:
        status = ["- Post-commit status:", *listed(p.uncommitted, "  ")]
    return "\n".join(
        [
            f"## {p.time} - {one_line(p.story)}",
            f"Run: {p.run} (iteration {p.iteration})",
            f"Run log: {one_line(p.log)}",
            f"Run summary: {one_line(p.summary)}",
            f"- Commit: {one_line(p.commit) or 'none'}",
            *status,
            "- Verification:",
            *(checks or ["  - none"]),
            "- Files changed:",
            *listed(p.files, "  "),
            "- What was done:",
            *_quoted(p.done or "not said"),
            "- **Learnings for future iterations:**",
            *listed(p.learned, "  "),
            "---",
            "",
            "",
        ]
    )


def last_words(message: str) -> str:
    """What a session says at its end, without what it says to Ralph alone."""
    lines = _without_sigils(message).strip().splitlines()[-LINES:]
    return "\n".join(one_line(line, WIDTH) if len(line) > WIDTH else line for line in lines)


def _without_sigils(message: str) -> str:
    kept: list[str] = []
    at, open_ended = 0, set()
    for found in SIGIL.finditer(message):
        closing = f"</{found[1]}>"
        if found.start() < at or closing in open_ended:
            continue
        end = message.find(closing, found.end())
        if end < 0:
            # Asked once for each kind, however often it opens.
            open_ended.add(closing)
            continue
        kept.append(message[at : found.start()])
        at = end + len(closing)
    return "".join((*kept, message[at:]))


def _quoted(text: str) -> list[str]:
    """An agent's words, kept below their item: headings in them must not become the log's."""
    return [f"  {line}".rstrip() for line in block(text).strip().splitlines()]
