"""What every attempt shares. Nothing but the standard library: this runs in the sandbox."""

import ctypes
import os
from collections.abc import Callable
from typing import Any

libc = ctypes.CDLL(None, use_errno=True)
World = dict[str, Any]
ATTEMPTS: dict[str, Callable[[World], Any]] = {}


def attempt(does: Callable[[World], Any]) -> Callable[[World], Any]:
    ATTEMPTS[does.__name__] = does
    return does


def put(path: str, text: str = "planted\n") -> None:
    with open(path, "w") as file:
        file.write(text)


def check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def in_a_child(does: Callable[[], Any]) -> Any:
    """Namespaces are for ever, so each is tried in a process of its own."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        said = "nothing"
        try:
            said = str(does())
        except OSError as error:
            said = f"failed: {error}"
        os.write(writer, said.encode()[:4000])
        os._exit(0)
    os.close(writer)
    os.waitpid(pid, 0)
    with open(reader) as said_there:
        return said_there.read()
