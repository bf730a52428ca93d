"""Ways to notify a user: programs of the desktop, a command of the user's, services on the network.

Runs as `python -m ralph.adapters.notify.channels` with `{"urls": […], "title": …, "text": …}` on
stdin to call services through `apprise`: a list of processes would show passwords in the addresses,
and a slow service must not delay a run."""

import json
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ralph import MODULE
from ralph.core.notifications import Notification
from ralph.ports.executor import Executor
from ralph.ports.user_interface import NotificationChannel

INSTALL: Final = "pip install 'ralphloop[notify]'"
Compose = Callable[[str, str], tuple[str, ...]]
"""Makes a program's arguments from a title and a text. They come from outside, so they must never
become a part of a script."""


def _speech(title: str, text: str) -> tuple[str, ...]:
    return ("--", f"{title}. {text}")


DESKTOP: Final[Mapping[str, Compose]] = {
    "notify-send": lambda title, text: ("--app-name=Ralph", "--", title, _plain(text)),
    "osascript": lambda title, text: (
        *("-e", "on run argv"),
        *("-e", "display notification (item 2 of argv) with title (item 1 of argv)"),
        *("-e", "end run", "--", title, text),
    ),
}
SPEECH: Final = dict.fromkeys(("say", "spd-say", "espeak-ng", "espeak"), _speech)


def _plain(text: str) -> str:
    """The text without markup, which some desktops would read."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def program_channel(
    executor: Executor, programs: Mapping[str, Compose], title: str, path: str
) -> NotificationChannel | None:
    """The first of some programs on this PATH; None if none is installed."""
    there = ((shutil.which(name, path=path), compose) for name, compose in programs.items())
    program, compose = next((pair for pair in there if pair[0]), (None, None))
    if program is None or compose is None:
        return None
    return lambda news: executor.start_detached((program, *compose(title, news.text)))


def command_channel(
    executor: Executor, command: str, title: str, directory: str, path: str
) -> NotificationChannel:
    """The user's own command; the message is its last argument. `path` is the PATH of the shell,
    without folders that sessions can write."""
    line = f'PATH="$2"; export PATH; {command} "$1"'

    def send(news: Notification) -> None:
        argv = ("/bin/sh", "-c", line, "ralph", f"{title}: {news.text}", path)
        executor.start_detached(argv, cwd=directory)

    return send


def service_channel(executor: Executor, urls: Sequence[str], title: str) -> NotificationChannel:
    """The addresses of `[notify] urls`."""

    def send(news: Notification) -> None:
        job = {"urls": tuple(urls), "title": title, "text": news.text}
        argv = (*MODULE, "ralph.adapters.notify.channels")
        executor.start_detached(argv, stdin=json.dumps(job).encode())

    return send


def main() -> int:
    import apprise  # type: ignore[import-not-found,import-untyped,unused-ignore]

    job = json.load(sys.stdin)
    services = apprise.Apprise()
    is_known = services.add(job["urls"])
    is_sent = services.notify(title=job["title"], body=job["text"])
    return 0 if is_known and is_sent else 1


if __name__ == "__main__":
    sys.exit(main())
