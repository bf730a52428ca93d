"""Reading what a session may have put there: only files are read, and no link is followed."""

import contextlib
import os

from ralph.files import open_regular


def read_plain(path: str, limit: int) -> bytes:
    """The beginning of a file; nothing of what is no file. Neither led elsewhere by a link, nor
    waiting at a pipe."""
    with contextlib.suppress(OSError), open_regular(path, os.O_NOFOLLOW) as file:
        return file.read(limit)
    return b""
