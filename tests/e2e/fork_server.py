"""A process that has imported Ralph and forks for every command.

Three quarters of the CPU time of a short command are imports. Each worker of pytest starts one of
these; `ralph_process.py` sends it what to run. A fork differs from `exec` in what the kernel shows
of it (`/proc/PID/cmdline` and `environ`) and in nothing that Ralph itself asks for.
"""

import gc
import importlib
import io
import os
import pickle
import pkgutil
import runpy
import socket
import sys
from typing import Any

STARTUP = ("PYTHON", "LC_", "LANG", "TZ")
"""Python reads these variables when it starts: where they differ, a fork would not do."""


def startup(env: dict[str, str]) -> dict[str, str]:
    """The part of an environment that a fork cannot change any more."""
    return {name: value for name, value in env.items() if name.startswith(STARTUP)}


def import_ralph() -> None:
    """Import all that commands import, but no optional library."""
    for name in ("ralph.cli", "ralph.wiring", "ralph.engine", "ralph.workflows", "ralph.ui"):
        package = importlib.import_module(name)
        for found in pkgutil.walk_packages(package.__path__, f"{name}."):
            if "mcp" not in found.name:
                importlib.import_module(found.name)
    importlib.import_module("ralph.__main__")
    gc.collect()
    gc.freeze()


def serve(client: socket.socket) -> dict[str, Any]:
    """Fork for each request. Returns in the child, with what it is to run; ends with the client."""
    while header := client.recv(8, socket.MSG_WAITALL):
        payload = client.recv(int.from_bytes(header, "big"), socket.MSG_WAITALL)
        request: dict[str, Any] = pickle.loads(payload)
        if "wait" in request:
            answer = os.waitpid(request["wait"], os.WNOHANG)
        else:
            _, streams, _, _ = socket.recv_fds(client, 1, 3)
            if not (pid := os.fork()):
                client.close()
                return {**request, "streams": streams}
            for stream in streams:
                os.close(stream)
            answer = (pid, 0)
        client.sendall(pickle.dumps(answer).ljust(64, b"\0"))
    os._exit(0)


def become(request: dict[str, Any]) -> None:
    """Take over everything that `exec` would have set up."""
    if request["new_session"]:
        os.setsid()
    for number, stream in enumerate(request["streams"]):
        os.dup2(stream, number)
    os.closerange(3, max(request["streams"]) + 1)
    os.umask(request["umask"])
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = request["argv"]
    sys.path[0] = os.path.dirname(sys.argv[0])
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = _stream(number, getattr(sys, name))
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _stream(number: int, made_at_start: Any) -> io.TextIOWrapper:
    """What Python makes of a file descriptor when it starts."""
    file: Any = io.FileIO(number, "w" if number else "r", closefd=False)
    tty = file.isatty()
    if not number:
        file = io.BufferedReader(file)
    elif not made_at_start.write_through:
        file = io.BufferedWriter(file)
    return io.TextIOWrapper(
        file,
        encoding=made_at_start.encoding,
        errors=made_at_start.errors,
        newline="\n",
        line_buffering=number == 2 or tty,
        write_through=made_at_start.write_through,
    )


if __name__ == "__main__":
    import_ralph()
    become(serve(socket.socket(fileno=int(sys.argv[1]))))
    # The launcher's own text: what it catches and how it ends is part of the program.
    runpy.run_path(sys.argv[0], run_name="__main__")
