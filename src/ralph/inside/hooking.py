"""A hook, as an agent's program calls it around every use of a tool: pass on, and pass back.

Nothing is read that need not be: what comes in is JSON on its way to the loop, and so is what goes
out. It runs before anything else of Ralph is loaded.
"""

import os
import sys

from ralph.inside.knock import Shut, send, way_in

REFUSED = 2
"""The program does not use the tool then."""
UNHEARD = 1
"""It goes on as if nobody had been asked: what has happened has happened."""
AFTERWARDS = ("post-tool-use", "stop", "session-start")
HOOKS = ("pre-tool-use", *AFTERWARDS)
"""Those of sessions; teams have two of their own (`cli/team/hooks.py`)."""
VALUE = b'{"value":'


def hook(name: str) -> int:
    """Ask the loop, and print what it says. If it cannot be asked, the tool is not used."""
    try:
        path, token = way_in(os.environ)
        said = send(path, _call(name, token, _payload())).strip()
    except Shut as shut:
        return _unanswered(name, str(shut))
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
        return _unanswered(name, f"nobody hears the answer: {error.strerror}")
    return 0


def _payload() -> bytes:
    """What was asked."""
    try:
        asked = sys.stdin.buffer.read() if sys.stdin is not None else b""
    except OSError as error:
        raise Shut(f"the call cannot be read: {error.strerror}") from error
    # Between the parts of a text in JSON a line break is as good as a blank.
    return asked.replace(b"\n", b" ").strip() or b"{}"


def _call(name: str, token: str, payload: bytes) -> bytes:
    # Both are words: a name that somebody typed, and hexadecimal digits.
    words = "".join(letter for letter in name if letter.isalnum() or letter == "-")
    start = f'{{"token":"{token}","method":"hook","args":{{"name":"{words}","payload":'
    return start.encode() + payload + b"}}\n"


def _unanswered(name: str, why: str) -> int:
    sys.stderr.write(f"ralph: {why}\n")
    return UNHEARD if name in AFTERWARDS else REFUSED
