"""Where things are on disk."""

import os


def git_top(start: str) -> str | None:
    """The top of the git repository around a folder, found by looking, without running git."""
    folder = os.path.abspath(start)
    # A file in worktrees and submodules, a folder elsewhere.
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder
