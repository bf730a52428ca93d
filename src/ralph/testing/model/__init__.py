"""A scripted model, so that real agents can be tested without an account and without a network."""

from ralph.testing.model.loopback import RefusingProxy
from ralph.testing.model.script import (
    Cut,
    ErrorInStream,
    ModelRequestLog,
    Refused,
    ScriptedCall,
    Shell,
    Silent,
    Tokens,
    Turn,
    Write,
    do,
    say,
)
from ralph.testing.model.server import ModelServer

__all__ = [
    "Cut",
    "ErrorInStream",
    "ModelRequestLog",
    "ModelServer",
    "Refused",
    "RefusingProxy",
    "ScriptedCall",
    "Shell",
    "Silent",
    "Tokens",
    "Turn",
    "Write",
    "do",
    "say",
]
