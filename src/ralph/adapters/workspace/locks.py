"""Locks of git, of a checkout and of folders: who holds them, and which are stale."""

import math
import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final, NamedTuple

from ralph.core.errors import Busy, UnusableData
from ralph.core.safe_text import one_line
from ralph.files import open_lock, or_cannot_write, try_lock, walk
from ralph.git_layout import find_layout, top_of
from ralph.ports.executor import CommandRunner


def is_held(path: str) -> bool:
    """Is a folder locked by a process that lives?"""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not try_lock(handle)
    finally:
        os.close(handle)


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
        hint = "Ralph needs to write its state; is the checkout read-only?"
        with or_cannot_write(f"write {self.path}", hint):
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            self.fd = open_lock(self.path)
        if not try_lock(self.fd):
            holder = os.read(self.fd, 200).decode("utf-8", "replace").strip()
            os.close(self.fd)
            raise Busy(
                f"another run is at work in this checkout ({holder or 'just starting'})",
                hint="`ralph status` shows it, `ralph stop` ends it",
            )
        if (found := os.fstat(self.fd)).st_size:
            self.died_since = found.st_mtime
        os.ftruncate(self.fd, 0)
        os.write(self.fd, f"run {self.run}, pid {os.getpid()}\n".encode())
        return self

    def __exit__(self, *_: object) -> None:
        """Give it back, and say by an empty file that we have come to the end."""
        os.ftruncate(self.fd, 0)
        os.close(self.fd)


MARK: Final = b"held by ralph\n"
"""In the locks that Ralph makes itself, and keeps open as long as it holds them."""
YOUNG_S: Final = 2.0
"""Other tools than git hold a lock for milliseconds."""
UNSEEN_S: Final = 10.0
"""The same where a holder may be out of sight: outside of the container in which we are."""
PATIENCE_S: Final = 60.0
"""How long a live holder is waited for. `git commit` holds the index while its editor is open."""
WHOLE_MACHINE: Final = "pid:[4026531836]"
"""Linux gives this number to the first namespace of processes, from which all can be seen."""
DRAFT: Final = "packed-refs.new"
"""git writes it while it holds packed-refs.lock, and refuses to do that where it is already."""
READERS: Final = frozenset(
    {
        *("annotate", "blame", "branch", "cat-file", "config", "credential-cache--daemon"),
        *("daemon", "diff", "difftool", "fsck", "fsmonitor--daemon", "grep", "help", "instaweb"),
        *("log", "ls-files", "ls-tree", "range-diff", "reflog", "rev-list", "shortlog", "show"),
        *("stash", "tag", "upload-pack", "whatchanged"),
    }
)
"""Commands that can be there for long, in a pager or as a daemon, and never hold a lock without
having it open."""
LONGEST: Final = 200
"""Bytes that are kept of a lock's name."""
OPTIONS_WITH_VALUE: Final = ("-c", "-C", "--git-dir", "--work-tree", "--namespace")
LOCKED: Final = frozenset(
    {"info", "logs", "modules", "objects", "ralph", "rebase-merge", "refs", "reftable", "sequencer"}
    | {"worktrees"}
)
"""Folders of a git directory in which locks are. The name of a submodule may have slashes in it."""
OWN: Final = "ralph"
"""Ralph's own folder in a git directory. Most of what is called a lock there is none of git's."""


class GitLock(NamedTuple):
    path: str
    age_s: float
    holder: str
    """The live process that holds it, in words; empty if none can be seen."""
    left_s: float
    """How much older it has to be, if no process holds it, to be stale."""

    @property
    def is_stale(self) -> bool:
        return not self.holder and self.left_s <= 0


def find_locks(git_dir: str) -> Iterator[str]:
    """All of a repository, with those of its linked worktrees and its submodules."""
    repositories: set[str] = set()
    for at, folders, names in walk(git_dir):
        above, name = os.path.split(at)
        if "HEAD" in names and ("objects" in folders or "commondir" in names):
            repositories.add(at)
            folders[:] = [folder for folder in folders if folder in LOCKED]
        elif above in repositories and name == "objects":
            folders[:] = [folder for folder in folders if folder in ("pack", "info")]
        elif above in repositories and name == OWN:
            # Of our own copies of the index.
            folders.clear()
            names[:] = [name for name in names if name.startswith("index-")]
        yield from (os.path.join(at, name) for name in names if name.endswith((".lock", DRAFT)))


