"""Processes of `ralph`: forked from one that has imported it, which takes a third of the CPU time.

Each is a process of its own with its own arguments, environment, folder, streams, signals and exit
code. Tests about the start itself run the installed program (`subprocess` with `RALPH`);
with RALPH_TEST_FORK=no all of them do.
"""

import inspect
import os
import pickle
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.e2e import fork_server

RALPH = str(Path(sys.executable).parent / "ralph")
PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
FORKS = os.environ.get("RALPH_TEST_FORK") != "no" and hasattr(os, "pidfd_open")


class _Server:
    """The process that forks, and the socket to it."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self.socket, self._lock = ours, threading.Lock()
        python = Path(RALPH).parent / "python3"
        self.startup = fork_server.startup(dict(os.environ))
        with theirs:
            self.process = subprocess.Popen(
                [python, fork_server.__file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                # No test's own variables: by those it looks for what it has left running.
                env={"PATH": os.environ["PATH"], **self.startup},
            )

    def ask(self, request: dict[str, Any], streams: Sequence[int] = ()) -> tuple[int, int]:
        payload = pickle.dumps(request)
        with self._lock:
            self.socket.sendall(len(payload).to_bytes(8, "big") + payload)
            if streams:
                socket.send_fds(self.socket, [b"\0"], streams)
            answer = self.socket.recv(64, socket.MSG_WAITALL)
        assert answer, "the process that forks has died"
        pid, status = pickle.loads(answer)
        return pid, status


@cache
def _server() -> _Server:
    return _Server()


class RalphProcess(subprocess.Popen[str]):
    """`Popen` of a command of Ralph's. The process that forked it has to wait for it."""

    forked = False

    def _execute_child(self, *given: Any) -> None:
        start: Callable[..., None] = super()._execute_child  # type: ignore[misc]
        bound = inspect.signature(start).bind(*given).arguments
        env = dict(bound["env"] or os.environ)
        if not FORKS or fork_server.startup(env) != _server().startup:
            start(*given)
            return
        self.forked = True
        streams = (bound["p2cread"], bound["c2pwrite"], bound["errwrite"])
        request = {
            "argv": list(bound["args"]),
            "env": env,
            "cwd": os.fspath(bound["cwd"] or os.getcwd()),
            "umask": _umask(),
            "new_session": bound["start_new_session"],
        }
        numbers = [number if number >= 0 else at for at, number in enumerate(streams)]
        self.pid, _ = _server().ask(request, numbers)
        self._child_created = True
        self._close_pipe_fds(*(bound[name] for name in PIPES))  # type: ignore[attr-defined]

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if not self.forked:
            found: tuple[int, int] = super()._try_wait(wait_flags)  # type: ignore[misc]
            return found
        if not wait_flags:
            ends = os.pidfd_open(self.pid)
            select.select([ends], [], [])
            os.close(ends)
        return _server().ask({"wait": self.pid})

    def _internal_poll(self, _deadstate: object = None, **_kept: object) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(blocking=False):  # type: ignore[attr-defined]
            try:
                pid, status = self._try_wait(os.WNOHANG)
                if pid == self.pid:
                    self._handle_exitstatus(status)  # type: ignore[attr-defined]
            finally:
                self._waitpid_lock.release()  # type: ignore[attr-defined]
        return self.returncode


def run_ralph(
    *args: str, cwd: Path, env: Mapping[str, str] | None = None, said: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with `said` on its standard input."""
    process = RalphProcess(
        [RALPH, *args],
        cwd=cwd,
        env=env,
        text=True,
        stdin=subprocess.DEVNULL if said is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        try:
            out, err = process.communicate(said, timeout=240)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def _umask() -> int:
    now = os.umask(0o077)
    os.umask(now)
    return now
