"""Preparing a private checkout as `[workspace]` says: files that git lacks, and commands."""

import glob
import os
import shutil
import stat
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ralph.adapters.workspace.stock import Stock
from ralph.core.errors import RalphError, TemporaryFailure, Unavailable
from ralph.core.safe_text import one_line
from ralph.core.temporary import KILLED, is_temporary
from ralph.files import walk
from ralph.ports.executor import Attends, Captured, Command
from ralph.ports.sandbox import Wall

SETUP_S: Final = 900.0
"""A command that installs everything anew may take its time."""


class Preparation:
    """What every private checkout of one project gets."""

    def __init__(
        self,
        project: str,
        *,
        include: Sequence[str],
        setup: Sequence[str],
        stock: Stock | None = None,
        env: Mapping[str, str],
        executor: Attends,
        wall: Wall,
        tick: Callable[[], bool] = lambda: False,
    ) -> None:
        """`setup` runs what a session may have written, and so behind a `wall` around the
        checkout, by the `executor`, unless `tick` says that it is wanted no more."""
        self._project = project
        self._include = include
        self._setup = setup
        self._stock = stock
        self._env = env
        self._executor = executor
        self._wall = wall
        self._tick = tick

    def prepare(self, path: str) -> None:
        """Do it in the project's directory of one checkout."""
        self._bring(path)
        if self._stock is None or not self._stock.take(path):
            self._install(path)

    def prepare_for_all(self, path: str) -> None:
        """The same, and let others have what was installed here. Only in a checkout of accepted
        work: a session could leave something for them."""
        self._bring(path)
        if self._stock is None:
            self._install(path)
            return
        with self._stock.turn(self._tick):
            if not self._stock.take(path):
                self._install(path)
                self._stock.put(path)

    def _bring(self, path: str) -> None:
        for pattern in self._include:
            for found in glob.glob(pattern, root_dir=self._project, recursive=True):
                _copy(self._project, found, path)

    def _install(self, path: str) -> None:
        for line in self._setup:
            self._set_up(line, path)

    def _set_up(self, line: str, path: str) -> None:
        command = Command(argv=("/bin/sh", "-c", line), cwd=path, env=self._env)
        done = self._attend(command)
        if _is_killed(done):
            done = self._attend(command)
        said = (done.stderr or done.stdout).decode(errors="replace").strip()
        if _is_killed(done):
            raise TemporaryFailure(
                f"the setup command {line!r} exits with {done.code}: {one_line(said[-200:])}",
                hint="see to memory and processes, then `ralph run` goes on",
            )
        if done.code != 0:
            raise Unavailable(
                f"the setup command {line!r} exits with {done.code} in a private checkout",
                hint=one_line(said[-200:]) or "try it by hand, then mend [workspace] setup",
            )

    def _attend(self, command: Command) -> Captured:
        with self._wall.around(command) as inside:
            return self._executor.attend(inside.command, timeout_s=SETUP_S, tick=self._tick)


def _is_killed(done: Captured) -> bool:
    """By somebody else, or for want of memory: that says nothing about the command."""
    return done.code in KILLED or (done.code != 0 and is_temporary(done.stderr.decode("latin-1")))


def _copy(source: str, found: str, target: str) -> None:
    """Files that git does not have, at the same place in the clone. Copies, not links: what is done
    to one must not reach the original."""
    whole = os.path.join(source, found)
    folder, top = os.path.realpath(os.path.dirname(whole)), os.path.realpath(source)
    if os.path.commonpath([folder, top]) != top:
        # By `..`, or by a link that a session has put on the way.
        raise RalphError(
            f"{whole} cannot be copied into a private checkout: it is in {folder}",
            hint="mend [workspace] include",
        )
    if os.path.isdir(whole) and not os.path.islink(whole):
        below = [os.path.join(at, one) for at, _, names in walk(whole) for one in names]
    else:
        below = [whole]
    for path in below:
        _copy_file(path, os.path.join(target, os.path.relpath(path, source)), target)


def _copy_file(source: str, target: str, top: str) -> None:
    folder = os.path.realpath(os.path.dirname(target))
    if os.path.commonpath([folder, os.path.realpath(top)]) != os.path.realpath(top):
        # By `..`, or by a link that a session has put there.
        raise RalphError(
            f"{source} cannot be copied into a private checkout: it would land in {folder}",
            hint="mend [workspace] include",
        )
    try:
        # Not a pipe, which nobody may ever write to.
        is_plain = stat.S_IFMT(os.lstat(source).st_mode) in (stat.S_IFREG, stat.S_IFLNK)
        if is_plain and not os.path.lexists(target):
            os.makedirs(folder, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    except OSError as error:
        raise RalphError(
            f"cannot copy {source} into a private checkout: {error.strerror}"
        ) from error
