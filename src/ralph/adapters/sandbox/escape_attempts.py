"""Tries to get through the sandbox: run behind it by `ralph doctor`, as a script.

    python -I -S escape_attempts.py '{…}'

Prints a list of what went through. Harmless where there is no sandbox: files are opened and not
written, what is made is empty and removed again, by who started this.
"""

import contextlib
import ctypes
import json
import os
import socket
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

REMOUNT_BIND: Final = 32 | 4096
NEW_USER_AND_MOUNTS: Final = 0x10000000 | 0x00020000

Orders = dict[str, Any]


def attempts(orders: Orders) -> Iterator[tuple[str, Callable[[], object]]]:
    """Each in words, and what to do."""
    yield from ((f"write {path}", partial(_append, path)) for path in orders["write"])
    yield from ((f"read {path}", partial(_open, path)) for path in orders["read"])
    yield from ((f"read or start {path}", partial(_open, path)) for path in orders["start"])
    yield from ((f"reach the socket {path}", partial(_connect, path)) for path in orders["sockets"])
    if orders["abstract"]:
        yield "reach a socket that has no file", partial(_connect, "\0" + orders["abstract"])
    if sys.platform == "linux":
        yield "read your keys in the kernel", _key_ring
    yield "reach the process outside", partial(os.kill, orders["pid"], 0)
    if sys.platform == "linux":
        yield "mount the sandbox away", _remount
        yield "make a namespace of its own", _unshare


def _append(path: str) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_APPEND))


def _make(path: str) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _open(path: str) -> None:
    if os.path.isdir(path):
        if not os.listdir(path):
            raise PermissionError(path)
    else:
        os.close(os.open(path, os.O_RDONLY))


def _connect(address: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(5)
        client.connect(address)


def _key_ring() -> None:
    number = {"x86_64": 250, "aarch64": 219}.get(os.uname().machine)
    if number is None or ctypes.CDLL(None).syscall(number, 0, -3, 0) < 0:
        raise PermissionError


def _remount() -> None:
    _checked(ctypes.CDLL(None, use_errno=True).mount(None, b"/", None, REMOUNT_BIND, None))


def _unshare() -> None:
    _checked(ctypes.CDLL(None, use_errno=True).unshare(NEW_USER_AND_MOUNTS))


def _checked(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), "refused")


def main() -> None:
    """Try everything, tell what worked; and what a session needs and did not work."""
    orders: Orders = json.loads(sys.argv[1])
    escaped, tried = [], len(orders["make"])
    for path in orders["make"]:
        # Whether that was for real is seen from outside: some folders are others in here.
        with contextlib.suppress(OSError):
            _make(path)
    for words, attempt in attempts(orders):
        tried += 1
        with contextlib.suppress(OSError):
            attempt()
            escaped.append(words)
    broken = []
    for folder in orders["work"]:
        try:
            _make(os.path.join(folder, orders["name"]))
            os.unlink(os.path.join(folder, orders["name"]))
        except OSError as error:
            broken.append(f"write in {folder}: {error.strerror}")
    sys.stdout.write(json.dumps({"tried": tried, "escaped": escaped, "broken": broken}))


if __name__ == "__main__":
    main()
