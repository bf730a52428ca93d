"""Is the wall one? Tries to get through it, with everything that is to be had here."""

import os
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Final

import msgspec

from ralph.adapters.sandbox.bubblewrap import NAMELESS
from ralph.adapters.sandbox.launching import HERE, python
from ralph.adapters.sandbox.terrain import frozen, survey
from ralph.adapters.sandbox.wall import TRIES, CheckoutWall
from ralph.core.ending import Exit
from ralph.core.fence import Access, Fence
from ralph.core.json_text import NOT_JSON
from ralph.ports.executor import Captured, Captures, Command

SOME: Final = 5
LONGEST: Final = 100
"""What the path of a socket may have."""


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it."""

    tried: int = 0
    through: tuple[str, ...] = ()
    """What should have failed."""
    broken: tuple[str, ...] = ()
    """What should have worked."""


def try_wall(wall: CheckoutWall, executor: Captures, env: Mapping[str, str]) -> Trial:
    """Everything at once, in one command."""
    fence, name = wall.fence, f".ralph-trial-{os.getpid()}"
    made = [os.path.join(folder, name) for folder in _folders(fence)]
    with _listening(fence.home, name) as sockets:
        orders = {
            **_orders(fence, env),
            "make": made,
            "sockets": sockets,
            # What is known to be open is said anyway.
            "abstract": "" if NAMELESS in wall.gaps else name,
            "name": name,
        }
        script = os.path.join(HERE, "trying.py")
        argv = (*python(), script, msgspec.json.encode(orders).decode())
        got = _behind(wall, executor, Command(argv=argv, cwd=fence.top, env=env))
    for_real = [path for path in made if os.path.lexists(path)]
    for path in for_real:
        os.unlink(path)
    try:
        trial = msgspec.json.decode(got.stdout, type=Trial)
        words = tuple(f"make a file in {os.path.dirname(path)}" for path in for_real)
        return msgspec.structs.replace(trial, through=words + trial.through)
    except NOT_JSON:
        said = got.stderr.decode("utf-8", "replace").strip()[:200] or f"exit code {got.code}"
        return Trial(broken=(f"start anything: {said}",))


def _behind(wall: CheckoutWall, executor: Captures, command: Command) -> Captured:
    for at_try in range(1, TRIES + 1):
        with wall.around(command) as inside:
            ready = inside.command
            got = executor.capture(ready.argv, cwd=ready.cwd, env=ready.env, timeout_s=60.0)
        said = got.stderr.decode("utf-8", "replace")
        if at_try == TRIES or not wall.has_failed(Exit(code=got.code, stderr=said)):
            return got
        # Something that was to be covered has gone away just now, so look again.
        survey.cache_clear()
    raise AssertionError


def _folders(fence: Fence) -> list[str]:
    """Where nothing may be made, and could be without a wall."""
    around = (fence.home, os.path.dirname(fence.top), "/etc")
    return [path for path in (*frozen(fence), *around) if os.path.isdir(path) and _is_ours(path)]


def _orders(fence: Fence, env: Mapping[str, str]) -> dict[str, object]:
    ground = survey(fence, env.get("PATH", os.defpath))
    hidden = [lot.path for lot in ground.lots if lot.access is Access.HIDE and not lot.place.broad]
    hidden += _unseen(fence)
    return {
        "write": [path for path in frozen(fence) if os.path.isfile(path) and _is_ours(path)],
        # An empty one has nothing to hide.
        "read": [path for path in hidden if os.path.isfile(path) or os.listdir(path)],
        "start": list(ground.blocked),
        "pid": os.getpid(),
        "work": [lot.path for lot in ground.lots if lot.access is Access.WRITE and lot.is_folder],
    }


def _unseen(fence: Fence) -> list[str]:
    """Some files of the home that no session needs."""
    with os.scandir(fence.home) as entries:
        files = [
            entry.path for entry in entries if entry.is_file() and os.access(entry.path, os.R_OK)
        ]
    return [path for path in sorted(files) if fence.access(path) is Access.HIDE][:SOME]


def _is_ours(folder: str) -> bool:
    """Could be written without a wall: then it proves something that it cannot be with one."""
    return os.access(folder, os.W_OK)


@contextmanager
def _listening(home: str, name: str) -> Iterator[list[str]]:
    """Somebody to talk to, in the places where such sockets are."""
    with ExitStack() as stack:
        sockets = []
        for where in filter(_is_ours, dict.fromkeys((tempfile.gettempdir(), home, "/run"))):
            path = os.path.join(where, f"{name}.sock")
            if len(os.fsencode(path)) < LONGEST:
                _listen(stack, path)
                stack.callback(os.unlink, path)
                sockets.append(path)
        if sys.platform == "linux":
            _listen(stack, f"\0{name}")
        yield sockets


def _listen(stack: ExitStack, address: str) -> None:
    server = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
    server.bind(address)
    server.listen(8)
