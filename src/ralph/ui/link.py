"""Paths that can be clicked, on terminals that know how."""

import os
from collections.abc import Mapping
from urllib.parse import quote_from_bytes

UNKNOWING = frozenset({"", "dumb", "linux"})
"""Kinds of terminal that would show the address itself."""


def file_url(path: str) -> str:
    """The address of a file on this machine: the terminal may be on another one.

    Every byte that is not a plain letter is escaped, so that a name can neither end the link nor
    say anything to the terminal.
    """
    host = quote_from_bytes(os.fsencode(os.uname().nodename), safe="")
    return f"file://{host}{quote_from_bytes(os.fsencode(os.path.abspath(path)))}"


def knows_links(env: Mapping[str, str]) -> bool:
    """Others show the text alone; these few would show rubbish."""
    return env.get("TERM", "") not in UNKNOWING


def link_to(path: str) -> str | None:
    """The address of a file, if this terminal knows links."""
    return file_url(path) if knows_links(os.environ) else None


def linked(text: str, path: str) -> str:
    """A text, safe to show, that leads to a file."""
    return f"\x1b]8;;{file_url(path)}\x1b\\{text}\x1b]8;;\x1b\\"
