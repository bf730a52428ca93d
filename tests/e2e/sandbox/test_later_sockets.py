"""A program outside begins to listen while a session runs: nobody inside can talk to it."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.ralph_process import RALPH
from tests.e2e.sandbox.world import PYTHON, USERS, World, a_world

CONNECT = """
import json, socket, sys
print("ready", flush=True)
reached = []
for path in json.loads(sys.stdin.readline()):
    client = socket.socket(socket.AF_UNIX)
    try:
        client.connect(path)
        reached.append(path)
    except OSError:
        pass
print(json.dumps(reached), flush=True)
"""
OF_ROOT = ("/run", "/var/lib", "/var/spool", "/srv", "/mnt", "/media", "/opt", "/root", "/")


def _places(world: World) -> list[Path]:
    runtime = world.base / "runtime"
    runtime.mkdir()
    deep = world.home / ".local/share/app"
    deep.mkdir(parents=True)
    own = [world.home, deep, world.parent, world.base, runtime]
    shared = [Path("/tmp"), Path("/var/tmp"), Path("/dev/shm")]
    of_root = [Path(path) for path in OF_ROOT if os.geteuid() == 0 and os.path.isdir(path)]
    return [*own, *shared, *of_root]


@contextmanager
def _inside(world: World, **env: str) -> "Iterator[subprocess.Popen[str]]":
    process = subprocess.Popen(
        world.as_user([RALPH, "sandbox", "run", "--", PYTHON, "-c", CONNECT]),
        cwd=world.project,
        env={**world.env, **env},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("user", USERS)
def test_a_socket_that_is_made_later_is_out_of_reach(user: str) -> None:
    with a_world(user) as world:
        places = _places(world)
        with _inside(world, XDG_RUNTIME_DIR=str(world.base / "runtime")) as session:
            assert session.stdin is not None
            assert session.stdout is not None
            assert session.stdout.readline() == "ready\n"
            sockets = [str(place / f"{world.tag}.late") for place in places]
            try:
                for path in sockets:
                    world.services.listen(path)
                world.services.listen(b"\0late" + world.tag.encode())
                asked = [*sockets, f"\0late{world.tag}"]
                session.stdin.write(json.dumps(asked) + "\n")
                session.stdin.flush()
                reached = json.loads(session.stdout.readline())
            finally:
                for path in sockets:
                    Path(path).unlink(missing_ok=True)
        assert reached == []
        shutil.rmtree(world.base / "runtime")
