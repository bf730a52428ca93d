"""The feed of the page: server-sent events, with the number of the event as their id.

Each client asks the store from the last number that it has seen, so one that was away for an hour
misses nothing, one that does not read holds nothing in memory, and none gets an event twice.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

import msgspec

from ralph.ui.project_view import FeedItem, ProjectView

LOOK_S: Final = 0.25
SILENCE_S: Final = 15.0
"""After so long a comment is sent: a connection that is gone shows itself by that."""
PAGE: Final = 200


class Feed:
    """Looks into the store for all clients together, and wakes them."""

    def __init__(self, view: ProjectView) -> None:
        self._view = view
        self._seq = view.store.events.last_seq()
        self._changed = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None
        self._clients = 0

    async def events(self, after: int) -> AsyncIterator[bytes]:
        """What happens after an event, for as long as the client stays."""
        self._clients += 1
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        try:
            yield b"retry: 1000\n\n"
            while True:
                # Taken before the store is asked: what comes in between sets it.
                changed = self._changed
                page = self._view.feed(after, PAGE)
                if page.items:
                    yield b"".join(map(_message, page.items))
                    after = page.seq
                if page.is_last and not await _is_set(changed):
                    yield b": still here\n\n"
        finally:
            self._clients -= 1
            if not self._clients and self._looking is not None:
                self._looking.cancel()
                self._looking = None

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            seq = self._view.store.events.last_seq()
            if seq != self._seq:
                self._seq = seq
                changed, self._changed = self._changed, asyncio.Event()
                changed.set()


async def _is_set(changed: asyncio.Event) -> bool:
    try:
        await asyncio.wait_for(changed.wait(), SILENCE_S)
    except TimeoutError:
        return False
    return True


def _message(item: FeedItem) -> bytes:
    data = msgspec.json.encode(
        {"time": item.time, "run": item.run_id, "task": item.task, "text": item.text}
    )
    return b"id: %d\nevent: news\ndata: %s\n\n" % (item.seq, data)
