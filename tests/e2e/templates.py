"""Repositories to start from: made once, then copied, which is much quicker than making them."""

import atexit
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from tests.e2e.ralph_process import RALPH


@cache
def repository() -> Path:
    """A git repository with one commit."""
    path = _folder() / "repository"
    path.mkdir()
    _do(path, "git", "init", "-q", "-b", "main")
    _do(path, "git", "config", "user.name", "A Person")
    _do(path, "git", "config", "user.email", "person@example.com")
    (path / "README.md").write_text("a project\n")
    _commit(path, "first")
    return path


@cache
def initialised() -> Path:
    """The same with `ralph init` behind it, committed."""
    path = _folder() / "initialised"
    copy(repository(), path)
    _do(path, RALPH, "init")
    _commit(path, "set up Ralph")
    return path


def copy(template: Path, path: Path) -> None:
    """The same once more; the folder may be there already."""
    shutil.copytree(template, path, symlinks=True, dirs_exist_ok=True)


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="ralph-templates-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _commit(path: Path, message: str) -> None:
    _do(path, "git", "add", "-A")
    _do(path, "git", "commit", "-q", "-m", message)


def _do(path: Path, *argv: str) -> None:
    # Whoever asks first may have settings of his own, which are not everybody's.
    env = {name: value for name, value in os.environ.items() if not name.startswith("RALPH_")}
    subprocess.run(argv, cwd=path, env=env, capture_output=True, check=True)
