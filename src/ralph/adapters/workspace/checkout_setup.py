"""Prepares a private checkout: files that git lacks, setup commands, cached dependencies."""

import contextlib
import glob
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from ralph.core.errors import RalphError, SetupFailed, TemporaryFailure
from ralph.core.gate_output import decisive_lines
from ralph.core.process_exit import is_temporary, was_killed
from ralph.core.safe_text import one_line
from ralph.files import open_lock, open_regular, or_cannot_write, remove_tree, try_lock, walk
from ralph.ports.executor import Command, CommandOutput, Executor, Interrupted, Tick
from ralph.ports.sandbox import CheckoutSandbox

MANIFESTS: Final = (
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock"),
    *("bun.lock", "bun.lockb", "pyproject.toml", "requirements*.txt", "poetry.lock", "uv.lock"),
    *("Pipfile.lock", "Cargo.toml", "Cargo.lock", "go.mod", "go.sum", "Gemfile", "Gemfile.lock"),
    *("composer.json", "composer.lock", ".nvmrc", ".python-version", ".tool-versions"),
)
"""Files that say what is to be installed, in the folder above that in which it is."""
KEPT: Final = 3
"""So many different installations; branches with other dependencies take turns."""
LOCK: Final = ".lock"
NAP_S: Final = 0.2


class DependencyCache:
    """The cached dependency folders of one project."""

    def __init__(self, folder: str, names: Sequence[str], setup: Sequence[str]) -> None:
        self._folder = folder
        parts = ((name, os.path.normpath(name).split(os.sep)) for name in names)
        # Inside of the checkout, and not the whole of it; an absolute one begins with nothing.
        self._names = tuple(name for name, each in parts if not {"", ".", ".."} & {*each})
        self._setup = setup

    @contextlib.contextmanager
    def lock(self, tick: Tick) -> Iterator[None]:
        """One at a time: workers that begin together would all install the same. Interrupted, if
        `tick` ends the waiting."""
        if not self._names:
            yield
            return
        path = os.path.join(self._folder, LOCK)
        with or_cannot_write(f"write in {self._folder}"):
            os.makedirs(self._folder, exist_ok=True)
            handle = open_lock(path)
        try:
            while not try_lock(handle):
                if tick():
                    raise Interrupted
                time.sleep(NAP_S)
            yield
        finally:
            os.close(handle)

    def copy_into(self, checkout: str) -> bool:
        """Put in what was installed for the same manifests before; False: nothing was."""
        place = os.path.join(self._folder, self._digest(checkout))
        if not self._names or not os.path.isdir(place):
            return False
        made: list[str] = []
        try:
            for name in self._names:
                source, target = os.path.join(place, name), os.path.join(checkout, name)
                if os.path.isdir(source) and not os.path.lexists(target):
                    made.append(target)
                    shutil.copytree(source, target, symlinks=True)
            os.utime(place)
        except (OSError, RecursionError):
            # The disk is full, or another process has just removed it to make room.
            for target in made:
                _remove(target)
            return False
        return True

    def save_from(self, checkout: str) -> None:
        """Keep what has just been installed, before any session could change it."""
        place = os.path.join(self._folder, self._digest(checkout))
        made = [name for name in self._names if os.path.isdir(os.path.join(checkout, name))]
        if not made or os.path.isdir(place):
            return
        draft = f"{place}.{os.getpid()}"
        try:
            for name in made:
                source = os.path.join(checkout, name)
                shutil.copytree(source, os.path.join(draft, name), symlinks=True)
            # Another worker may have been quicker: then theirs is as good.
            os.rename(draft, place)
        except (OSError, RecursionError):
            _remove(draft)
        with contextlib.suppress(OSError):
            places = [os.path.join(self._folder, name) for name in os.listdir(self._folder)]
            whole = [place for place in places if "." not in os.path.basename(place)]
            for place in sorted(whole, key=os.path.getmtime)[:-KEPT]:
                _remove(place)

    def _digest(self, checkout: str) -> str:
        found = hashlib.sha256(repr((self._names, tuple(self._setup))).encode())
        for name in self._names:
            folder = os.path.join(checkout, os.path.dirname(name))
            for pattern in MANIFESTS:
                for path in sorted(glob.glob(os.path.join(glob.escape(folder), pattern))):
                    with contextlib.suppress(OSError), open_regular(path) as file:
                        content = hashlib.file_digest(file, "sha256").digest()
                        found.update(os.path.relpath(path, checkout).encode() + b"\0" + content)
        return found.hexdigest()[:24]


def _remove(folder: str) -> None:
    with contextlib.suppress(OSError):
        remove_tree(folder)


SETUP_S: Final = 900.0
"""A command that installs everything may take its time."""


