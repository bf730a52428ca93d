"""Ctrl-C at any moment between Python's own start and end: 130, and not a word."""

import subprocess
import sys
from pathlib import Path

import pytest

START = """
import os, sys
from signal import SIGINT
from importlib.abc import MetaPathFinder

def interrupt():
    os.kill(os.getpid(), SIGINT)
    for _ in range(9):
        pass

class Finder(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {name!r}:
            {act}

class Swallows:
    def __del__(self):
        interrupt()

sys.meta_path.insert(0, Finder())
sys.argv = ["ralph", {command!r}]
from ralph.__main__ import start
start()
"""


def ralph(folder: Path, command: str, name: str, act: str) -> subprocess.CompletedProcess[str]:
    """Run a command; something happens when it imports a module."""
    program = START.format(command=command, name=name, act=act)
    return run(folder, program)


def run(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    words = (sys.executable, "-c", program)
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("command", "name", "act"),
    [
        ("--help", "ralph.cli.help", "interrupt()"),
        ("--help", "ralph.cli.help", "import atexit; atexit.register(interrupt)"),
        ("status", "ralph.cli.dispatch", "interrupt()"),
        ("status", "ralph.cli.parser", "interrupt()"),
        ("status", "ralph.wiring.project", "interrupt()"),
        ("status", "ralph.ports.executor", "Swallows()"),
        # While it is reported that there is no project.
        ("status", "ralph.ports.executor", "interrupt()"),
        ("status", "ralph.cli.parser", "import atexit; atexit.register(interrupt)"),
    ],
)
def test_an_interrupt_shows_no_traceback(tmp_path: Path, command: str, name: str, act: str) -> None:
    done = ralph(tmp_path, command, name, act)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert "ignored" not in done.stderr


def test_an_interrupt_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    program = START.format(command="--version", name="ralph.cli.help", act="pass")
    ignored = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    done = run(tmp_path, ignored + program.replace("start()", "interrupt(); start()"))
    assert done.returncode == 0
    assert done.stdout.startswith("ralph ")
