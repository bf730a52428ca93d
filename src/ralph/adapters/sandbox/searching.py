"""Where Ralph finds programs of its own: never where a session could have put one."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from ralph.adapters.sandbox.terrain import around
from ralph.core.fence import Access, Fence
from ralph.ports.executor import Captured, Captures

NOWHERE: Final = "/nowhere"
"""An empty PATH would be the current folder."""


@lru_cache(maxsize=8)
def out_of_reach(path: str, fence: Fence) -> str:
    """The folders of a PATH in which sessions cannot write."""
    access = {os.path.realpath(place.path): place.access for place in fence.places if place.path}
    kept = [
        folder
        for folder in path.split(os.pathsep)
        if os.path.isabs(folder)
        and around(os.path.join(os.path.realpath(folder), "program"), access) is not Access.WRITE
    ]
    return os.pathsep.join(kept) or NOWHERE


class Outside:
    """Short commands of ours in the open, where no wall stands yet."""

    def __init__(self, executor: Captures, path: str) -> None:
        self._executor = executor
        self._path = path

    def capture(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout_s: float = 120.0,
    ) -> Captured:
        """As ever, from that PATH."""
        there = {**(os.environ if env is None else env), "PATH": self._path}
        return self._executor.capture(argv, cwd=cwd, env=there, stdin=stdin, timeout_s=timeout_s)

    def wait(self, why: str, seconds: float, is_over: Callable[[], bool]) -> None:
        """As ever."""
        self._executor.wait(why, seconds, is_over)
