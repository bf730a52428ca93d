"""The first words of a session, where there is no room for a whole brief."""

from typing import Final

from ralph.ports.agent import Brief, with_rules

ARGUMENT_BYTES: Final = 96 * 1024
"""For a session with a person, whose stdin is the terminal: Linux takes no argument of 128 KiB or
more."""


def opening(brief: Brief, most: int = ARGUMENT_BYTES, *, rules: bool = True) -> str:
    """The whole of it where it fits, else where to find it. `rules`: they come no other way."""
    whole = with_rules(brief) if rules else brief.text
    if len(whole.encode("utf-8", "replace")) <= most:
        return whole
    told = f"What is to be done is in {brief.path}: read that file to the end, part by part."
    return f"{brief.rules}\n\n{told}" if rules and brief.rules else told
