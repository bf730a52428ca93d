"""Run a command of Ralph in a process of its own, as a person would at a shell."""

import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from typing import IO, Final

from ralph import MODULE
from ralph.ports.executor import CommandOutput

PATIENCE_S: Final = 300.0
MOST_BYTES: Final = 8 * 1024 * 1024
"""Of what it prints; a diff may be long."""
TIMED_OUT: Final = 124
DIFF_SETTINGS: Final = (
    ("core.quotepath", "false"),
    ("diff.noprefix", "false"),
    ("diff.mnemonicPrefix", "false"),
)
"""The caller reads diffs: they have the form that they have without settings of a person."""
START_S: Final = 20.0
LOOK_S: Final = 0.05


def run_own_command(root: str, words: tuple[str, ...], stdin: bytes) -> CommandOutput:
    """Wait for its end. It may be called from any thread."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = _start(root, words, out, err, stdin=subprocess.PIPE, git=DIFF_SETTINGS)
        try:
            child.communicate(stdin, PATIENCE_S)
            code = child.returncode
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            code = TIMED_OUT
            err.write(f"ralph {words[0]} did not end within {PATIENCE_S:.0f} s".encode())
        out.seek(0)
        err.seek(0)
        return CommandOutput(code=code, stdout=out.read(MOST_BYTES), stderr=err.read(MOST_BYTES))


def start_own_command(root: str, words: tuple[str, ...]) -> CommandOutput:
    """Start a run that goes on by itself, whatever becomes of the caller. Wait until it is at work,
    which it says, or has refused. It may be called from any thread."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = _start(root, words, out, err)
        deadline = time.monotonic() + START_S
        while child.poll() is None:
            if os.fstat(out.fileno()).st_size or time.monotonic() > deadline:
                return CommandOutput(code=0, stdout=b"a run is at work", stderr=b"")
            time.sleep(LOOK_S)
        out.seek(0)
        err.seek(0)
        return CommandOutput(
            code=child.returncode, stdout=out.read(MOST_BYTES), stderr=err.read(MOST_BYTES)
        )


def _start(
    root: str,
    words: tuple[str, ...],
    stdout: IO[bytes],
    stderr: IO[bytes],
    *,
    stdin: int = subprocess.DEVNULL,
    git: Sequence[tuple[str, str]] = (),
) -> "subprocess.Popen[bytes]":
    """`git`: settings, beside those of the person."""
    argv = (*MODULE, "ralph", "-C", root, *words)
    env = {**os.environ, "NO_COLOR": "1", "GIT_PAGER": "cat", "PAGER": "cat"}
    known = int(env.get("GIT_CONFIG_COUNT") or 0)
    env["GIT_CONFIG_COUNT"] = str(known + len(git))
    for number, (key, value) in enumerate(git, known):
        env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return subprocess.Popen(
        argv, stdin=stdin, stdout=stdout, stderr=stderr, env=env, start_new_session=True
    )
