"""Credentials in files: read with care, written whole, and the refreshed ones told from others."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ralph.files import lock_file, read_regular

LOCK: Final = ".ralph.lock"
"""Beside the person's credentials, while refreshed ones are copied back."""
LARGEST: Final = 16 * 1024 * 1024
"""No configuration is that long."""


def refreshed(ours: str, theirs: str) -> bytes | None:
    """The session's credentials, if they are whole, others, and newer than the person's."""
    # What an agent put there in the place of a file must not lead us elsewhere.
    data, before = read(ours, os.O_NOFOLLOW), read(theirs)
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


def read(path: str, flags: int = 0) -> bytes | None:
    """What a file holds, if it is one: a pipe in its place would be waited for for ever."""
    try:
        return read_regular(path, flags, most=LARGEST)
    except OSError:
        return None


def write(path: str, data: bytes, times: os.stat_result | None = None) -> None:
    """Whole or not at all, for the owner's eyes only.

    Credentials are as old as what they are copied from: so it is known which of them was refreshed
    last, whoever comes first to copy it back.
    """
    path = os.path.realpath(path)
    draft = f"{path}.ralph-{os.getpid()}"
    handle = os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if times is not None:
                os.utime(file.fileno(), ns=(times.st_atime_ns, times.st_mtime_ns))
        os.replace(draft, path)
    except OSError:
        os.unlink(draft)
        raise


@contextmanager
def locked(folder: str) -> Iterator[None]:
    """One at a time, among all that copy credentials back."""
    with lock_file(os.path.join(folder, LOCK), mode=0o600):
        yield