def inspect_lock(path: str, since: float = math.inf) -> GitLock | None:
    """What is known of a lock, None if there is none. Processes of ours made those that are not
    older than `since`, and are dead."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    # Unlike the other time, a program cannot set this one. A clock may have been set back.
    age = abs(time.time() - found.st_ctime)
    holder = _holder(path, found)
    is_ours = found.st_ctime >= since or _is_marked(path, found)
    enough = 0.0 if is_ours else YOUNG_S if _sees_all() else UNSEEN_S
    return GitLock(path, age, holder, enough - age)


def clear_locks(git_dir: str, since: float = math.inf) -> list[str]:
    """Move the stale locks of a repository aside; return where they are now."""
    found = (inspect_lock(path, since) for path in find_locks(git_dir))
    return [_move_aside(lock.path) for lock in found if lock is not None and lock.is_stale]


def release(
    path: str, executor: CommandRunner, *, since: float = math.inf, waits: bool = True
) -> None:
    """Get a lock out of the way: wait while a process holds it, and move it aside if it is stale.
    Busy if it is held for too long, or at once unless it `waits` for a live holder."""

    def is_free() -> bool:
        now = inspect_lock(path, since)
        return now is None or now.is_stale

    lock = inspect_lock(path, since)
    if lock is not None and not lock.is_stale and (waits or not lock.holder):
        why = f"{lock.holder or 'another git command'} holds {one_line(path)}"
        executor.wait(why, PATIENCE_S if lock.holder else lock.left_s + 0.1, is_free)
        lock = inspect_lock(path, since)
    if lock is not None and not lock.is_stale:
        raise lock_error(lock)
    if lock is not None:
        _move_aside(path)


def lock_error(lock: GitLock) -> Busy:
    if lock.holder:
        said = f"{lock.holder} is at work: it holds {one_line(lock.path)}"
        return Busy(said, hint="let it end, or end it; `ralph doctor` shows every lock")
    return Busy(
        f"another git command may be at work: {one_line(lock.path)} is {lock.age_s:.0f} s old",
        hint="run it again in a moment",
    )


def _move_aside(path: str) -> str:
    """Nothing is deleted: what a dead git had written is still there to be looked at."""
    git_dir = _git_dir_of(path)
    folder = os.path.join(git_dir, OWN)
    name = os.path.relpath(path, git_dir).removeprefix(f"{OWN}/").replace(os.sep, "-")
    # A name may have 255 bytes; that of a ref, and the folders around it, many more.
    end = os.fsdecode(os.fsencode(name)[-LONGEST:])
    aside = os.path.join(folder, f"{end}-{time.time_ns()}")
    with or_cannot_write(f"move {path} aside"):
        os.makedirs(folder, exist_ok=True)
        try:
            os.rename(path, aside)
        except FileNotFoundError:
            return path  # its holder, or another run, was quicker
    return aside


def _git_dir_of(path: str) -> str:
    """The git directory around a lock; the folder of the lock where there is none."""
    folder = os.path.dirname(path)
    while not os.path.lexists(os.path.join(folder, "HEAD")):
        if folder == os.path.dirname(folder):
            return os.path.dirname(path)
        folder = os.path.dirname(folder)
    return folder


def _is_marked(path: str, found: os.stat_result) -> bool:
    if found.st_size != len(MARK):
        return False
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    with os.fdopen(handle, "rb") as file:
        return file.read(len(MARK)) == MARK


def _sees_all() -> bool:
    if not sys.platform.startswith("linux"):
        return True
    try:
        return os.readlink("/proc/self/ns/pid") == WHOLE_MACHINE
    except OSError:
        return False


def _holder(path: str, lock: os.stat_result) -> str:
    """A live process that has the lock open, or a git that works in its repository: git closes the
    index's lock, and holds it, while an editor is open."""
    import psutil  # type: ignore[import-untyped]

    real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    for process in psutil.process_iter():
        try:
            is_git = process.name().startswith("git") and _could_hold(process, lock)
            try:
                opened = [file.path for file in process.open_files()]
                holds = real in opened or (is_git and _works_at(process, _git_dir_of(real)))
            except psutil.AccessDenied:
                # Who makes a file owns it.
                holds = is_git and process.uids().effective == lock.st_uid
            if holds and process.status() != psutil.STATUS_ZOMBIE:
                command = " ".join(process.cmdline()) or process.name()
                return f"process {process.pid} ({one_line(command, 60)})"
        except (psutil.Error, OSError):
            continue  # it has ended
    return ""


def _could_hold(process: Any, lock: os.stat_result) -> bool:
    """Could this git have made the lock, and closed it? Its start is known to the second."""
    words = iter(process.cmdline()[1:])
    for word in words:
        if word in OPTIONS_WITH_VALUE:
            next(words, "")
        elif not word.startswith("-"):
            break
    else:
        word = ""
    return word not in READERS and bool(process.create_time() <= lock.st_ctime + YOUNG_S)


def _works_at(process: Any, git_dir: str) -> bool:
    folder = os.path.realpath(process.cwd())
    places = [folder] if f"{folder}/".startswith(f"{git_dir}/") else []
    top = top_of(folder)
    with suppress(UnusableData):
        places += find_layout(top) if top is not None else ()
    words = (*process.cmdline(), process.environ().get("GIT_DIR", ""))
    return any(f"{git_dir}/".startswith(f"{place}/") for place in places) or any(
        git_dir in word for word in words
    )
