"""A scripted model, so that real agents can be tested without an account and without a network."""

from ralph.testing.model.asked import Asked
from ralph.testing.model.proxy import RefusingProxy
from ralph.testing.model.server import ModelServer
from ralph.testing.model.turn import (
    Broken,
    Call,
    Cut,
    Refused,
    Shell,
    Silent,
    Tokens,
    Turn,
    Write,
    do,
    say,
)

__all__ = [
    "Asked",
    "Broken",
    "Call",
    "Cut",
    "ModelServer",
    "Refused",
    "RefusingProxy",
    "Shell",
    "Silent",
    "Tokens",
    "Turn",
    "Write",
    "do",
    "say",
]
