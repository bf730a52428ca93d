"""What kind of failure Droid reports."""

import re
from typing import Final

from ralph.adapters.agents.failures import of_answer
from ralph.core.ended import Ended

STATUS: Final = re.compile(r"^(\d{3}) ")

STDERR: Final = (("error: unknown option", Ended.NOT_INSTALLED),)

LAST_WORDS: Final = (
    ("Error: Authentication failed.", Ended.AUTH_EXPIRED),
    ("Airgap Mode is enabled.", Ended.AUTH_EXPIRED),
)
"""With which it gives up before anything is said."""

NOT_PERMITTED: Final = re.compile(
    r"^(?:Error: )?(?:Exec ended early: (?:insufficient permission|MCP tool .{1,200} requires)"
    r"|Tool .{1,200} is not permitted)"
)


def of_request(message: str) -> Ended | None:
    """Why a request failed: mostly the answer's number and its body."""
    found = STATUS.match(message)
    return of_answer(message, int(found[1]) if found else None)


def of_last_words(message: str) -> Ended | None:
    """Why it gave up."""
    return next((ended for start, ended in LAST_WORDS if message.startswith(start)), None)


def of_stderr(text: str) -> Ended | None:
    """Why it did not even begin."""
    return next((ended for words, ended in STDERR if words in text), None)
