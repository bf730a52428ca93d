"""Starting a child, or saying in one line why it could not be started."""

import contextlib
import errno
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence


class NotStarted(Exception):
    """The child never ran."""


def start(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str] | None,
    stdin: bool,
) -> subprocess.Popen[bytes]:
    """A child in a session and group of its own, its pipes unbuffered.

    `preexec_fn` would cost a real fork of everything Ralph has in memory; this way vfork is used.
    """
    if not argv or not argv[0]:
        raise NotStarted("no program is named")
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        # Inherited from a careless parent; it would make every exit code 0.
        with contextlib.suppress(ValueError):
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        return subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            close_fds=True,
            start_new_session=True,
        )
    except OSError as error:
        raise NotStarted(reason(error, argv, cwd)) from error
    except ValueError as error:
        # A NUL byte in an argument, a `=` in the name of a variable.
        raise NotStarted(f"{argv[0]!r} cannot be started: {error}") from error


def reason(error: OSError, argv: Sequence[str], cwd: str) -> str:
    """Why, in one line."""
    program = argv[0]
    if error.filename == cwd:
        return f"{program} cannot start in {cwd}: {error.strerror}"
    match error.errno:
        case errno.ENOENT if os.path.exists(os.path.join(cwd, program)) and "/" in program:
            return f"{program} names an interpreter that does not exist"
        case errno.ENOENT:
            return f"{program} is not installed, or not on PATH"
        case errno.EACCES:
            return f"{program} is not executable"
        case errno.ENOEXEC:
            return f"{program} is not a program for this machine, or lacks its #! line"
        case errno.E2BIG:
            return f"the arguments and environment of {program} are too long"
        case _:
            return f"{program} cannot be started: {error.strerror}"
