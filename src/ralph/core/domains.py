"""Domains that a session may reach, as a person writes them down."""

import re
from typing import Final

from ralph.core.errors import UsageError

LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?"
NAME: Final = re.compile(rf"(?:\*\.)?{LABEL}(?:\.{LABEL})*\.?(?::[0-9]{{1,5}})?")
ADDRESS: Final = re.compile(r"\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?")


def check_domains(domains: tuple[str, ...]) -> None:
    """Refuse what would never fit: whoever wrote it believes that it does."""
    for domain in domains:
        if not (NAME.fullmatch(domain) or ADDRESS.fullmatch(domain)):
            raise UsageError(
                f"{domain!r} is no domain", hint="write example.com, *.example.com or x.com:8443"
            )
