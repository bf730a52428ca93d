"""What kind of failure Codex reports."""

import re
from typing import Final

from ralph.adapters.agents.failures import of_answer
from ralph.core.ended import Ended

STATUS: Final = re.compile(r"^(?:unexpected status|exceeded retry limit, last status:) (\d{3})\b")

STDERR: Final = (
    # The part that holds the program itself was not installed along.
    ("Missing optional dependency", Ended.NOT_INSTALLED),
    ("error: unexpected argument", Ended.NOT_INSTALLED),
    ('"input_error_code":"input_too_large"', Ended.PROMPT_TOO_LONG),
)


def of_message(message: str) -> Ended | None:
    """By what the program says about a request; it has no codes."""
    found = STATUS.match(message)
    return of_answer(message.replace("\u2019", "'"), int(found[1]) if found else None)


def of_stderr(text: str) -> Ended | None:
    """Why it did not even begin."""
    return next((ended for words, ended in STDERR if words in text), None)
