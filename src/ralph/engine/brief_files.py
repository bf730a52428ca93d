"""A brief as files, beside the session's log: for people, and for agents that read them."""

import os

from ralph.core.errors import CannotWrite
from ralph.ports.agent import Brief, with_rules


def write_files(brief: Brief) -> None:
    """All of it in one file, its rules in another."""
    _write(brief.path, with_rules(brief))
    _write(brief.rules_path, brief.rules)


def _write(path: str, text: str) -> None:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError as error:
        raise CannotWrite(
            f"cannot write {path}: {error.strerror}",
            hint="look at the disk, and at what is in the place of its folder",
        ) from error
