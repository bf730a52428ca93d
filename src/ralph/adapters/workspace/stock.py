"""Dependencies that were installed once, copied into every checkout that would install the same.

Copies, not links: what a session does to its own must not reach the next one's.
"""

import contextlib
import fcntl
import glob
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from ralph.core.errors import CannotWrite
from ralph.files import open_regular, remove_tree
from ralph.ports.executor import Interrupted

MANIFESTS: Final = (
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock"),
    *("bun.lock", "bun.lockb", "pyproject.toml", "requirements*.txt", "poetry.lock", "uv.lock"),
    *("Pipfile.lock", "Cargo.toml", "Cargo.lock", "go.mod", "go.sum", "Gemfile", "Gemfile.lock"),
    *("composer.json", "composer.lock", ".nvmrc", ".python-version", ".tool-versions"),
)
"""Files that say what is to be installed, in the folder above that in which it is."""
KEPT: Final = 3
"""So many different installations; branches with other dependencies take turns."""

LOCK: Final = ".lock"
NAP_S: Final = 0.2


class Stock:
    """Folders of one project that setup commands make."""

    def __init__(self, folder: str, names: Sequence[str], setup: Sequence[str]) -> None:
        self._folder = folder
        self._names = tuple(name for name in names if _is_inside(name))
        self._setup = setup

    @contextlib.contextmanager
    def turn(self, tick: Callable[[], bool]) -> Iterator[None]:
        """One at a time: whoever begins together would all install the same. The kernel gives it
        back for whoever dies. Interrupted, if `tick` ends the waiting."""
        if not self._names:
            yield
            return
        try:
            os.makedirs(self._folder, exist_ok=True)
            handle = os.open(
                os.path.join(self._folder, LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644
            )
        except OSError as error:
            raise CannotWrite(f"cannot write in {self._folder}: {error.strerror}") from error
        try:
            while not _is_locked(handle):
                if tick():
                    raise Interrupted
                time.sleep(NAP_S)
            yield
        finally:
            os.close(handle)

    def take(self, checkout: str) -> bool:
        """Put into a checkout what was installed before, if it asks for the same; False: nothing
        is there for it."""
        place = os.path.join(self._folder, self._digest(checkout))
        if not self._names or not os.path.isdir(place):
            return False
        made: list[str] = []
        try:
            for name in self._names:
                source, target = os.path.join(place, name), os.path.join(checkout, name)
                if os.path.isdir(source) and not os.path.lexists(target):
                    made.append(target)
                    shutil.copytree(source, target, symlinks=True)
            os.utime(place)
        except (OSError, RecursionError):
            # The disk is full, or somebody has just made room by taking it away.
            for target in made:
                _remove(target)
            return False
        return True

    def put(self, checkout: str) -> None:
        """Keep what has just been installed, before any session could change it."""
        place = os.path.join(self._folder, self._digest(checkout))
        made = [name for name in self._names if os.path.isdir(os.path.join(checkout, name))]
        if not made or os.path.isdir(place):
            return
        draft = f"{place}.{os.getpid()}"
        try:
            for name in made:
                source = os.path.join(checkout, name)
                shutil.copytree(source, os.path.join(draft, name), symlinks=True)
            # Another worker may have been quicker: then theirs is as good.
            os.rename(draft, place)
        except (OSError, RecursionError):
            _remove(draft)
        self._tidy()

    def _digest(self, checkout: str) -> str:
        found = hashlib.sha256(repr((self._names, tuple(self._setup))).encode())
        for name in self._names:
            folder = os.path.join(checkout, os.path.dirname(name))
            for pattern in MANIFESTS:
                for path in sorted(glob.glob(os.path.join(glob.escape(folder), pattern))):
                    with contextlib.suppress(OSError), open_regular(path) as file:
                        content = hashlib.file_digest(file, "sha256").digest()
                        found.update(os.path.relpath(path, checkout).encode() + b"\0" + content)
        return found.hexdigest()[:24]

    def _tidy(self) -> None:
        with contextlib.suppress(OSError):
            places = [os.path.join(self._folder, name) for name in os.listdir(self._folder)]
            whole = [place for place in places if "." not in os.path.basename(place)]
            for place in sorted(whole, key=os.path.getmtime)[:-KEPT]:
                _remove(place)


def _remove(folder: str) -> None:
    with contextlib.suppress(OSError):
        remove_tree(folder)


def _is_locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_inside(name: str) -> bool:
    parts = os.path.normpath(name).split(os.sep)
    return bool(name) and not os.path.isabs(name) and ".." not in parts and parts != ["."]
