"""`.ralph/activity.log`: a line for each iteration, the newest first, and then what happened."""

from typing import Final

import msgspec

from ralph.core.safe_text import one_line

PATH: Final = ".ralph/activity.log"
SUMMARY: Final = "## Run Summary"
EVENTS: Final = "## Events"
FRESH: Final = f"# Activity Log\n\n{SUMMARY}\n\n{EVENTS}\n\n"


class Iteration(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the summary."""

    time: str
    run: str
    iteration: int
    mode: str
    story: str = ""
    duration_s: float
    status: str


def summary_line(one: Iteration) -> str:
    """`- 2026-03-01 12:00:00 | run=… | iter=1 | mode=build | story=US-001 | …`"""
    fields = {
        "run": one.run,
        "iter": str(one.iteration),
        "mode": one.mode,
        "story": one.story or "-",
        "duration": f"{one.duration_s:.0f}s",
        "status": one.status,
    }
    told = [f"{name}={_field(value)}" for name, value in fields.items()]
    return " | ".join([f"- {one.time}", *told])


def _field(value: str) -> str:
    # A bar would read as the next field.
    return one_line(value).replace("|", "/")


def event_line(time: str, message: str) -> str:
    """`[2026-03-01 12:00:00] message`, as in the errors log."""
    return f"[{time}] {one_line(message)}\n"


def with_summary(text: str, one: Iteration) -> str:
    """The log with one more line on top of its summary; everything else stays as it is."""
    lines = (text or FRESH).split("\n")
    end = "\r" if lines[0].endswith("\r") else ""
    added = [f"{summary_line(one)}{end}"]
    heads = [line.strip() for line in lines]
    if SUMMARY not in heads:
        # Somebody has taken the section out.
        at = heads.index(EVENTS) if EVENTS in heads else _end(lines)
        return "\n".join([*lines[:at], f"{SUMMARY}{end}", end, *added, end, *lines[at:]])
    at = heads.index(SUMMARY) + 1
    if at < len(lines) and not heads[at]:
        at += 1
    else:
        added.insert(0, end)
    if at < len(lines) and heads[at].startswith("#"):
        added.append(end)
    return "\n".join([*lines[:at], *added, *lines[at:]])


def _end(lines: list[str]) -> int:
    return len(lines) - 1 if not lines[-1] else len(lines)
