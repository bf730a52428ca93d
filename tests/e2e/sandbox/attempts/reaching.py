"""Reaching others: processes, sockets, programs; and staying."""

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import time

from common import World, attempt, check, libc, put

PTRACE_ATTACH, PTRACE_DETACH = 16, 17


@attempt
def kill(w: World) -> None:
    os.kill(w["outside"], signal.SIGKILL)


@attempt
def trace(w: World) -> str:
    check(libc.ptrace(PTRACE_ATTACH, w["outside"], None, None))
    os.waitpid(w["outside"], 0)
    check(libc.ptrace(PTRACE_DETACH, w["outside"], None, None))
    return "traced the process outside"


@attempt
def their_environment(w: World) -> str:
    with open(f"/proc/{w['outside']}/environ") as file:
        return file.read()


@attempt
def their_memory(w: World) -> str:
    with open(f"/proc/{w['outside']}/mem", "rb"):
        return "opened the memory of the process outside"


@attempt
def see_processes(w: World) -> str:
    return f"sees {w['outside']}" if str(w["outside"]) in os.listdir("/proc") else "alone"


@attempt
def inherited_files(w: World) -> str:
    """A file that is open already is a hole in any sandbox."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            target = os.readlink(f"/proc/self/fd/{name}")
            if int(name) > 2 and not target.startswith("/proc/"):
                found.append(target)
    return f"inherited {found}" if found else "nothing"


def _connect(path: "str | bytes", word: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(5)
        client.connect(path)
        client.sendall(word.encode())


@attempt
def socket_in_home(w: World) -> None:
    _connect(f"{w['home']}/service.sock", "socket_in_home")


@attempt
def socket_in_checkout(w: World) -> None:
    _connect(f"{w['project']}/dev.sock", "socket_in_checkout")


@attempt
def socket_in_tmp(w: World) -> None:
    _connect(f"/tmp/{w['tag']}.sock", "socket_in_tmp")


@attempt
def socket_in_run(w: World) -> None:
    _connect(f"/run/{w['tag']}.sock", "socket_in_run")


@attempt
def socket_of_docker(w: World) -> None:
    _connect(f"{w['home']}/.docker/run/docker.sock", "socket_of_docker")


@attempt
def socket_without_file(w: World) -> None:
    _connect(b"\0" + w["tag"].encode(), "socket_without_file")


@attempt
def socket_by_a_short_name(w: World) -> None:
    """Whoever listens there has said where only as seen from its own folder."""
    _connect(f"{w['home']}/short.sock", "socket_by_a_short_name")


@attempt
def socket_to_the_host(w: World) -> str:
    with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM):
        return "made a socket that belongs to no network"


@attempt
def request_ring(w: World) -> str:
    """Makes sockets and more that no filter of system calls sees."""
    ring = libc.syscall(425, 8, ctypes.create_string_buffer(120))
    check(0 if ring >= 0 else -1)
    return "made a ring of requests"


@attempt
def key_ring(w: World) -> str:
    """The kernel hands it down from process to process."""
    call = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
    search, read, session = 10, 11, -3
    key = libc.syscall(call, search, session, b"user", w["tag"].encode(), 0)
    check(0 if key >= 0 else -1)
    said = ctypes.create_string_buffer(100)
    libc.syscall(call, read, key, said, 100)
    return said.value.decode()


def _output(*argv: str) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=20)
    return done.stdout + done.stderr


@attempt
def program_by_name(w: World) -> str:
    return _output("kubectl")


@attempt
def program_by_path(w: World) -> str:
    return _output(f"{w['bin']}/kubectl")


@attempt
def program_by_real_path(w: World) -> str:
    return _output(f"{w['opt']}/kubectl-1.30")


@attempt
def program_by_copy(w: World) -> str:
    shutil.copy(f"{w['bin']}/kubectl", f"{w['project']}/innocent")
    os.chmod(f"{w['project']}/innocent", 0o755)
    return _output(f"{w['project']}/innocent")


@attempt
def program_by_interpreter(w: World) -> str:
    return _output("/bin/sh", f"{w['bin']}/kubectl")


@attempt
def program_by_link(w: World) -> str:
    os.symlink(f"{w['bin']}/kubectl", f"{w['project']}/harmless")
    return _output(f"{w['project']}/harmless")


@attempt
def program_of_own_rule(w: World) -> str:
    return _output("deploy-tool")


@attempt
def daemon(w: World) -> None:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            with open(os.devnull, "r+") as null:
                for fd in (0, 1, 2):
                    os.dup2(null.fileno(), fd)
            while True:
                time.sleep(0.05)
        os._exit(0)


@attempt
def leave_in_tmp(w: World) -> str:
    put(f"/tmp/{w['tag']}.left")
    put(f"/var/tmp/{w['tag']}.left")
    os.mkdir(f"/tmp/{w['tag']}.unreadable", 0o700)
    put(f"/tmp/{w['tag']}.unreadable/file")
    os.chmod(f"/tmp/{w['tag']}.unreadable", 0)
    return "left"
