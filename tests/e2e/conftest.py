"""The installed `ralph` in a temporary git repository."""

import io
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from ralph.__main__ import main
from tests.e2e import ralph_process, templates
from tests.e2e.ralph_process import RALPH, RalphProcess, run_ralph

DONE = 'echo x >> work.txt; echo "<task-done>$RALPH_TASK_ID</task-done>"'
"""An agent's command line that does some work and claims its task."""


@pytest.fixture(autouse=True)
def unverified(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most tests are about something else, and their agents cannot verify."""
    monkeypatch.setenv("RALPH_EXECUTION_VERIFY", "false")
    monkeypatch.setenv("RALPH_REVIEW_ENABLED", "false")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the installed program instead of forking, start and all."""
    monkeypatch.setattr(ralph_process, "FORKS", False)


class Project:
    """A repository in which Ralph works, and the commands a person would type."""

    def __init__(self, path: Path, *, initialised: bool = False) -> None:
        self.path = path
        self.started: list[subprocess.Popen[str]] = []
        templates.copy(templates.initialised() if initialised else templates.repository(), path)

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
        return run_ralph(*args, cwd=self.path, env={**os.environ, **env})

    def start(self, *args: str, **env: str) -> subprocess.Popen[str]:
        """Run a command in the background."""
        process = RalphProcess(
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

    def quick(self, *args: str) -> str:
        """The same in this process, which takes a tenth of the time: for what every test asks."""
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
        with chdir(self.path), redirect_stdout(out), redirect_stderr(err):
            code = main(list(args))
        said, complained = (_written(stream) for stream in (out, err))
        assert code == 0, f"{args}: {code}\n{said}\n{complained}"
        return said.strip()

    def add(self, title: str, *args: str) -> str:
        return self.quick("task", "add", title, *args)

    def task(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.quick("task", "show", name, "--json"))
        return found

    def status(self, name: str) -> str:
        return str(self.task(name)["status"])

    def events(self, *args: str, code: int | None = 0, **env: str) -> list[dict[str, Any]]:
        """Run with --json and return the events."""
        lines = self.ralph("run", "--json", *args, code=code, **env).splitlines()
        return [json.loads(line) for line in lines]

    def commits(self) -> list[str]:
        return self.git("log", "--format=%s").splitlines()


def _written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def wait_for(condition: Callable[[], bool], what: str, seconds: float = 90.0) -> None:
    """Poll for something that another process does; the deadline is only for a broken program."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"it never happened: {what}"
        time.sleep(0.02)


@pytest.fixture(autouse=True)
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents in these tests also play what a person does meanwhile, beside the checkout: behind a
    wall they could not. What runs behind one is in `sandbox/`."""
    monkeypatch.setenv("RALPH_SANDBOX_MODE", "off")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = Project(tmp_path / "a project", initialised=True)
    yield made
    for process in made.started:
        end_in_order(process)


def end_in_order(process: subprocess.Popen[str]) -> None:
    """In good order, so that its agent goes with it."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
    try:
        process.communicate(timeout=240)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
