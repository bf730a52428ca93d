"""How a process exited, and which failures of the machine may be gone at the next try."""

import re
from typing import Final

import msgspec

from ralph.core.session_ending import EndingKind


class ProcessExit(msgspec.Struct, frozen=True, kw_only=True):
    """How a process exited. The exit code is evidence, never the verdict."""

    code: int | None = None
    """None when it could not be started at all."""
    stop: EndingKind | None = None
    """What Ralph stopped it for; FINISHED: it kept running after its result, which counts."""
    ended_at: float = 0.0
    """When, in seconds since the epoch: some agents tell a time of day and mean the next one."""
    duration_s: float = 0.0
    stderr: str = ""
    """Its last 16 KiB."""
    leftovers_ended: int = 0
    """Descendants that had to be ended after it."""
    error: str = ""
    """Why it could not be started."""
    limit: str = ""
    """Which limit it was over, in words."""


SIGNS: Final = re.compile(
    "Cannot allocate memory|[Oo]ut of memory|Input/output error|Resource temporarily unavailable"
    "|Too many open files|Interrupted system call|Stale file handle|unable to create thread"
    "|cannot fork|unable to fork|fork failed|died of signal|Bus error"
)
"""What programs print. A full disk is not among them: it stays full until a person frees space."""


def is_temporary(text: str) -> bool:
    """Does a program's complaint name a failure of the machine?"""
    return SIGNS.search(text) is not None


def signal_of_exit_code(code: int, lowest: int = 130) -> int:
    """The signal that ended a process, by its exit code; 0 if none did. A sandbox or a shell around
    the process reports 128 and the signal; git itself exits with 128 and 129."""
    if code < 0:
        return -code
    return code - 128 if lowest <= code <= 192 else 0


def was_killed(code: int | None) -> bool:
    """Whether a signal ended it, for example when memory was short."""
    return code is not None and signal_of_exit_code(code) in (9, 15)
