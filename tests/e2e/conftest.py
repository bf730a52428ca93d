"""The installed `ralph` in a temporary git repository."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

RALPH = str(Path(sys.executable).parent / "ralph")

DONE = 'echo x >> work.txt; echo "<task-done>$RALPH_TASK_ID</task-done>"'
"""An agent's command line that does some work and claims its task."""


@pytest.fixture(autouse=True)
def unverified(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most tests are about something else, and their agents cannot verify."""
    monkeypatch.setenv("RALPH_EXECUTION_VERIFY", "false")


class Project:
    """A repository in which Ralph works, and the commands a person would type."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.started: list[subprocess.Popen[str]] = []
        path.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "A Person")
        self.git("config", "user.email", "person@example.com")
        self.write("README.md", "a project\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "first")

    def git(self, *args: str) -> str:
        done = subprocess.run(
            ["git", *args], cwd=self.path, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def agent(self, command: str, **sections: str) -> None:
        """Configure an agent's command line; further keywords are whole TOML sections."""
        text = f"[agent]\ncommand = {json.dumps(command)}\n"
        text += "".join(f"[{name}]\n{body}\n" for name, body in sections.items())
        self.write(".ralph.toml", text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "configure")

    def ralph(self, *args: str, code: int | None = 0, **env: str) -> str:
        """Run a command to its end and return its standard output."""
        done = self.try_ralph(*args, **env)
        if code is not None:
            assert done.returncode == code, (
                f"{args}: {done.returncode}\n{done.stdout}\n{done.stderr}"
            )
        return done.stdout.strip()

    def try_ralph(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [RALPH, *args],
            cwd=self.path,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            timeout=90,
        )

    def start(self, *args: str, **env: str) -> subprocess.Popen[str]:
        """Run a command in the background."""
        process = subprocess.Popen(
            [RALPH, *args],
            cwd=self.path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
        )
        self.started.append(process)
        return process

    def add(self, title: str, *args: str) -> str:
        return self.ralph("task", "add", title, *args)

    def task(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.ralph("task", "show", name, "--json"))
        return found

    def status(self, name: str) -> str:
        return str(self.task(name)["status"])

    def events(self, *args: str, code: int | None = 0, **env: str) -> list[dict[str, Any]]:
        """Run with --json and return the events."""
        lines = self.ralph("run", "--json", *args, code=code, **env).splitlines()
        return [json.loads(line) for line in lines]

    def commits(self) -> list[str]:
        return self.git("log", "--format=%s").splitlines()


def wait_for(condition: Callable[[], bool], what: str, seconds: float = 30.0) -> None:
    """Poll for something that another process does; the deadline is only for a broken program."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"it never happened: {what}"
        time.sleep(0.02)


@pytest.fixture(autouse=True)
def no_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents in these tests also play what a person does meanwhile, beside the checkout: behind a
    wall they could not. What runs behind one is in `sandbox/`."""
    monkeypatch.setenv("RALPH_SANDBOX_MODE", "off")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = Project(tmp_path / "a project")
    made.ralph("init")
    made.git("add", "-A")
    made.git("commit", "-q", "-m", "set up Ralph")
    yield made
    for process in made.started:
        end_in_order(process)


def end_in_order(process: subprocess.Popen[str]) -> None:
    """In good order, so that its agent goes with it."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
    try:
        process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
