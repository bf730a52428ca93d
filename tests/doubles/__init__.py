"""Doubles of the ports, for tests of the engine: no processes, no git, no waiting."""

from tests.doubles.executor import FakeExecutor, Play, exits, is_stopped, says
from tests.doubles.project_files import FakeProjectFiles
from tests.doubles.small_fakes import (
    FakeCheckouts,
    NoHomes,
    NoSandbox,
    RecordingSink,
    UnusedControlSocket,
)
from tests.doubles.workspace import FakeCommit, FakeWorkspace

__all__ = [
    "FakeCheckouts",
    "FakeCommit",
    "FakeExecutor",
    "FakeProjectFiles",
    "FakeWorkspace",
    "NoHomes",
    "NoSandbox",
    "Play",
    "RecordingSink",
    "UnusedControlSocket",
    "exits",
    "is_stopped",
    "says",
]
