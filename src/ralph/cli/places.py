"""Where things are on disk."""

import os


def git_top(start: str) -> str | None:
    """The top of the git repository around a folder, found by looking, without running git."""
    folder = os.path.abspath(start)
    while not _is_git(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _is_git(path: str) -> bool:
    """A file in worktrees and submodules, a folder elsewhere. An empty one is none: sandboxes leave
    such folders in `/tmp`."""
    return os.path.isfile(path) or os.path.lexists(os.path.join(path, "HEAD"))
