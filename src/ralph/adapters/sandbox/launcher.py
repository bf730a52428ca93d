"""The last thing before a command starts in its sandbox: run by itself, as a script.

    python -I -S launcher.py [scope=1] [write=PATH…] -- COMMAND…

It hears signals again (bubblewrap is told not to), lets Landlock close what mounts cannot, or all
of it where there are no mounts, and becomes the command. Every session and every gate pays for it,
so it imports next to nothing: `signal` and `json` alone would cost more than the rest.
"""

import _signal  # type: ignore[import-not-found]
import ctypes
import os
import resource
import struct
import sys

NO_NEW_PRIVS = 38
SECCOMP, FILTER = 22, 2
DROP_POWER, POWERS = 24, 64
POWERS_VERSION = 0x20080522
DIE_WITH_PARENT = 1
CREATE, ADD, RESTRICT = 444, 445, 446
"""System calls, the same on every machine."""
VERSION_FLAG = 1
BENEATH, PORT = 1, 2
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
OLDEST = (1 << 13) - 1
"""All that the first version knows: read, write, remove, make."""
REFER, TRUNCATE, IOCTL, CONNECT_UNIX = 1 << 13, 1 << 14, 1 << 15, 1 << 16
SINCE = {2: REFER, 3: TRUNCATE, 5: IOCTL, 9: CONNECT_UNIX}
FOR_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL | CONNECT_UNIX
CONNECT_TCP = 2
ABSTRACT_SOCKETS, SIGNALS = 1, 2
KNOWS_UNIX_SOCKETS = 9
OOM_SCORE = b"500"
STARTED_FD = 8
DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")

Orders = dict[str, list[str]]


class Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


class Ruleset(ctypes.Structure):
    """struct landlock_ruleset_attr."""

    _fields_ = tuple((name, ctypes.c_uint64) for name in ("files", "network", "scoped"))


libc = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """Which Landlock this kernel has; 0 without any."""
    if sys.platform != "linux":
        return 0
    return max(0, int(libc.syscall(CREATE, None, 0, VERSION_FLAG)))


def main() -> None:
    """Obey the orders, then become the command."""
    split = sys.argv.index("--")
    orders: Orders = {}
    for word in sys.argv[1:split]:
        name, _, value = word.partition("=")
        orders.setdefault(name, []).append(value)
    for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
        _signal.signal(number, _signal.SIG_DFL)
    _report_start()
    if "dies" in orders:
        libc.prctl(DIE_WITH_PARENT, _signal.SIGKILL, 0, 0, 0)
    _limit(orders)
    calls = _read(orders["calls"][0]) if "calls" in orders else b""
    if "alone" in orders:
        enclose(orders)
    elif "scope" in orders and version() >= 6:
        _restrict(*sockets_only(orders, version()), [])
    if calls:
        _filter(calls)
    _become(sys.argv[split + 1 :])


def _report_start() -> None:
    """To a file outside, which nothing that runs in the sandbox can change after this."""
    try:
        os.write(STARTED_FD, b"1")
        os.close(STARTED_FD)
    except OSError:
        pass  # nothing asks


def _limit(orders: Orders) -> None:
    """What the kernel counts for each process, or each user."""
    # If the machine runs out of memory, a session goes before anything of the person's.
    try:
        fd = os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
        os.write(fd, OOM_SCORE)
        os.close(fd)
    except OSError:
        pass
    # A crash writes no file, and with 1 in place of 0 it starts no program outside, either.
    core = 1 if resource.getrlimit(resource.RLIMIT_CORE)[1] else 0
    resource.setrlimit(resource.RLIMIT_CORE, (core, core))
    kinds = {"files": resource.RLIMIT_NOFILE, "size": resource.RLIMIT_FSIZE}
    if "alone" not in orders:
        # Counted in a namespace of its own; without one all processes of the person would count.
        kinds["processes"] = resource.RLIMIT_NPROC
    for name, kind in kinds.items():
        if name in orders:
            soft, hard = resource.getrlimit(kind)
            # More than is allowed: who comes that far is seen, and ended.
            most = int(orders[name][0]) * (2 if name == "processes" else 1)
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            soft = most if soft == resource.RLIM_INFINITY else min(soft, most)
            resource.setrlimit(kind, (soft, most))


