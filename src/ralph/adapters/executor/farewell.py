"""Signalling processes and waiting until they are gone, never hitting a stranger with their pid."""

import contextlib
import os
import select
import signal
import time
from collections.abc import Sequence
from typing import Final

from ralph.adapters.executor.table import Process, Table

AT_ONCE: Final = 200
"""Each needs a file descriptor for a moment."""

Notice = tuple[Process, signal.Signals]


def send_off(table: Table, notices: Sequence[Notice], grace_s: float) -> None:
    """Send each its signal; return when all are gone, or when the grace is over."""
    for start in range(0, len(notices), AT_ONCE):
        part = notices[start : start + AT_ONCE]
        if table.exact and has_pidfd():
            _by_pidfd(table, part, grace_s)
        else:
            _by_psutil(table, part, grace_s)


def has_pidfd() -> bool:
    """Linux since 5.3; some containers forbid it."""
    fd = open_pidfd(os.getpid())
    if fd is not None:
        os.close(fd)
    return fd is not None


def open_pidfd(pid: int) -> int | None:
    """A file that can be read when the process has ended."""
    opens = getattr(os, "pidfd_open", None)
    if opens is None:
        return None
    try:
        fd: int = opens(pid)
    except OSError:
        return None
    return fd


def _by_pidfd(table: Table, notices: Sequence[Notice], grace_s: float) -> None:
    waiting = select.poll()
    fds: set[int] = set()
    try:
        for process, number in notices:
            fd = open_pidfd(process.pid)
            if fd is None:
                continue
            fds.add(fd)
            # The file stands for whoever has the pid now; is it still the one we mean?
            if _is_same(table, process) and _signal(fd, number):
                waiting.register(fd, select.POLLIN)
            else:
                fds.remove(fd)
                os.close(fd)
        _wait(waiting, fds, grace_s)
    finally:
        for fd in fds:
            os.close(fd)


def _wait(waiting: select.poll, fds: set[int], grace_s: float) -> None:
    until = time.monotonic() + grace_s
    living = len(fds)
    while living and (left := until - time.monotonic()) > 0:
        for fd, _ in waiting.poll(left * 1000):
            waiting.unregister(fd)
            living -= 1


def _signal(pidfd: int, number: signal.Signals) -> bool:
    send = getattr(signal, "pidfd_send_signal")  # noqa: B009  mypy on macOS does not know it
    try:
        send(pidfd, number)
        if number != signal.SIGKILL:
            send(pidfd, signal.SIGCONT)
    except OSError:
        return False
    return True


def _by_psutil(table: Table, notices: Sequence[Notice], grace_s: float) -> None:
    import psutil  # type: ignore[import-untyped]

    told: list[psutil.Process] = []
    for process, number in notices:
        if _is_same(table, process):
            with contextlib.suppress(psutil.Error):
                known = psutil.Process(process.pid)
                known.send_signal(number)
                if number != signal.SIGKILL:
                    known.send_signal(signal.SIGCONT)
                told.append(known)
    psutil.wait_procs(told, timeout=grace_s)


def _is_same(table: Table, process: Process) -> bool:
    now = table.look(process.pid)
    return now is not None and now.start == process.start
