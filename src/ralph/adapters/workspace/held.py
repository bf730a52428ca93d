"""Folders that somebody works in: the kernel knows whether they still live."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def hold_folder(path: str) -> Iterator[None]:
    """Say that it is in use, as long as this process lives."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)


def is_held(path: str) -> bool:
    """Is somebody at work in it?"""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
