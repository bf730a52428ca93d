"""A lock beside a file that several programs write."""

import fcntl
import os
import time
from types import TracebackType
from typing import Final

from ralph.core.errors import Busy

PATIENCE_S: Final = 10.0
PAUSE_S: Final = 0.02


class FileLock:
    """Held by `flock`: the kernel gives it back, whatever happens to us. The file stays, since
    whoever removed it could take away what another has just locked."""

    def __init__(self, path: str, patience_s: float) -> None:
        self.path = path
        self.patience_s = patience_s
        self.fd = -1

    def __enter__(self) -> "FileLock":
        """Wait for it, for a while."""
        # Whoever lays a link there does not choose which file we make.
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        self.fd = os.open(self.path, flags, 0o644)
        deadline = time.monotonic() + self.patience_s
        while True:
            try:
                fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    os.close(self.fd)
                    raise Busy(
                        f"another program holds {self.path}", hint="nothing was changed: try again"
                    ) from None
                time.sleep(PAUSE_S)
            else:
                return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give it back."""
        os.close(self.fd)
