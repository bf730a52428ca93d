"""Who this process is, so that others can see whether it is still alive."""

import os
import sys
from typing import Final

from ralph.adapters.executor.table import this_table
from ralph.ports.crew import Owner

FIRST_PID_NAMESPACE: Final = "pid:[4026531836]"
"""Linux gives this number to the machine's own; containers have others."""


def this_process() -> Owner:
    """The owner that this process is."""
    process = this_table().look(os.getpid())
    return Owner(
        host=_host(),
        boot_id=_boot_id(),
        pid_namespace=_pid_namespace(),
        pid=os.getpid(),
        pid_start=process.start if process is not None else "",
    )


def is_alive(owner: Owner) -> bool | None:
    """True or False where this machine can tell, None where it cannot."""
    boot_id, namespace = _boot_id(), _pid_namespace()
    if owner.boot_id != boot_id:
        return False if _has_rebooted(owner, namespace) else None
    if not boot_id and owner.host != _host():
        return None
    if owner.pid_namespace != namespace:
        return None
    return _is_running(owner)


def _has_rebooted(owner: Owner, namespace: str) -> bool:
    # Two containers of one image may share name and machine id on two machines, so only outside
    # of containers does another boot of the same host mean that its processes are gone.
    if not (owner.boot_id and _machine_id()) or owner.host != _host():
        return False
    if sys.platform.startswith("linux"):
        return owner.pid_namespace == namespace == FIRST_PID_NAMESPACE
    return owner.pid_namespace == namespace


def _is_running(owner: Owner) -> bool | None:
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
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.readline().strip()
    except OSError:
        return ""


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
