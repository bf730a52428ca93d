"""A brief as files, beside the session's log: for people, and for agents that read them."""

import os

from ralph.core.errors import CannotWrite
from ralph.files import write_regular
from ralph.ports.agent import Brief, with_rules


def write_files(brief: Brief) -> None:
    """All of it in one file, its rules in another."""
    _write(brief.path, with_rules(brief))
    _write(brief.rules_path, brief.rules)


def _write(path: str, text: str) -> None:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_regular(path, text.encode("utf-8", "replace"))
    except OSError as error:
        raise CannotWrite(
            f"cannot write {path}: {error.strerror}",
            hint="look at the disk, and at what is in the place of its folder",
        ) from error