class CheckoutSetup(msgspec.Struct, frozen=True, kw_only=True):
    """`setup` runs what a session may have written, and so in the sandbox of the checkout, by the
    `executor`, unless `tick` says that it is wanted no more."""

    project: str
    include: Sequence[str]
    setup: Sequence[str]
    dependency_cache: DependencyCache = DependencyCache("", (), ())
    env: Mapping[str, str]
    executor: Executor
    checkout_sandbox: CheckoutSandbox
    tick: Tick = lambda: False

    def prepare(self, path: str) -> None:
        """Do it in the project's directory of one checkout."""
        self._copy_included(path)
        if not self.dependency_cache.copy_into(path):
            self._install(path)

    def prepare_for_all(self, path: str) -> None:
        """The same, and let others have what was installed here. Only in a checkout of accepted
        work: a session could leave something for them."""
        self._copy_included(path)
        with self.dependency_cache.lock(self.tick):
            if not self.dependency_cache.copy_into(path):
                self._install(path)
                self.dependency_cache.save_from(path)

    def _copy_included(self, path: str) -> None:
        for pattern in self.include:
            for found in _matching(pattern, self.project):
                copy_into(self.project, found, path)

    def _install(self, path: str) -> None:
        for line in self.setup:
            self._run_setup(line, path)

    def _run_setup(self, line: str, path: str) -> None:
        command = Command(argv=("/bin/sh", "-c", line), cwd=path, env=self.env)
        done = self._run(command)
        if _is_killed(done):
            done = self._run(command)
        if done.code == 0:
            return
        lines = decisive_lines((done.stderr or done.stdout).decode(errors="replace"))
        why = one_line(" ".join(lines), 300) or "it prints nothing"
        what = f"the setup command {line!r} exits with {done.code} in a private checkout: {why}"
        if _is_killed(done):
            hint = "see to memory and processes, then `ralph run` goes on"
            raise TemporaryFailure(what, hint=hint)
        raise SetupFailed(what, hint="try it by hand, then fix [workspace] setup")

    def _run(self, command: Command) -> CommandOutput:
        with self.checkout_sandbox.sandboxed(command) as inside:
            return self.executor.run_long(inside.command, timeout_s=SETUP_S, tick=self.tick)


def _is_killed(done: CommandOutput) -> bool:
    """From outside, or for want of memory: that says nothing about the command."""
    return was_killed(done.code) or (done.code != 0 and is_temporary(done.stderr.decode("latin-1")))


def _matching(pattern: str, folder: str) -> Iterator[str]:
    """As `glob.glob` with `**`, which does not end where a session has left two links that lead
    back: no link is followed here."""
    start, stars, rest = pattern.partition("**")
    if not stars or (start and not start.endswith("/")) or rest[:1] not in ("", "/"):
        yield from glob.glob(pattern, root_dir=folder)
        return
    for top in glob.glob(start, root_dir=folder) if start else [""]:
        for inner, folders, names in walk(os.path.join(folder, top)):
            folders[:] = [name for name in folders if not name.startswith(".")]
            at = os.path.relpath(inner, folder)
            if rest.strip("/"):
                found = _matching(rest.strip("/"), inner)
            else:
                found = (name for name in names if not name.startswith("."))
            yield from (os.path.normpath(os.path.join(at, name)) for name in found)


def copy_into(source: str, found: str, target: str) -> None:
    """Files that git does not have, at the same place in the clone. Copies, not links: what is done
    to one must not reach the original."""
    whole = os.path.join(source, found)
    folder, top = os.path.realpath(os.path.dirname(whole)), os.path.realpath(source)
    if os.path.commonpath([folder, top]) != top:
        # By `..`, or by a link that a session has put on the way.
        raise RalphError(
            f"{whole} cannot be copied into a private checkout: it is in {folder}",
            hint="fix [workspace] include",
        )
    if os.path.isdir(whole) and not os.path.islink(whole):
        below = [os.path.join(at, one) for at, _, names in walk(whole) for one in names]
        if not below and is_inside(os.path.join(target, found), target):
            os.makedirs(os.path.join(target, found), exist_ok=True)
    else:
        below = [whole]
    for path in below:
        _copy_file(path, os.path.join(target, os.path.relpath(path, source)), target)


def _copy_file(source: str, target: str, top: str) -> None:
    folder = os.path.realpath(os.path.dirname(target))
    if not is_inside(target, top):
        # By `..`, or by a link that a session has put there.
        raise RalphError(
            f"{source} cannot be copied into a private checkout: it would land in {folder}",
            hint="fix [workspace] include",
        )
    try:
        # Not a pipe, which may never be written to.
        is_plain = stat.S_IFMT(os.lstat(source).st_mode) in (stat.S_IFREG, stat.S_IFLNK)
        if is_plain and not os.path.lexists(target):
            os.makedirs(folder, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    except OSError as error:
        raise RalphError(
            f"cannot copy {source} into a private checkout: {error.strerror}"
        ) from error


def is_inside(path: str, top: str) -> bool:
    """Would a file of that name be in the folder, wherever links lead?"""
    folder, top = os.path.realpath(os.path.dirname(path)), os.path.realpath(top)
    return os.path.commonpath([folder, top]) == top
