"""One run in a checkout at a time."""

import fcntl
import math
import os
from types import TracebackType

from ralph.core.errors import Busy, CannotWrite


class CheckoutLock:
    """Held as long as the process lives: the kernel gives it back, whatever happens to us.

    In the git directory: there `git clean` and tidy agents do not find it.
    """

    def __init__(self, git_dir: str, run: str) -> None:
        self.path = os.path.join(git_dir, "ralph", "run.lock")
        self.run = run
        self.fd = -1
        self.died_since = math.inf
        """When the last run began here, if it died; in seconds since the epoch."""

    def __enter__(self) -> "CheckoutLock":
        """Take it, or say who has it."""
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            self.fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise CannotWrite(
                f"cannot write {self.path}: {error.strerror}",
                hint="Ralph needs to write its state; is the checkout read-only?",
            ) from error
        try:
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self.fd, 200).decode("utf-8", "replace").strip()
            os.close(self.fd)
            raise Busy(
                f"another run is at work in this checkout ({holder or 'just starting'})",
                hint="`ralph status` shows it, `ralph stop` ends it",
            ) from None
        if (found := os.fstat(self.fd)).st_size:
            self.died_since = found.st_mtime
        os.ftruncate(self.fd, 0)
        os.write(self.fd, f"run {self.run}, pid {os.getpid()}\n".encode())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give it back, and say by an empty file that we have come to the end."""
        os.ftruncate(self.fd, 0)
        os.close(self.fd)
