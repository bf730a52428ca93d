"""Failures of the machine: they say nothing about the data, and may be gone at the next try."""

from typing import Final

SIGNS: Final = (
    "Cannot allocate memory",
    "Out of memory",
    "out of memory",
    "Input/output error",
    "Resource temporarily unavailable",
    "Too many open files",
    "Interrupted system call",
    "Stale file handle",
    "unable to create thread",
    "cannot fork",
    "unable to fork",
    "fork failed",
    "died of signal",
    "Bus error",
)
"""What programs print. A full disk is not among them: it stays full until somebody frees space."""

KILLED: Final = frozenset({-15, -9, 137, 143})
"""Exit codes of a process that somebody has killed, as the system or as a shell reports them: the
system does it when memory is short."""


def is_temporary(text: str) -> bool:
    """Does a program's complaint name a failure of the machine?"""
    return any(sign in text for sign in SIGNS)


def killed_by(code: int) -> int:
    """The signal that ended a process, by its exit code; 0 if none did. A sandbox or a shell around
    the process reports 128 and the signal; git itself exits with 128 and 129."""
    if code < 0:
        return -code
    return code - 128 if 130 <= code <= 192 else 0
