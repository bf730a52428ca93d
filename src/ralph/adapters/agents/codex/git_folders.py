"""Where git keeps a checkout's history.

Codex's own sandbox makes these folders read-only, so that nothing could be committed; each of them
has to be named to be writable.
"""

import os

from ralph.files import open_regular


def git_folders(checkout: str) -> tuple[str, ...]:
    """The checkout's own folder, and the one that it shares with others; none without git."""
    found = _entry(checkout)
    if found is None or os.path.isdir(found):
        return (found,) if found else ()
    # A linked worktree or a submodule: a file that says where the folder is.
    words = _line(found).removeprefix("gitdir:").strip()
    if not words:
        return ()
    own = os.path.realpath(os.path.join(os.path.dirname(found), words))
    shared = _line(os.path.join(own, "commondir"))
    return (own, os.path.realpath(os.path.join(own, shared))) if shared else (own,)


def _entry(folder: str) -> str | None:
    folder = os.path.realpath(folder)
    while True:
        entry = os.path.join(folder, ".git")
        # An empty folder is none: sandboxes leave such folders in `/tmp`.
        if os.path.isfile(entry) or os.path.lexists(os.path.join(entry, "HEAD")):
            return entry
        if folder == os.path.dirname(folder):
            return None
        folder = os.path.dirname(folder)


def _line(path: str) -> str:
    try:
        with open_regular(path) as file:
            return file.readline(8192).decode("utf-8", "surrogateescape").strip()
    except OSError:
        return ""
