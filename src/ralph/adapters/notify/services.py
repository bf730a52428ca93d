"""Services on the network, by way of the extra `apprise`.

Runs as `python -m ralph.adapters.notify.services` with `{"urls": […], "title": …, "text": …}` on
stdin: the addresses hold passwords, which a list of processes would show, and a slow service must
not hold up a run.
"""

import json
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from ralph.core.news import News
from ralph.ports.executor import Executor

INSTALL = "pip install 'ralph[notify]'"


class Services:
    """The addresses of `[notify] urls`."""

    def __init__(self, executor: Executor, urls: Sequence[str], title: str) -> None:
        self._executor = executor
        self._urls = tuple(urls)
        self._title = title

    @staticmethod
    def are_installed() -> bool:
        """Is the extra there?"""
        return find_spec("apprise") is not None

    def tell(self, news: News) -> None:
        """In a process of its own."""
        job = {"urls": self._urls, "title": self._title, "text": news.text}
        argv = (sys.executable, "-m", "ralph.adapters.notify.services")
        self._executor.send(argv, stdin=json.dumps(job).encode())


def main() -> int:
    """Send one message to all of them."""
    import apprise  # type: ignore[import-not-found,import-untyped,unused-ignore]

    job = json.load(sys.stdin)
    services = apprise.Apprise()
    is_known = services.add(job["urls"])
    is_sent = services.notify(title=job["title"], body=job["text"])
    return 0 if is_known and is_sent else 1


if __name__ == "__main__":
    sys.exit(main())
