"""Orphans of a session become our children, so that none gets lost; and the dead are buried."""

import contextlib
import functools
import os
import sys
from typing import Final

PR_SET_CHILD_SUBREAPER: Final = 36


@functools.cache
def adopts() -> bool:
    """Make this process the one that orphans below it fall to. Linux only."""
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    return prctl is not None and prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def has_children() -> bool:
    """One system call, so that a session that left nothing costs nothing."""
    try:
        _wait_for_any()
    except ChildProcessError:
        return False
    return True


def first_dead() -> int | None:
    """A child that has ended and waits to be reaped."""
    with contextlib.suppress(ChildProcessError):
        return _wait_for_any()
    return None


def _wait_for_any() -> int | None:
    if sys.platform == "darwin":
        # Nothing is adopted there, so nobody asks.
        return None
    dead = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return dead.si_pid if dead is not None else None


def reap(pid: int) -> bool:
    """Bury a dead child. False: threads of it are still alive."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True
