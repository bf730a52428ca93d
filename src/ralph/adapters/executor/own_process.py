"""What Ralph knows about its own process: identity, output files, its command."""

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from shlex import quote
from typing import Final

from ralph.adapters.executor.process_table import ancestors, read_proc, this_table
from ralph.files import names_in, replace_file
from ralph.store.runs import WorkerProcess

# -P: a folder `ralph` in the project, where the session calls it, is not this program.
SCRIPT: Final = '#!/bin/sh\nexec {python} -P -m ralph "$@"\n'


def with_ralph(env: Mapping[str, str], folder: str) -> dict[str, str]:
    """The environment, with `ralph` on its PATH: as it is there, or else as a script in `folder`.

    At the end of the PATH, and in a folder of its own, so that nothing else is found there.
    """
    path = env.get("PATH", os.defpath)
    if shutil.which("ralph", path=path) is not None:
        return dict(env)
    # A session can do without; a disk that cannot be written is reported elsewhere.
    with suppress(OSError):
        os.makedirs(folder, exist_ok=True)
        # Replaced, not written over: another run's session may be reading it.
        script = SCRIPT.format(python=quote(sys.executable))
        replace_file(os.path.join(folder, "ralph"), script.encode(), mode=0o755, sync=False)
    return {**env, "PATH": os.pathsep.join(filter(None, (path, folder)))}


def output_files() -> list[str]:
    """The files behind standard output and error, and those that processes above us or in our
    session write: a `tee` behind a pipe, a `script` that has started Ralph.

    What cannot be found out is left out: there is no list of open files on every system.
    """
    table, session = this_table(), os.getsid(0)
    others = ancestors(table)
    others.update(one.pid for one in table.look_at(table.pids()) if one.session == session)
    found = [path for fd in (1, 2) if os.path.isfile(path := _path_of(fd))]
    for pid in others - {os.getpid()}:
        found += _written_by(pid)
    return list(dict.fromkeys(found))


def _path_of(fd: int) -> str:
    if path := _link(f"/proc/self/fd/{fd}"):
        return path
    try:
        from fcntl import F_GETPATH, fcntl  # type: ignore[attr-defined]

        return os.fsdecode(fcntl(fd, F_GETPATH, bytes(1024)).rstrip(b"\0"))
    except (ImportError, OSError):
        return ""


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _written_by(pid: int) -> Iterator[str]:
    """The files that a process has open for writing."""
    for fd in names_in(f"/proc/{pid}/fd"):
        path = _link(f"/proc/{pid}/fd/{fd}")
        lines = read_proc(f"/proc/{pid}/fdinfo/{fd}").splitlines()
        flags = next((line.split()[1] for line in lines if line.startswith(b"flags:")), b"0")
        if os.path.isfile(path) and int(flags, 8) & (os.O_WRONLY | os.O_RDWR):
            yield path


FIRST_PID_NAMESPACE: Final = "pid:[4026531836]"
"""Linux gives this number to the machine's own; containers have others."""


def this_process() -> WorkerProcess:
    """The owner that this process is."""
    process = this_table().look(os.getpid())
    return WorkerProcess(
        host=_host(),
        boot_id=_boot_id(),
        pid_namespace=_pid_namespace(),
        pid=os.getpid(),
        pid_start=process.start if process is not None else "",
    )


def is_alive(owner: WorkerProcess) -> bool | None:
    """True or False where this machine can tell, None where it cannot."""
    boot_id, namespace = _boot_id(), _pid_namespace()
    if owner.boot_id != boot_id:
        return False if _has_rebooted(owner, namespace) else None
    if not boot_id and owner.host != _host():
        return None
    if owner.pid_namespace != namespace:
        return None
    return _is_running(owner)


def _has_rebooted(owner: WorkerProcess, namespace: str) -> bool:
    # Two containers of one image may share name and machine id on two machines, so only outside
    # of containers does another boot of the same host mean that its processes are gone.
    if not (owner.boot_id and _machine_id()) or owner.host != _host():
        return False
    if sys.platform.startswith("linux"):
        return owner.pid_namespace == namespace == FIRST_PID_NAMESPACE
    return owner.pid_namespace == namespace


def _is_running(owner: WorkerProcess) -> bool | None:
    try:
        os.kill(owner.pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    table = this_table()
    process = table.look(owner.pid)
    if process is None or not owner.pid_start:
        # It exists, but we may not look at it (/proc mounted with hidepid).
        return None
    if process.zombie:
        return False
    if process.start == owner.pid_start:
        return True
    # Where a clock that was set can move the start, a difference is no proof of death.
    return False if table.exact else None


def _host() -> str:
    machine = _machine_id()
    name = os.uname().nodename
    return f"{name}/{machine}" if machine else name


def _machine_id() -> str:
    if sys.platform == "darwin":
        return _mac_host_uuid()
    return _first_line("/etc/machine-id") or _first_line("/var/lib/dbus/machine-id")


def _boot_id() -> str:
    if sys.platform == "darwin":
        return _mac_sysctl(b"kern.bootsessionuuid")
    return _first_line("/proc/sys/kernel/random/boot_id")


def _pid_namespace() -> str:
    return _link("/proc/self/ns/pid")


def _first_line(path: str) -> str:
    return read_proc(path).decode("ascii", "replace").partition("\n")[0].strip()


def _mac_sysctl(name: bytes) -> str:
    import ctypes

    value = ctypes.create_string_buffer(256)
    size = ctypes.c_size_t(len(value))
    ask = getattr(ctypes.CDLL(None), "sysctlbyname", None)
    if ask is None or ask(name, value, ctypes.byref(size), None, 0) != 0:
        return ""
    return value.value.decode("ascii", "replace")


def _mac_host_uuid() -> str:
    import ctypes

    value = (ctypes.c_ubyte * 16)()
    wait = (ctypes.c_long * 2)(1, 0)
    ask = getattr(ctypes.CDLL(None), "gethostuuid", None)
    if ask is None or ask(value, wait) != 0:
        return ""
    return bytes(value).hex()
