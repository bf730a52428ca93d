"""Knock at the door: one question to the running loop, one answer.

Only what every Python has, and little of it: a hook asks before every single tool call.
"""

import os
import socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PATIENCE_S = 45.0
"""Less than the minute after which agents give a hook up, and use the tool all the same."""
LONGEST = 16 * 1024 * 1024
"""What the loop listens to."""


class Shut(Exception):
    """Nobody answers."""


def way_in(environ: "Mapping[str, str]") -> tuple[str, str]:
    """The socket and the token of this session; Shut outside of one."""
    path, token = environ.get("RALPH_SOCKET", ""), environ.get("RALPH_TOKEN", "")
    if not path or not token:
        raise Shut("this is not a session of Ralph's")
    return path, token


def ask(method: str, args: "Mapping[str, Any]") -> "dict[str, Any]":
    """The answer, as it came: a value, or an error with its message and hint."""
    import json

    path, token = way_in(os.environ)
    call = {"token": token, "method": method, "args": args}
    answer: dict[str, Any] = json.loads(send(path, json.dumps(call).encode() + b"\n"))
    return answer


def _connect(door: socket.socket, path: str) -> None:
    """Where very many knock at once, the queue before the door may be full for a moment."""
    import time

    for wait_s in (0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0):
        try:
            door.connect(path)
            return
        except BlockingIOError:
            time.sleep(wait_s)
    door.connect(path)


def send(path: str, line: bytes) -> bytes:
    """One line there, one line back."""
    if len(line) > LONGEST:
        raise Shut(f"{len(line):,} bytes are more than the loop takes at once ({LONGEST:,})")
    answer = bytearray()
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
            door.settimeout(PATIENCE_S)
            _connect(door, path)
            door.sendall(line)
            while more := door.recv(1 << 20):
                answer += more
    except OSError as error:
        raise Shut(f"the loop that started this session does not answer: {error}") from error
    if not answer.endswith(b"\n"):
        # Nothing, or the beginning of an answer that was never finished.
        raise Shut("the loop that started this session has closed its door")
    return bytes(answer)
