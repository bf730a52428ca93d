"""How full a session's context is, and when it had better hand its task to a fresh one."""

from collections.abc import Mapping
from typing import Final

import msgspec

from ralph.core.ending import CHARS_PER_TOKEN, Digest

OVERHEAD: Final = 5000
"""Tokens that an agent's own instructions take, where nobody says how many."""
MARGIN: Final = 0.2
"""The share that no session should reach: agents cut their context down by themselves there."""
MOST: Final = 10
"""Hand-offs of one attempt that follow from its context; a person may ask for more."""


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """How much a context holds, and when it counts as nearly full."""

    capacity: int = 200_000
    """Tokens; 0: nobody knows, so nothing is handed over."""
    windows: Mapping[str, int] = {}
    """The same by model, where that differs."""
    handoff_at: float = 0.6
    """The share at which a session hands over; 0: never."""
    wrap_up_s: float = 180.0
    """How long a session has, once it was asked, before it is ended."""

    def holds(self, *models: str) -> int:
        """What a context of the first of these models holds that is known."""
        known = (self.windows[model] for model in models if model in self.windows)
        return next(known, self.capacity)


class Filling(msgspec.Struct, frozen=True, kw_only=True):
    """What is in a context, in tokens."""

    used: int = 0
    opened: int = 0
    """What was in it before the session did anything: its brief, its tools, its instructions."""
    from_tools: int = 0
    """What tools have answered."""
    capacity: int = 0

    @property
    def share(self) -> float:
        """From 0 to 1, or more where the capacity is not what was thought."""
        return self.used / self.capacity if self.capacity else 0.0


def filling(digest: Digest, brief_tokens: int, capacity: int) -> Filling:
    """As the agent's requests tell; else an estimate from what went to and fro."""
    opened = digest.opened or brief_tokens + OVERHEAD
    return Filling(
        used=digest.context or opened + digest.size // CHARS_PER_TOKEN,
        opened=opened,
        from_tools=digest.from_tools // CHARS_PER_TOKEN,
        capacity=capacity,
    )


def is_due(now: Filling, handoff_at: float) -> bool:
    """Is it time? A session that began nearly full needs room to get somewhere, or the next one
    would begin as full and hand over at once."""
    if not (handoff_at and now.capacity) or now.opened >= now.capacity:
        return False
    sure = now.opened + (now.capacity - now.opened) * handoff_at / 2
    return now.used >= max(now.capacity * handoff_at, sure)


def is_full(now: Filling) -> bool:
    """Is there no time left to wrap up?"""
    return 0 < now.capacity * (1 - MARGIN) <= now.used
