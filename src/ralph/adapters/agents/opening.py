"""The first words of a session with a person: an argument, since its stdin is the terminal."""

from typing import Final

from ralph.ports.agent import Brief, with_rules

ARGUMENT_BYTES: Final = 96 * 1024
"""Linux takes no argument of 128 KiB or more."""


def opening(brief: Brief) -> str:
    """The whole of it where it fits, else where to find it."""
    whole = with_rules(brief)
    if len(whole.encode()) < ARGUMENT_BYTES:
        return whole
    files = " and ".join(filter(None, (brief.rules_path, brief.path)))
    return f"Read {files} to the end, then do what is said there."
