"""Folders of configuration, one for each session, seeded with nothing but credentials.

An agent that could write into the person's own folder could plant a hook there, which would run at
the next start, outside of everything that watches sessions.
"""

import fcntl
import json
import os
import shutil
import stat
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

from ralph.adapters.agents.toml_text import toml_text
from ralph.core.errors import CannotWrite
from ralph.ports.agent import Excerpt, Home

LOCK: Final = ".ralph.lock"
"""Beside the person's credentials, while refreshed ones are copied back."""
LARGEST: Final = 16 * 1024 * 1024
"""No configuration is that long."""


class SessionHomes:
    """Below `.ralph/.tmp`, where git does not look."""

    def __init__(self, root: str, environ: Mapping[str, str]) -> None:
        self._root = os.path.join(root, "agents")
        self._environ = environ
        self._open: tuple[Home, str] | None = None

    def files(self, home: Home) -> dict[str, bytes]:
        """The person's own credentials and excerpts, by name."""
        theirs = self._theirs(home)
        names = (*home.credentials, *(excerpt.file for excerpt in home.excerpts))
        found = {name: _read(os.path.join(theirs, name)) for name in names}
        return {name: data for name, data in found.items() if data is not None}

    def open(self, agent: str, home: Home, session: str) -> Mapping[str, str]:
        """Make a folder for a session; return the variables that lead the agent to it."""
        theirs = self._theirs(home)
        if sys.platform == "darwin" and not _any(theirs, home.credentials):
            # The login is in the key chain, where it belongs to the folder's name.
            return {}
        folder = os.path.join(self._root, f"{agent}@{session.replace(':', '-')}")
        try:
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(os.path.join(folder, home.inside), mode=0o700)
            self._open = home, folder
            self._seed(theirs, os.path.join(folder, home.inside), home)
        except OSError as error:
            raise CannotWrite(f"cannot write {folder}: {error.strerror}") from error
        return {home.variable: folder}

    def shut(self) -> None:
        """Copy back what was refreshed, and remove the folder."""
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
            shutil.rmtree(folder)

    def _theirs(self, home: Home) -> str:
        """The person's own folder."""
        base = self._environ.get(home.variable)
        if base:
            return os.path.join(base, home.inside)
        user = self._environ.get("HOME") or os.path.expanduser("~")
        return os.path.join(user, home.folder)

    def _seed(self, theirs: str, ours: str, home: Home) -> None:
        for name in home.credentials:
            data = _read(os.path.join(theirs, name))
            if data is not None:
                _write(os.path.join(ours, name), data)
                # As old as the original: what is newer at the end was refreshed.
                times = os.stat(os.path.join(theirs, name))
                os.utime(os.path.join(ours, name), ns=(times.st_atime_ns, times.st_mtime_ns))
        for excerpt in home.excerpts:
            data = _read(os.path.join(theirs, excerpt.file))
            part = _excerpt(data, excerpt) if data is not None else None
            if part:
                _write(os.path.join(ours, excerpt.file), part)

    def _copy_back(self, ours: str, home: Home) -> None:
        theirs = self._theirs(home)
        for name in home.credentials:
            refreshed = _refreshed(os.path.join(ours, name), os.path.join(theirs, name))
            if refreshed is None:
                continue
            with _locked(theirs):
                # Meanwhile another session may have been quicker.
                if _refreshed(os.path.join(ours, name), os.path.join(theirs, name)) is not None:
                    _write(os.path.join(theirs, name), refreshed)


def _refreshed(ours: str, theirs: str) -> bytes | None:
    """The session's credentials, if they are whole, others, and newer than the person's."""
    # What an agent put there in the place of a file must not lead us elsewhere.
    data, before = _read(ours, os.O_NOFOLLOW), _read(theirs)
    if data is None or before is None or data == before or not _is_whole(ours, data, before):
        return None
    newer = os.stat(ours).st_mtime_ns > os.stat(theirs).st_mtime_ns
    return data if newer else None


def _is_whole(name: str, data: bytes, before: bytes) -> bool:
    if not name.endswith(".json"):
        return bool(data.strip())  # encrypted: only the agent could tell more
    try:
        now = json.loads(data)
    except (ValueError, RecursionError):
        return False
    try:
        return isinstance(now, dict) and _has_all(now, json.loads(before))
    except (ValueError, RecursionError):
        return True  # anything is better than what cannot be read


def _has_all(now: object, before: object) -> bool:
    """Is everything still there? A session that was logged out, perhaps since another one was
    quicker to refresh the same login, must not log the person out as well."""
    if not isinstance(before, dict):
        return bool(now) or not before
    return isinstance(now, dict) and all(
        _has_all(now.get(key), value) for key, value in before.items()
    )


def _excerpt(data: bytes, excerpt: Excerpt) -> bytes | None:
    """Only the keys that say how to reach a model: hooks and the like stay behind."""
    is_toml = excerpt.file.endswith(".toml")
    read: Callable[[str], Any] = tomllib.loads if is_toml else json.loads
    try:
        whole = read(data.decode("utf-8-sig"))
    except ValueError:
        return None  # the agent would have complained about it anyway
    if not isinstance(whole, dict):
        return None
    part = {key: whole[key] for key in excerpt.keys if key in whole}
    if not part:
        return None
    return (toml_text(part) if is_toml else json.dumps(part, indent=2)).encode()


def _any(folder: str, names: tuple[str, ...]) -> bool:
    return any(os.path.exists(os.path.join(folder, name)) for name in names)


def _read(path: str, flags: int = 0) -> bytes | None:
    """What a file holds, if it is one: a pipe in its place would be waited for for ever."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
        with os.fdopen(handle, "rb") as file:
            is_file = stat.S_ISREG(os.fstat(handle).st_mode)
            data = file.read(LARGEST + 1) if is_file else None
    except OSError:
        return None
    return data if data is not None and len(data) <= LARGEST else None


def _write(path: str, data: bytes) -> None:
    """Whole or not at all, for the owner's eyes only."""
    path = os.path.realpath(path)
    draft = f"{path}.ralph-{os.getpid()}"
    handle = os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)


@contextmanager
def _locked(folder: str) -> Iterator[None]:
    handle = os.open(os.path.join(folder, LOCK), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
