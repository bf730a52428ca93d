"""Files that are made when they are missing, and never written anew."""

from collections.abc import Callable

from tests.e2e.arrows.row import Arrow
from tests.e2e.scenes import FRESH, Ran

NAMES = {
    "progress.md": "# Progress Log\nStarted: ",
    "guardrails.md": "### Sign: Read Before Writing",
    "errors.log": "# Error Log",
    "activity.log": "## Run Summary",
}
"""A state file, and what stands in a fresh one."""


def _made(name: str) -> Callable[[Ran], bool]:
    return lambda ran: NAMES[name] in ran.ralph(name)


def _others_stay(name: str) -> Callable[[Ran], bool]:
    return lambda ran: all(ran.ralph(one).startswith("mine\n") for one in FRESH if one != name)


STATE_FILES = [
    *(
        Arrow("check", f"{one} missing", "made", f"build without {one}", _made(one))
        for one in FRESH
    ),
    *(Arrow("made", "", "all exist", f"build without {one}", _others_stay(one)) for one in FRESH),
    Arrow("check", "all exist", "all exist", "build with all state files", _others_stay("")),
    Arrow("all exist", "", "ready", "build with all state files", lambda r: r.sessions == 1),
]
