"""What tests of faults share: agents that wait for their cue, errors as a person sees them."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.e2e.conftest import DONE, Project, wait_for
from tests.e2e.ralph_process import RALPH, run_ralph

CLAIM = 'echo "<task-done>$RALPH_TASK_ID</task-done>"'
"""An agent's claim without any work behind it."""


class Stage:
    """A live session: its agent says that it is there, and goes on when it gets its cue."""

    def __init__(self, project: Project, name: str = "cue") -> None:
        # Outside the checkout, where they are nobody's work.
        self.there = project.path.parent / f"{name}.there"
        self.cue = project.path.parent / f"{name}.go"

    def agent(self, then: str = DONE) -> str:
        """The command line of the agent."""
        return f"touch '{self.there}'; until [ -e '{self.cue}' ]; do sleep 0.02; done; {then}"

    def enter(self) -> None:
        """Wait until the session runs."""
        wait_for(self.there.exists, "the session began")

    def go(self) -> None:
        """Let it go on."""
        self.cue.touch()


def until(process: subprocess.Popen[str], event: str) -> dict[str, Any]:
    """Read the events of `run --json` up to one of that name."""
    assert process.stdout is not None
    for line in process.stdout:
        answer: dict[str, Any] = json.loads(line)
        if answer["event"] == event:
            return answer
    raise AssertionError(f"it never happened: {event}")


def ended(process: subprocess.Popen[str], code: int = 0) -> str:
    """Wait for a command's end and return what it printed, less what was read before."""
    assert process.stdout is not None
    assert process.stderr is not None
    # Not `communicate`, which forgets what `until` has left in the buffer.
    out, err = process.stdout.read(), process.stderr.read()
    process.wait(timeout=240)
    assert process.returncode == code, f"{process.returncode}\n{out}\n{err}"
    assert "Traceback" not in out + err
    return out


def refused(done: subprocess.CompletedProcess[str], code: int, *words: str) -> str:
    """One line about what is wrong, at most one about the way out, and the right exit code."""
    said = f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    assert done.returncode == code, said
    assert "Traceback" not in done.stdout + done.stderr, said
    lines = [line for line in done.stderr.splitlines() if not line.startswith("ralph: warning: ")]
    assert 1 <= len(lines) <= 2, said
    assert lines[0].startswith("ralph: "), said
    assert "bug" not in lines[0], said
    assert all(line.startswith("hint: ") for line in lines[1:]), said
    for word in words:
        assert word in done.stderr, said
    return done.stderr


def fed(project: Project, text: str, *args: str) -> str:
    """Run a command with something on its standard input."""
    done = run_ralph(*args, cwd=project.path, said=text)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def path() -> str:
    """A PATH on which sessions find `ralph`."""
    return os.path.dirname(RALPH) + os.pathsep + os.environ["PATH"]


def lines(file: Path) -> list[str]:
    """What agents wrote down, outside of the checkout."""
    return file.read_text().splitlines() if file.exists() else []


def warnings(events: Sequence[dict[str, object]]) -> str:
    """Everything that a run warned about."""
    return "\n".join(str(one["message"]) for one in events if one["event"] == "warned")


def refs(project: Project) -> list[str]:
    """What is kept aside."""
    return project.git("for-each-ref", "--format=%(refname)", "refs/ralph/").splitlines()
