"""The address of a store on a server, where the tasks are not in a file of the project.

It may hold a password, so it is no setting: `.ralph.toml` is committed, and sessions read it. It is
in `.git/ralph`, which sessions do not see.
"""

import os
from contextlib import suppress

from ralph.core.errors import UnusableData
from ralph.files import or_cannot_write, read_regular, replace_file
from ralph.git_layout import find_layout, top_of


def shown_address(address: str) -> str:
    """The address without user, password and options."""
    from urllib.parse import urlsplit  # most commands open a file

    parts = urlsplit(address)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


def saved_address(root: str) -> str:
    """What `ralph init --store` has saved for the project; empty if nothing."""
    # Of a checkout without a repository nothing is known.
    with suppress(FileNotFoundError, UnusableData):
        path = _file_of(root)
        return read_regular(path).decode() if path else ""
    return ""


def save_address(root: str, address: str) -> None:
    path = _file_of(root)
    with or_cannot_write(f"write {path}", "Ralph needs to write its state"):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        replace_file(path, address.encode(), mode=0o600)


def _file_of(root: str) -> str:
    """One for each project of a repository, the same in all its worktrees."""
    top = top_of(root)
    if top is None:
        return ""
    inside = os.path.relpath(root, top).replace(os.sep, "+")
    return os.path.join(find_layout(top).common_dir, "ralph", f"store-{inside}")
