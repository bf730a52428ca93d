"""Runs commands in one sandbox, one after the other, for the Ralph outside: by itself, as a script.

    python -I -S command_server.py

Its standard input is a socket. Each request comes with three files, which are the standard input,
output and error of the command; the answer is the exit code. It ends with the socket.

It is the first process of its sandbox, so nothing inside can signal it, and no other process can
look into its memory. After each command it kills what that has left running. Where a command has
left anything else behind, it ends as well, and the next command gets a new sandbox.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import ctypes
import os
import resource
import select
import sys

DUMPABLE = 4
FIRST = 1
"""The number of the first process, which gets every orphan."""
FILES = 3
WORD = 4
RUN, END = b"R", b"E"
CLEAN, SPOILT = b"+", b"-"
SHARED_MEMORY = "/dev/shm"
SHARED = ("shm", "sem", "msg")
LIMITS = tuple(number for name, number in vars(resource).items() if name.startswith("RLIMIT_"))

Request = tuple[list[bytes], tuple[int, ...]]


def main() -> None:
    """Answer until the socket ends."""
    if os.getpid() != FIRST:
        sys.exit("ralph: this belongs into a sandbox of its own")
    ctypes.CDLL(None).prctl(DUMPABLE, 0, 0, 0, 0)
    # Python ignores these, and what is ignored here would be ignored by every command.
    for number in (_signal.SIGPIPE, _signal.SIGXFSZ):
        _signal.signal(number, _signal.SIG_DFL)
    control = _socket.socket(fileno=0)
    read, write = os.pipe()
    os.set_blocking(write, False)
    _signal.set_wakeup_fd(write)
    _signal.signal(_signal.SIGCHLD, lambda *_: None)
    before = _surroundings()
    while (request := _receive(control)) is not None:
        code = _run(control, read, *request)
        is_clean = _kill_the_rest() and _surroundings() == before
        answer = code.to_bytes(WORD, "big", signed=True)
        control.sendall(answer + (CLEAN if is_clean else SPOILT))
        if not is_clean:
            return


def _receive(control: _socket.socket) -> Request | None:
    """The folder, the number of arguments, the arguments and the environment; and the files."""
    kind = END
    files: tuple[int, ...] = ()
    while kind == END:  # for a command that has ended meanwhile
        space = _socket.CMSG_SPACE(FILES * WORD)
        kind, parts, *_ = control.recvmsg(1, space, _socket.MSG_CMSG_CLOEXEC)
        files = tuple(fd for *_, data in parts for fd in _numbers(data))
    if kind != RUN or len(files) != FILES:
        return None
    size = int.from_bytes(_read(control, WORD), "big")
    return _read(control, size).split(b"\0"), files


def _numbers(data: bytes) -> list[int]:
    places = range(0, len(data) - WORD + 1, WORD)
    return [int.from_bytes(data[at : at + WORD], sys.byteorder) for at in places]


def _read(control: _socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = control.recv(size - len(data))
        if not part:
            sys.exit()
        data += part
    return data


def _run(control: _socket.socket, wake: int, words: list[bytes], files: tuple[int, ...]) -> int:
    """Run one command to its end; return its exit code as a shell has it."""
    pid = os.fork()
    if pid == 0:
        _become(words, files)
    for fd in files:
        os.close(fd)
    poller = select.poll()
    poller.register(control.fileno(), select.POLLIN)
    poller.register(wake, select.POLLIN)
    code = None
    while code is None:
        for fd, _ in poller.poll():
            if fd == wake:
                os.read(wake, 4096)
            elif control.recv(1) == END:
                os.killpg(pid, _signal.SIGTERM)
            else:
                sys.exit()  # Ralph is gone, and with us all that is in here
        code = _reap(pid)
    return code if code >= 0 else 128 - code


def _become(words: list[bytes], files: tuple[int, ...]) -> None:
    folder, count, *rest = words
    argv, env = rest[: int(count)], rest[int(count) :]
    try:
        os.setsid()
        for number, fd in enumerate(files):
            os.dup2(fd, number)
        os.chdir(folder)
        os.execvpe(argv[0], argv, dict(entry.split(b"=", 1) for entry in env))
    except OSError as error:
        os.write(2, b"ralph: %s: %s\n" % (argv[0], os.strerror(error.errno or 0).encode()))
    finally:
        os._exit(127)


def _reap(pid: int) -> int | None:
    """Take note of all that have ended; return the exit code of this one, if it is among them."""
    code = None
    try:
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            if found[0] == pid:
                code = os.waitstatus_to_exitcode(found[1])
    except ChildProcessError:
        pass
    return code


def _kill_the_rest() -> bool:
    """Kill everything else in the sandbox; return whether there was nothing."""
    _reap(0)
    try:
        os.kill(-1, _signal.SIGKILL)
    except ProcessLookupError:
        return True
    try:
        while True:
            os.wait()
    except ChildProcessError:
        return False


def _surroundings() -> tuple[object, ...]:
    """What a command might change for those that come after it."""
    limits = tuple(resource.getrlimit(number) for number in LIMITS)
    shared = tuple(_lines(f"/proc/sysvipc/{name}") for name in SHARED)
    return (
        limits,
        shared,
        os.listdir(SHARED_MEMORY),
        os.stat("/dev").st_ctime_ns,
        sorted(os.sched_getaffinity(0)),
        os.getpriority(os.PRIO_PROCESS, 0),
    )


def _lines(path: str) -> int:
    """Their number: the first one is a heading, each of the others something that is shared."""
    try:
        with open(path, "rb") as file:
            return file.read().count(b"\n")
    except OSError:
        return 0


if __name__ == "__main__":
    main()
