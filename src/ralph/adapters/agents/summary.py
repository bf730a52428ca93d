"""One line of what a tool is asked to do."""

from typing import Final

import msgspec

from ralph.adapters.agents.lines import UNREADABLE
from ralph.core.safe_text import one_line

WIDTH: Final = 300


class _Input(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What tells most about a call, the most telling first."""

    command: str = ""
    file_path: str = ""
    notebook_path: str = ""
    pattern: str = ""
    patterns: str | list[str] = ""
    url: str = ""
    query: str = ""
    directory_path: str = ""
    path: str = ""
    description: str = ""
    skill: str = ""
    prompt: str = ""


_decode = msgspec.json.Decoder(_Input).decode


def summary(given: msgspec.Raw) -> str:
    """The command, the file, the pattern; of tools that nobody knows, the input as it is."""
    raw = bytes(given)
    if raw == b"{}":
        return ""
    try:
        told = next(filter(None, msgspec.structs.astuple(_decode(raw))), "")
    except UNREADABLE:
        told = ""
    if isinstance(told, list):
        told = " ".join(told)
    return one_line(told or raw[: 4 * WIDTH].decode("utf-8", "replace"), WIDTH)
