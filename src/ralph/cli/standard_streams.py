"""Standard output and its failures: a closed pipe, an encoding without a character."""

import os
import sys

from ralph.core.errors import CannotWrite

BROKEN_PIPE = 141
"""128 + SIGPIPE: what a shell reports of programs whose reader went away."""


def prepare() -> None:
    """Make printing safe where a stream is closed or cannot encode a character."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # Started with the descriptor closed (`>&-`).
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def flush() -> None:
    """Flush standard output while an error can still be reported."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CannotWrite(write_problem(error), hint="") from error


def on_closed_pipe() -> int:
    """Return the exit code for a closed pipe (`ralph task list | head`)."""
    _discard()
    return BROKEN_PIPE


def on_write_error(error: OSError) -> int:
    """Report that an answer cannot be printed; return the exit code."""
    _discard()
    if isinstance(error, BrokenPipeError):
        return BROKEN_PIPE
    print(f"ralph: {write_problem(error)}", file=sys.stderr)
    return CannotWrite.exit_code


def write_problem(error: OSError) -> str:
    where = f" {error.filename}" if error.filename else ""
    return f"cannot write{where}: {(error.strerror or str(error)).lower()}"


def _discard() -> None:
    # What is still buffered would fail once more when Python exits, and print a traceback.
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError, AttributeError):
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
