"""Runs in the sandbox, in a project that is not below /tmp, where everything is out of sight."""

import os
import pwd
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Project, end_in_order


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder of the person's that no session may write in."""
    parent = "/srv" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_dir
    folder = Path(tempfile.mkdtemp(prefix="ralph-walled-", dir=parent))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def sandboxed(outside: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """A project whose sessions and gates run in a sandbox."""
    yield from _project(outside / "a project", monkeypatch)


@pytest.fixture
def plain(outside: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """The same, without a blank in its path: git takes some values for command lines."""
    yield from _project(outside / "plain", monkeypatch)


def _project(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.delenv("RALPH_SANDBOX_MODE")
    home = path.parent / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    project = Project(path, initialised=True)
    yield project
    for process in project.started:
        end_in_order(process)
