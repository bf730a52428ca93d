"""Channels that are programs: each is started with the message and left to itself."""

import shutil
from collections.abc import Callable, Mapping
from typing import Final

from ralph.core.news import News
from ralph.ports.executor import Executor

Compose = Callable[[str, str], tuple[str, ...]]
"""A title and a text become a program's arguments. Both come from outside: they are arguments and
nothing else, never a part of a script."""

DESKTOP: Final[Mapping[str, Compose]] = {
    "notify-send": lambda title, text: ("--app-name=Ralph", "--", title, _plain(text)),
    "osascript": lambda title, text: (
        *("-e", "on run argv"),
        *("-e", "display notification (item 2 of argv) with title (item 1 of argv)"),
        *("-e", "end run", "--", title, text),
    ),
}

SPEECH: Final[Mapping[str, Compose]] = {
    "say": lambda title, text: ("--", f"{title}. {text}"),
    "spd-say": lambda title, text: ("--", f"{title}. {text}"),
    "espeak-ng": lambda title, text: ("--", f"{title}. {text}"),
    "espeak": lambda title, text: ("--", f"{title}. {text}"),
}


def _plain(text: str) -> str:
    """Some desktops read a notification as markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


class Program:
    """The first of some programs that this system has."""

    def __init__(self, executor: Executor, path: str, compose: Compose, title: str) -> None:
        self._executor = executor
        self._path = path
        self._compose = compose
        self._title = title

    @classmethod
    def first(
        cls, executor: Executor, programs: Mapping[str, Compose], title: str, path: str
    ) -> "Program | None":
        """Looked for on this PATH; None where there is none of them."""
        for name, compose in programs.items():
            found = shutil.which(name, path=path)
            if found is not None:
                return cls(executor, found, compose, title)
        return None

    def tell(self, news: News) -> None:
        """Start it."""
        self._executor.send((self._path, *self._compose(self._title, news.text)))


class CommandLine:
    """A person's own command: the message is its last argument."""

    def __init__(
        self, executor: Executor, command: str, title: str, directory: str, path: str
    ) -> None:
        self._executor = executor
        self._command = command
        self._directory = directory
        self._title = title
        self._search = path
        """The PATH on which the shell looks: sessions cannot have put anything there."""

    def tell(self, news: News) -> None:
        """By way of a shell, since it is a command line."""
        message = f"{self._title}: {news.text}"
        line = f'PATH="$2"; export PATH; {self._command} "$1"'
        argv = ("/bin/sh", "-c", line, "ralph", message, self._search)
        self._executor.send(argv, cwd=self._directory)
