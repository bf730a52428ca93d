"""Standard output and its accidents: a reader that left, an encoding that lacks a letter."""

import os
import sys

from ralph.core.errors import CannotWrite

BROKEN_PIPE = 141
"""128 + SIGPIPE: what a shell reports of programs whose reader went away."""


def prepare() -> None:
    """Make sure that printing cannot fail for want of a stream or a letter."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # Started with the descriptor closed (`>&-`).
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def flush() -> None:
    """Write out what is buffered, now, while an error can still be reported."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CannotWrite(trouble(error)) from error


def nobody_reads() -> int:
    """`ralph task list | head` is no mistake: leave quietly."""
    _discard()
    return BROKEN_PIPE


def cannot_say(error: OSError) -> int:
    """What to do when an answer cannot be printed."""
    _discard()
    if isinstance(error, BrokenPipeError):
        return BROKEN_PIPE
    print(f"ralph: {trouble(error)}", file=sys.stderr)
    return CannotWrite.exit_code


def trouble(error: OSError) -> str:
    """Why something cannot be written, in words."""
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
