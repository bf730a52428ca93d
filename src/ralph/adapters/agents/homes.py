"""Folders of configuration, one for each session, seeded with nothing but credentials.

An agent that could write into the person's own folder could plant a hook there, which would run at
the next start, outside of everything that watches sessions.
"""

import json
import os
import sys
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from ralph.adapters.agents.logins import locked, read, refreshed, write
from ralph.adapters.agents.toml_text import toml_text
from ralph.core.errors import CannotWrite
from ralph.files import remove_tree
from ralph.ports.agent import Excerpt, Home


class SessionHomes:
    """Below `.ralph/.tmp`, where git does not look."""

    def __init__(self, root: str, environ: Mapping[str, str]) -> None:
        self._root = os.path.join(root, "agents")
        self._environ = environ
        self._open: tuple[Home, str] | None = None
        self._shared = ""
        """The person's own folder, where a session has to work in it."""

    def files(self, home: Home) -> dict[str, bytes]:
        """The person's own credentials and excerpts, by name."""
        theirs = self._theirs(home)
        names = (*home.credentials, *(excerpt.file for excerpt in home.excerpts))
        found = {name: read(os.path.join(theirs, name)) for name in names}
        return {name: data for name, data in found.items() if data is not None}

    def open(
        self, agent: str, home: Home, session: str, config: Mapping[str, Mapping[str, object]]
    ) -> Mapping[str, str]:
        """Make a folder for a session; return the variables that lead the agent to it."""
        theirs = self._theirs(home)
        if sys.platform == "darwin" and not _any(theirs, home.credentials):
            # The login is in the key chain, where it belongs to the folder's name.
            self._shared = theirs
            return {}
        folder = os.path.join(self._root, f"{agent}@{session.replace(':', '-')}")
        try:
            remove_tree(folder)
            os.makedirs(os.path.join(folder, home.inside), mode=0o700)
            self._open = home, folder
            self._seed(theirs, os.path.join(folder, home.inside), home)
            for name, more in config.items():
                _add(os.path.join(folder, home.inside, name), more)
        except OSError as error:
            raise CannotWrite(f"cannot write {folder}: {error.strerror}") from error
        return {home.variable: folder}

    def save(self) -> None:
        """Copy back what was refreshed so far."""
        if self._open is not None:
            home, folder = self._open
            # What cannot be written now is tried again at the end.
            with suppress(OSError):
                self._copy_back(os.path.join(folder, home.inside), home)

    @property
    def folder(self) -> str:
        """Where the open session's agent keeps its configuration; empty without one."""
        return self._open[1] if self._open is not None else self._shared

    def shut(self) -> None:
        """Copy back what was refreshed, and remove the folder."""
        self._shared = ""
        if self._open is not None:
            home, folder = self._open
            self._open = None
            self._close(home, folder)

    def tidy(self, homes: Mapping[str, Home]) -> None:
        """The same for what a Ralph that was killed has left."""
        with suppress(OSError):
            for name in os.listdir(self._root):
                home = homes.get(name.partition("@")[0])
                if home is not None:
                    self._close(home, os.path.join(self._root, name))

    def _close(self, home: Home, folder: str) -> None:
        # A login that cannot be copied back is lost with the folder, so then it stays.
        with suppress(OSError):
            self._copy_back(os.path.join(folder, home.inside), home)
            remove_tree(folder)

    def _theirs(self, home: Home) -> str:
        """The person's own folder."""
        base = self._environ.get(home.variable)
        if base:
            return os.path.join(base, home.inside)
        user = self._environ.get("HOME") or os.path.expanduser("~")
        return os.path.join(user, home.folder)

    def _seed(self, theirs: str, ours: str, home: Home) -> None:
        for name in home.credentials:
            path = os.path.join(theirs, name)
            data = read(path)
            if data is not None:
                write(os.path.join(ours, name), data, os.stat(path))
        for excerpt in home.excerpts:
            data = read(os.path.join(theirs, excerpt.file))
            part = _excerpt(data, excerpt) if data is not None else None
            if part:
                write(os.path.join(ours, excerpt.file), part)

    def _copy_back(self, ours: str, home: Home) -> None:
        theirs = self._theirs(home)
        for name in home.credentials:
            pair = os.path.join(ours, name), os.path.join(theirs, name)
            if refreshed(*pair) is None:
                continue
            with locked(theirs):
                # Meanwhile another session may have been quicker.
                data = refreshed(*pair)
                if data is not None:
                    write(pair[1], data, os.stat(pair[0]))


def _excerpt(data: bytes, excerpt: Excerpt) -> bytes | None:
    """Only the keys that say how to reach a model: hooks and the like stay behind."""
    is_toml = excerpt.file.endswith(".toml")
    parse: Callable[[str], Any] = tomllib.loads if is_toml else json.loads
    try:
        whole = parse(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None  # the agent would have complained about it anyway
    if not isinstance(whole, dict):
        return None
    part = {key: whole[key] for key in excerpt.keys if key in whole}
    if not part:
        return None
    return (toml_text(part) if is_toml else json.dumps(part, indent=2)).encode()


def _add(path: str, more: Mapping[str, object]) -> None:
    """Put something into a JSON file beside what is there."""
    there = json.loads(read(path) or b"{}")
    write(path, json.dumps(there | more, indent=2).encode())


def _any(folder: str, names: tuple[str, ...]) -> bool:
    return any(os.path.exists(os.path.join(folder, name)) for name in names)
