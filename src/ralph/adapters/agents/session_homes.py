"""Create an agent's configuration folder for each session, with nothing but credentials.

An agent that could write into the person's own folder could plant a hook there. It would run at the
person's next start of the agent, outside the sandbox.
"""

import glob
import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from ralph.adapters.agents.json_lines import without_comments
from ralph.core.toml_text import parse_toml, toml_text
from ralph.files import (
    lock_file,
    open_regular,
    or_cannot_write,
    read_regular,
    remove_tree,
    replace_file,
)
from ralph.ports.agent import LONGEST_LINE, AgentHome, ConfigExcerpt

LOCK: Final = ".ralph.lock"
"""Beside the person's credentials, while refreshed ones are copied back."""
LARGEST: Final = 16 * 1024 * 1024
"""Bytes of a configuration file, and of the lines about usage."""
MOST_LOGS: Final = 1000


class SessionHomes:
    """Makes the folders below `.ralph/.tmp`, which git ignores."""

    def __init__(self, root: str, environ: Mapping[str, str]) -> None:
        self._root = os.path.join(root, "agents")
        self._environ = environ
        self._open: tuple[AgentHome, str] | None = None
        self._shared = ""
        """The person's own folder, if a session has to use it."""

    def login_files(self, home: AgentHome) -> dict[str, bytes]:
        theirs = self._theirs(home)
        names = (*home.credentials, *(excerpt.file for excerpt in home.excerpts))
        found = {name: _read(os.path.join(theirs, name)) for name in names}
        return {name: data for name, data in found.items() if data is not None}

    def create(
        self, agent: str, home: AgentHome, session: str, config: Mapping[str, Mapping[str, object]]
    ) -> Mapping[str, str]:
        theirs = self._theirs(home)
        logins = (os.path.join(theirs, name) for name in home.credentials)
        if sys.platform == "darwin" and not any(map(os.path.exists, logins)):
            # The login is in the key chain, under the name of this folder.
            self._shared = theirs
            return {}
        folder = os.path.join(self._root, f"{agent}@{session.replace(':', '-')}")
        with or_cannot_write(f"write {folder}"):
            remove_tree(folder)
            os.makedirs(os.path.join(folder, home.inside), mode=0o700)
            self._open = home, folder
            self._seed(theirs, os.path.join(folder, home.inside), home)
            for name, more in config.items():
                _add(os.path.join(folder, home.inside, name), more)
        return {home.variable: folder}

    def save_credentials(self) -> None:
        if self._open is not None:
            home, folder = self._open
            # What cannot be written now is tried again at the end.
            with suppress(OSError):
                self._copy_back(os.path.join(folder, home.inside), home)

    @property
    def folder(self) -> str:
        return self._open[1] if self._open is not None else self._shared

    def usage_lines(self) -> bytes:
        home, folder = self._open or (None, "")
        if home is None or home.usage is None:
            return b""
        found = bytearray()
        paths = glob.glob(home.usage.files, root_dir=os.path.join(folder, home.inside))
        for path in sorted(paths)[:MOST_LOGS]:
            with suppress(OSError):
                _add_lines(found, os.path.join(folder, home.inside, path), home.usage.marker)
        return bytes(found)

    def remove(self) -> None:
        self._shared = ""
        if self._open is not None:
            home, folder = self._open
            self._open = None
            self._close(home, folder)

    def remove_leftovers(self, homes: Mapping[str, AgentHome]) -> None:
        with suppress(OSError):
            for name in os.listdir(self._root):
                home = homes.get(name.partition("@")[0])
                if home is not None:
                    self._close(home, os.path.join(self._root, name))

    def _close(self, home: AgentHome, folder: str) -> None:
        # A login that cannot be copied back is lost with the folder, so then it stays.
        with suppress(OSError):
            self._copy_back(os.path.join(folder, home.inside), home)
            remove_tree(folder)

    def _theirs(self, home: AgentHome) -> str:
        """The person's own folder."""
        base = self._environ.get(home.variable)
        if base:
            return os.path.join(base, home.inside)
        user = self._environ.get("HOME") or os.path.expanduser("~")
        return os.path.join(user, home.folder)

    def _seed(self, theirs: str, ours: str, home: AgentHome) -> None:
        for name in home.credentials:
            path = os.path.join(theirs, name)
            data = _read(path)
            if data is not None:
                _write(os.path.join(ours, name), data, os.stat(path))
        for excerpt in home.excerpts:
            data = _read(os.path.join(theirs, excerpt.file))
            part = _excerpt(data, excerpt) if data is not None else None
            if part:
                _write(os.path.join(ours, excerpt.file), part)

    def _copy_back(self, ours: str, home: AgentHome) -> None:
        theirs = self._theirs(home)
        for name in home.credentials:
            pair = os.path.join(ours, name), os.path.join(theirs, name)
            if _refreshed(*pair) is None:
                continue
            with lock_file(os.path.join(theirs, LOCK), mode=0o600):
                # Meanwhile another session may have been quicker.
                data = _refreshed(*pair)
                if data is not None:
                    _write(pair[1], data, os.stat(pair[0]))


def _excerpt(data: bytes, excerpt: ConfigExcerpt) -> bytes | None:
    """The keys that say how to reach a model, without hooks and the like."""
    is_toml = excerpt.file.endswith(".toml")
    parse: Callable[[str], Any] = parse_toml if is_toml else json.loads
    try:
        whole = parse((data if is_toml else without_comments(data)).decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(whole, dict):
        return None
    part = {key: whole[key] for key in excerpt.keys if key in whole}
    if not part:
        return None
    return (toml_text(part) if is_toml else json.dumps(part, indent=2)).encode()


def _add(path: str, more: Mapping[str, object]) -> None:
    if path.endswith(".toml"):
        text = toml_text({**parse_toml((_read(path) or b"").decode()), **more})
    else:
        text = json.dumps(json.loads(_read(path) or b"{}") | more, indent=2)
    _write(path, text.encode())


def _add_lines(found: bytearray, path: str, marker: str) -> None:
    """Add the lines of a file that hold the marker; the session may have left anything there."""
    with open_regular(path, os.O_NOFOLLOW) as file:
        while (line := file.readline(LONGEST_LINE)) and len(found) < LARGEST:
            if marker.encode() in line:
                found += line.rstrip(b"\n") + b"\n"


def _refreshed(ours: str, theirs: str) -> bytes | None:
    """The session's credentials, if they are complete, different, and newer than the person's."""
    # The agent may have left a link in the place of its file.
    data, before = _read(ours, os.O_NOFOLLOW), _read(theirs)
    if data is None or before is None or data == before or not _is_complete(ours, data, before):
        return None
    return data if os.stat(ours).st_mtime_ns > os.stat(theirs).st_mtime_ns else None


def _is_complete(name: str, data: bytes, before: bytes) -> bool:
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
    """Whether everything is still there. A session that was logged out, perhaps since another one
    refreshed the same login first, must not log the person out as well."""
    if not isinstance(before, dict):
        return bool(now) or not before
    return isinstance(now, dict) and all(
        _has_all(now.get(key), value) for key, value in before.items()
    )


def _read(path: str, flags: int = 0) -> bytes | None:
    try:
        return read_regular(path, flags, most=LARGEST)
    except OSError:
        return None


def _write(path: str, data: bytes, times: os.stat_result | None = None) -> None:
    """Replace a file atomically; only its owner can read it.

    A copy of credentials gets the times of its source, so that it is known which of several copies
    was refreshed last.
    """
    path = os.path.realpath(path)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    replace_file(path, data, mode=0o600)
    if times is not None:
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
