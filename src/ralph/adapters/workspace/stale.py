"""Locks on refs that a killed git has left in a person's repository."""

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from ralph.adapters.workspace.git import Git

STALE_S: Final = 2.0
"""A git that lives holds such a lock for milliseconds."""


def remove_stale_locks(git: Git, more: Iterable[str] = ()) -> None:
    """Remove those on refs of Ralph's own, and on `more` refs that Ralph was about to move."""
    common = os.path.join(git.top, git.word("rev-parse", "--git-common-dir"))
    locks = [os.path.join(common, f"{ref}.lock") for ref in more]
    for folder, _, names in os.walk(os.path.join(common, "refs", "ralph")):
        locks += [os.path.join(folder, name) for name in names if name.endswith(".lock")]
    for path in locks:
        with suppress(FileNotFoundError):
            while (left := os.stat(path).st_mtime + STALE_S - time.time()) > 0:
                time.sleep(min(left, STALE_S))
            os.unlink(path)