def sockets_only(orders: Orders, abi: int) -> tuple[Ruleset, list[tuple[str, int]]]:
    """Where mounts do the rest: sockets of others are closed, but for those that are named."""
    if abi < KNOWS_UNIX_SOCKETS:
        return Ruleset(0, 0, ABSTRACT_SOCKETS), []
    # Every ruleset about files forbids moving them between folders unless it allows that.
    rules = [("/", REFER), *((path, CONNECT_UNIX) for path in orders.get("socket", ()))]
    return Ruleset(CONNECT_UNIX | REFER, 0, ABSTRACT_SOCKETS), rules


def enclose(orders: Orders) -> None:
    """All by Landlock: what is not opened here is closed."""
    abi = version()
    if not abi:
        _give_up("Landlock: this kernel has none", 126)
    files = OLDEST | sum(right for since, right in SINCE.items() if abi >= since)
    may_read = EXECUTE | READ_FILE | READ_DIR
    hidden = set(orders.get("hide", ()))
    rules = []
    for root in orders.get("read", ()):
        # Names can be listed in all of it, for programs that look for what is there.
        rules += [(root, READ_DIR), *((path, may_read) for path in _open_paths(root, hidden))]
    # Its own sockets can be reached anyway, wherever they are.
    rules += ((path, files & ~CONNECT_UNIX) for path in orders.get("write", ()))
    rules += ((path, CONNECT_UNIX) for path in orders.get("socket", ()))
    rules += ((f"/dev/{name}", files & ~EXECUTE) for name in DEVICES)
    is_netted = abi >= 4 and "closed" in orders
    ruleset = Ruleset(
        files, CONNECT_TCP if is_netted else 0, ABSTRACT_SOCKETS | SIGNALS if abi >= 6 else 0
    )
    _restrict(ruleset, rules, orders.get("port", []) if is_netted else [])
    _drop_powers()


def _drop_powers() -> None:
    """Root would look into every process, and make a disk of its own."""
    for power in range(POWERS):
        libc.prctl(DROP_POWER, power, 0, 0, 0)
    head, none = (ctypes.c_uint32 * 2)(POWERS_VERSION, 0), (ctypes.c_uint32 * 6)()
    _checked(libc.capset(head, none))


def _open_paths(root: str, hidden: set[str]) -> list[str]:
    """A folder but for what is hidden in it: Landlock cannot take away a part of what it has
    given."""
    inner = root.rstrip("/") + "/"
    if not any(path.startswith(inner) and path != root for path in hidden):
        return [root]
    try:
        entries = [entry for entry in os.scandir(root) if not entry.is_symlink()]
    except OSError:
        return []  # it cannot be listed anyway
    kept = [entry.path for entry in entries if entry.path not in hidden]
    return [path for inside in kept for path in _open_paths(inside, hidden)]


def _restrict(ruleset: Ruleset, rules: list[tuple[str, int]], ports: list[str]) -> None:
    size = _known_size(ctypes.sizeof(ruleset))
    handle = _checked(libc.syscall(CREATE, ctypes.byref(ruleset), size, 0))
    for path, access in rules:
        _allow(handle, path, access & ruleset.files)
    for number in ports:
        port = struct.pack("=QQ", CONNECT_TCP, int(number))
        _checked(libc.syscall(ADD, handle, PORT, port, 0))
    _checked(libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked(libc.syscall(RESTRICT, handle, 0))
    os.close(handle)


def _known_size(size: int) -> int:
    """Older kernels refuse a structure with fields that they do not know."""
    abi = version()
    return 8 if abi < 4 else 16 if abi < 6 else size


def _allow(handle: int, path: str, access: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # gone, or not ours to see: then it stays closed
    try:
        if not os.path.isdir(path):
            access &= FOR_FILES
        if access:
            beneath = struct.pack("=Qi", access, fd)
            _checked(libc.syscall(ADD, handle, BENEATH, beneath, 0))
    finally:
        os.close(fd)


def _read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, 1 << 16)
    finally:
        os.close(fd)


def _filter(calls: bytes) -> None:
    """No more of these system calls; see launch_commands.py."""
    program = Program(len(calls) // 8, calls)
    _checked(libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked(libc.prctl(SECCOMP, FILTER, ctypes.byref(program), 0, 0))


def _checked(result: int) -> int:
    if result < 0:
        _give_up(f"Landlock: {os.strerror(ctypes.get_errno())}", 126)
    return result


def _become(argv: list[str]) -> None:
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        code = 127 if isinstance(error, FileNotFoundError) else 126
        _give_up(f"{argv[0]}: {error.strerror}", code)


def _give_up(why: str, code: int) -> None:
    sys.stderr.write(f"ralph: {why}\n")
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
