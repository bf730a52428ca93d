"""Moving away what must not stay, and putting back what was there. Nothing is deleted."""

import contextlib
import os
import shutil
import stat
import time
from typing import Final

from ralph.files import create_regular, open_regular, walk

PLACE: Final = "planted"


def move_aside(path: str, state: str) -> str:
    """Where it is now; empty if it cannot be moved."""
    aside = os.path.join(state, PLACE)
    name = f"{time.time_ns()}-{os.path.basename(path)}"
    with contextlib.suppress(OSError):
        os.makedirs(aside, mode=0o700, exist_ok=True)
    # On another file system it stays where it is, by another name.
    for kept in (os.path.join(aside, name), os.path.join(os.path.dirname(path), f"planted-{name}")):
        if _rename(path, kept):
            _disarm(kept)
            return kept
    return ""


def _rename(path: str, kept: str) -> bool:
    for _ in range(2):
        try:
            os.rename(path, kept)
            return True
        except PermissionError:
            # To move a folder its owner must be able to write in it, too.
            for folder in (os.path.dirname(path), path):
                with contextlib.suppress(OSError):
                    if stat.S_ISDIR(os.lstat(folder).st_mode):
                        os.chmod(folder, stat.S_IMODE(os.lstat(folder).st_mode) | 0o700)
        except OSError:
            return False
    return False


def _disarm(moved: str) -> None:
    """What was a repository is none there, either."""
    if os.path.islink(moved):
        return
    found = [
        os.path.join(folder, name)
        for folder, folders, files in walk(moved)
        for name in (*folders, *files)
        if name in ("HEAD", ".git")
    ]
    for path in sorted(found, key=len, reverse=True):
        with contextlib.suppress(OSError):
            os.rename(path, os.path.join(os.path.dirname(path), f"was-{os.path.basename(path)}"))


def copy_plain(path: str, copy: str, largest: int) -> bool:
    """Of a file, if it is one and not too large."""
    try:
        with open_regular(path, os.O_NOFOLLOW) as file:
            found = os.fstat(file.fileno())
            if found.st_size > largest:
                return False
            with create_regular(copy, os.O_EXCL) as new:
                shutil.copyfileobj(file, new)
        os.chmod(copy, stat.S_IMODE(found.st_mode) | stat.S_IRUSR)
        # git believes an index that is younger than the files.
        os.utime(copy, ns=(found.st_atime_ns, found.st_mtime_ns))
    except OSError:
        return False
    return True


def put_back(copy: str, path: str) -> bool:
    """The copy, in one step."""
    draft = f"{path}.{os.urandom(6).hex()}.lock"
    try:
        shutil.copy2(copy, draft, follow_symlinks=False)
        os.replace(draft, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        return False
    return True


def write_new(path: str, content: bytes) -> bool:
    """A file where there is none, in one step."""
    draft = f"{path}.{os.urandom(6).hex()}.lock"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with create_regular(draft, os.O_EXCL) as file:
            file.write(content)
        os.replace(draft, path)
    except OSError:
        return False
    return True
