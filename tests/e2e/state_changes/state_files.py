"""Diagram 6: files that are made when they are missing, and never written anew."""

from collections.abc import Callable, Iterator

from tests.e2e.pipeline_runs import FRESH, Ran
from tests.e2e.state_changes.row import END, START, Arrow

NAMES = {
    "progress.md": ("# Progress Log\nStarted: ", "## Codebase Patterns"),
    "guardrails.md": ("### Sign: Read Before Writing", "### Sign: Test Before Commit"),
    "errors.log": ("# Error Log",),
    "activity.log": ("## Run Summary", "## Events"),
}
"""A state file, and what stands in a fresh one."""


def _made(name: str) -> Callable[[Ran], bool]:
    return lambda ran: ran.ralph(name) != ""


def _as_template(name: str) -> Callable[[Ran], bool]:
    return lambda ran: all(words in ran.ralph(name) for words in NAMES[name])


def _others_stay(name: str) -> Callable[[Ran], bool]:
    return lambda ran: all(ran.ralph(one).startswith("mine\n") for one in FRESH if one != name)


def _missing(name: str) -> Iterator[Arrow]:
    """The way of one file."""
    scene, gone = f"build without {name}", f"{name} missing"
    create, fill = f"create {name}", f"initialize {name} template"
    yield Arrow("check state files", gone, gone, scene, _others_stay(name))
    yield Arrow(gone, "", create, scene, _made(name))
    yield Arrow(create, "", fill, scene, _as_template(name))
    yield Arrow(fill, "", "all exist", scene, lambda ran: all(map(ran.ralph, FRESH)))


WHOLE = "build with all state files"
STATE_FILES = [
    Arrow(START, "", "check state files", WHOLE, lambda ran: ran.sessions == 1),
    *(arrow for name in FRESH for arrow in _missing(name)),
    Arrow("check state files", "all exist", "all exist", WHOLE, _others_stay("")),
    Arrow("all exist", "", "ready", WHOLE, lambda ran: all(map(ran.ralph, FRESH))),
    Arrow("ready", "", END, WHOLE, lambda ran: ran.sessions == 1),
]
