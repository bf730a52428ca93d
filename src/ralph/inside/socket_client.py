"""Send calls to the control socket, among them the hooks of an agent.

A hook runs before every single tool call, so this imports little (`socket` would take a third of
the time), and passes JSON on unread.
"""

import _socket
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PATIENCE_S = 45.0
"""Agents stop waiting for a hook after a minute, and then use the tool."""
LONGEST = 16 * 1024 * 1024

REFUSED = 2
"""The exit code of a hook at which the agent does not use the tool."""
NO_ANSWER = 1
"""The exit code of a hook at which the agent goes on: what happened cannot be refused."""
AFTERWARDS = ("post-tool-use", "stop", "session-start")
HOOKS = ("pre-tool-use", *AFTERWARDS)
"""The hooks of sessions; teams have two of their own (`cli/hook.py`)."""
VALUE = b'{"value":'


class SocketUnavailable(Exception):
    """The control socket does not answer."""


def socket_and_token(environ: "Mapping[str, str]") -> tuple[str, str]:
    """The socket and the token of this session. SocketUnavailable outside of one."""
    path, token = environ.get("RALPH_SOCKET", ""), environ.get("RALPH_TOKEN", "")
    if not path or not token:
        raise SocketUnavailable("this is not a session of Ralph's")
    return path, token


def call_run(method: str, args: "Mapping[str, Any]") -> "dict[str, Any]":
    """Send a call; return the answer: a value, or an error with its message and hint."""
    import json

    path, token = socket_and_token(os.environ)
    call = {"token": token, "method": method, "args": args}
    answer: dict[str, Any] = json.loads(send_line(path, json.dumps(call).encode() + b"\n"))
    return answer


def _connect(control_socket: _socket.socket, path: str) -> None:
    """Connect. With very many clients at once, the queue of the socket may be full for a moment."""
    import time

    for wait_s in (0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0):
        try:
            control_socket.connect(path)
            return
        except BlockingIOError:
            time.sleep(wait_s)
    control_socket.connect(path)


def send_line(path: str, line: bytes) -> bytes:
    """Send one line; return the line that comes back."""
    if len(line) > LONGEST:
        raise SocketUnavailable(
            f"{len(line):,} bytes are more than the loop takes at once ({LONGEST:,})"
        )
    answer = bytearray()
    control_socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        control_socket.settimeout(PATIENCE_S)
        _connect(control_socket, path)
        control_socket.sendall(line)
        while more := control_socket.recv(1 << 20):
            answer += more
    except OSError as error:
        raise SocketUnavailable(
            f"the loop that started this session does not answer: {error}"
        ) from error
    finally:
        control_socket.close()
    if not answer.endswith(b"\n"):
        # Nothing, or the beginning of an answer that was never finished.
        raise SocketUnavailable("the run that started this session has closed its control socket")
    return bytes(answer)


def answer_hook(name: str) -> int:
    """Pass a hook call to the run and print its answer. Return the exit code."""
    try:
        path, token = socket_and_token(os.environ)
        said = send_line(path, _call(name, token, _payload())).strip()
    except SocketUnavailable as error:
        return _unanswered(name, str(error))
    if not said.startswith(VALUE):
        import json

        return _unanswered(name, str(json.loads(said).get("message")))
    answer = said.removeprefix(VALUE).removesuffix(b"}")
    if answer == b"{}":
        return 0
    try:
        with open(1, "wb", closefd=False) as out:
            out.write(answer + b"\n")
    except OSError as error:
        return _unanswered(name, f"the answer cannot be written: {error.strerror}")
    return 0


def _payload() -> bytes:
    try:
        asked = sys.stdin.buffer.read() if sys.stdin is not None else b""
    except OSError as error:
        raise SocketUnavailable(f"the call cannot be read: {error.strerror}") from error
    # Between the parts of a text in JSON a line break is as good as a blank.
    return asked.replace(b"\n", b" ").strip() or b"{}"


def _call(name: str, token: str, payload: bytes) -> bytes:
    # Both are words: a name from a command line, and hexadecimal digits.
    words = "".join(letter for letter in name if letter.isalnum() or letter == "-")
    start = f'{{"token":"{token}","method":"hook","args":{{"name":"{words}","payload":'
    return start.encode() + payload + b"}}\n"


def _unanswered(name: str, why: str) -> int:
    sys.stderr.write(f"ralph: {why}\n")
    return NO_ANSWER if name in AFTERWARDS else REFUSED
