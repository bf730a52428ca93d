"""Keeping the machine awake: a program of the system's that ends when Ralph does."""

import os
import shutil
from collections.abc import Callable
from typing import Final

PROGRAMS: Final[dict[str, Callable[[], tuple[str, ...]]]] = {
    # Ends by itself with the process that it is told of.
    "caffeinate": lambda: ("-i", "-w", str(os.getpid())),
    # Holds as long as `cat` runs, which is as long as we hold the other end of its pipe.
    "systemd-inhibit": lambda: (
        *("--what=idle:sleep", "--who=Ralph", "--why=A run is at work", "--mode=block"),
        "/bin/cat",
    ),
}


def awake_command(path: str) -> tuple[str, ...] | None:
    """What to start, looked for on this PATH; None where the system has no such thing."""
    for name, arguments in PROGRAMS.items():
        found = shutil.which(name, path=path)
        if found is not None:
            return (found, *arguments())
    return None
