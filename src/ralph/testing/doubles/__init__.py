"""Doubles of the ports, for tests of the engine: no processes, no git, no waiting."""

from ralph.testing.doubles.executor import FakeExecutor, Play, exits, is_stopped, says
from ralph.testing.doubles.library import FakeLibrary
from ralph.testing.doubles.stand_ins import (
    FakeCheckouts,
    NoHomes,
    NoWall,
    RecordingSink,
    ShutDoor,
)
from ralph.testing.doubles.workspace import FakeCommit, FakeWorkspace

__all__ = [
    "FakeCheckouts",
    "FakeCommit",
    "FakeExecutor",
    "FakeLibrary",
    "FakeWorkspace",
    "NoHomes",
    "NoWall",
    "Play",
    "RecordingSink",
    "ShutDoor",
    "exits",
    "is_stopped",
    "says",
]
