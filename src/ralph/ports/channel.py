"""A way to call a person who is elsewhere."""

from typing import Protocol

from ralph.core.news import News


class Channel(Protocol):
    """A bell, a notification, a command. A run never waits for one, and never fails over one."""

    def tell(self, news: News) -> None:
        """Send it off; whether it arrives is another matter."""
        ...
