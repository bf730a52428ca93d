"""git as a subprocess: predictable, without hooks, and with errors a person can act on.

Git runs whatever its configuration, hooks and attributes name. In a tree that an agent wrote it
therefore belongs inside the wall: hand in a `Captures` that puts it there. Nothing in this folder
starts a process in another way.
"""

import math
import os
import re
import time
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Final

from ralph.adapters.workspace import locks
from ralph.adapters.workspace.layout import layout
from ralph.core.errors import (
    CannotWrite,
    Missing,
    RalphError,
    TemporaryFailure,
    Unavailable,
    UnusableData,
)
from ralph.core.safe_text import one_line
from ralph.core.temporary import is_temporary, killed_by
from ralph.ports.executor import Captured, Captures

SETTINGS: Final = (
    "core.fsmonitor=false",  # would run a program of the checkout's choice
    "core.hooksPath=/dev/null",  # a hook that waits for a person would hang the night's run
    "core.quotepath=off",
    "core.safecrlf=false",  # "true" would make a file with odd line endings impossible to keep
    "core.splitIndex=false",  # our copies of the index must stand alone
    "core.fsync=objects,reference",  # an empty file in their place would stop every later git
    "core.fsyncMethod=fsync",
    "gc.auto=0",  # private checkouts borrow objects from here
    "maintenance.auto=false",
    "commit.gpgsign=false",  # nobody is there to type a passphrase
    "i18n.commitEncoding=UTF-8",
    "protocol.file.allow=always",  # private checkouts are fetched by their path
    "submodule.recurse=false",  # would read `.gitmodules`, as an agent wrote it
)

KEPT: Final = (
    "GIT_CONFIG_",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_EXEC_PATH",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
)
"""What a person sets on purpose. Ralph started by a hook inherits GIT_DIR and GIT_INDEX_FILE as
well: with those every command would silently work on another repository."""

FIXED: Final = {
    "LC_ALL": "C",
    "LANGUAGE": "",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "false",
}

PATIENCE_S: Final = 600.0
"""A checkout of a large repository on a slow disk takes minutes; a hang takes for ever."""

TIMED_OUT: Final = 124
"""As timeout(1) has it, and `Captures` reports it."""
NOT_STARTED: Final = 71
"""As sysexits has it, for a program that could not be started for want of memory or processes."""

UNREAD: Final = "--ignore-submodules=none"
"""For commands that compare: who says it reads no `.gitmodules`, in which anything may be."""

ANY: Final = (0, 1, 128)
"""Whatever git answers, if it answers at all."""

PAUSES_S: Final = (0.1, 1.0, 4.0)
"""Before a git that died is tried again."""

LOCKS: Final = 10
"""So many locks may be in the way of one command, one after the other."""


class Git:
    """Commands in one checkout."""

    def __init__(
        self, executor: Captures, top: str, *, env: Mapping[str, str] | None = None
    ) -> None:
        self.top = top
        self.unseen: frozenset[str] = frozenset()
        """Files that Ralph itself writes while it runs, from the top: nobody's work."""
        self._executor = executor
        self._env = dict(clean_environment() if env is None else env)

    def with_env(self, **more: str) -> "Git":
        """The same checkout with more in the environment: another index, an identity."""
        return Git(self._executor, self.top, env={**self._env, **more})

    def at(self, top: str) -> "Git":
        """Another checkout of the same repository."""
        return Git(self._executor, top, env=self._env)

    def ask(
        self, *args: str, stdin: bytes = b"", ok: Collection[int] = (0,), once: bool = False
    ) -> Captured:
        """Run it, and return an answer: one of the exit codes that are `ok`.

        A git that is killed, out of time or out of memory gives no answer. It is tried again, with
        pauses; TemporaryFailure if that does not help. `once` is for commands that change files of
        a checkout: after one of those has died, its caller has to look at what it left. Any other
        exit code is an error as soon as git has said the same twice.
        """
        # The clock that dates files lags behind a little.
        began, deaths, refused, locked = time.time() - 0.1, 0, once, 0
        while True:
            got = _capture(self._executor, args, self.top, self._env, stdin)
            if got.code == 0:
                return got
            if why := _death(got):
                # It leaves its locks, and nobody holds them.
                self._clear_locks(began)
                if once or deaths == len(PAUSES_S) or got.code == TIMED_OUT:
                    raise _died(args, self.top, why)
                self._executor.wait(why, PAUSES_S[deaths], lambda: False)
                deaths += 1
            elif (path := _lock_in(got.stderr, self.top)) and locked < LOCKS:
                locks.release(path, self._executor, since=began if deaths else math.inf)
                locked += 1
            elif b"lock" in got.stderr and locked < LOCKS and self._clear_locks(math.inf):
                locked += 1
            elif got.code in ok:
                return got
            elif refused:
                raise git_error(args, got, self.top)
            else:
                refused = True

    def release(self, lock: str, *, waits: bool) -> None:
        """Get a lock out of the way; Busy if somebody holds it."""
        locks.release(lock, self._executor, waits=waits)

    def _clear_locks(self, since: float) -> list[str]:
        try:
            places = dict.fromkeys(layout(self.top))
        except UnusableData:
            return []
        return [aside for place in places for aside in locks.clear_locks(place, since)]

    def run(self, *args: str, stdin: bytes = b"", once: bool = False) -> bytes:
        """Run it; anything but success is an error."""
        return self.ask(*args, stdin=stdin, once=once).stdout

    def word(self, *args: str, stdin: bytes = b"") -> str:
        """Run what answers with one name."""
        return text(self.run(*args, stdin=stdin)).removesuffix("\n")

    @cached_property
    def git_dir(self) -> str:
        """Where this checkout's own index and HEAD live (a linked worktree has its own)."""
        return self.word("rev-parse", "--absolute-git-dir")

    @cached_property
    def empty_tree(self) -> str:
        """Asked for, since its name depends on the repository's hash."""
        return self.word("hash-object", "-t", "tree", "--stdin")


def find_top(executor: Captures, path: str) -> str:
    """The top directory of the checkout around `path`."""
    return Git(executor, path).word("rev-parse", "--show-toplevel")


def clean_environment() -> dict[str, str]:
    """Our own environment less what would point git elsewhere."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(KEPT)
    }
    # Left behind by `git -c` around us, it could bring back what SETTINGS switch off.
    kept.pop("GIT_CONFIG_PARAMETERS", None)
    return {**kept, **FIXED}


def text(name: bytes) -> str:
    """A path as Python names it: bytes that are not UTF-8 survive the way there and back."""
    return name.decode("utf-8", "surrogateescape")


def raw(path: str) -> bytes:
    """A path as git names it."""
    return path.encode("utf-8", "surrogateescape")


def _capture(
    executor: Captures, args: Sequence[str], cwd: str, env: Mapping[str, str], stdin: bytes
) -> Captured:
    options = [part for setting in SETTINGS for part in ("-c", setting)]
    # git speaks UTF-8 whatever the locale does, which may know no such letters at all.
    args = [os.fsdecode(raw(arg)) for arg in args]
    try:
        return executor.capture(
            ("git", "--no-pager", "--literal-pathspecs", *options, *args),
            cwd=cwd,
            env=env,
            stdin=stdin,
            timeout_s=PATIENCE_S,
        )
    except (FileNotFoundError, Unavailable) as error:
        if is_temporary(str(error)):
            return Captured(code=NOT_STARTED, stdout=b"", stderr=str(error).encode())
        if not os.path.isdir(cwd):
            raise Missing(f"there is no directory {one_line(cwd)}") from error
        raise Unavailable(
            f"git cannot be started: {one_line(str(error))}",
            hint="install git and make sure it is on the PATH",
        ) from error


def git_error(args: Sequence[str], got: Captured, where: str) -> RalphError:
    """What git complained about, in one line, with a way out where there is one."""
    said = got.stderr.decode("utf-8", "replace")
    line = _main_line(said)
    where = one_line(where)
    if "not a git repository" in said:
        return Missing(f"{where} is not in a git repository", hint="git init")
    if "must be run in a work tree" in said:
        return UnusableData(f"{where} is a bare repository: there are no files to work on")
    if "dubious ownership" in said:
        return UnusableData(
            f"the repository in {where} belongs to another user, so git refuses to use it",
            hint=f"git config --global --add safe.directory {where}",
        )
    if any(sign in said for sign in _DAMAGED):
        return UnusableData(f"git cannot read what it needs in {where}: {line}", hint="git fsck")
    if "unable to index file" in said or ("open(" in said and "Permission denied" in said):
        return UnusableData(
            f"a file in {where} cannot be read: {line}", hint="make it readable, or ignore it"
        )
    if any(sign in said for sign in _NOT_WRITABLE):
        return CannotWrite(
            f"git cannot write in {where}: {line}", hint="look at its permissions, and at the disk"
        )
    return RalphError(f"git {args[0]} failed in {where}: {line or f'exit code {got.code}'}")


_NOT_WRITABLE: Final = (
    "Read-only file system",
    "Permission denied",
    "insufficient permission",
    "No space left on device",
    "Out of diskspace",
    "Disk quota exceeded",
)


_DAMAGED: Final = (
    "bad object",
    "not a tree object",
    "unable to read tree",
    "unable to read sha1 file",
    "unable to unpack",
    "is corrupt",
    "index file corrupt",
    "bad signature",
    "missing blob",
    "broken link",
)


def _death(got: Captured) -> str:
    """Why git gave no answer; empty if it gave one."""
    if signal := killed_by(got.code):
        return f"was killed by signal {signal}"
    said = got.stderr.decode("utf-8", "replace")
    if got.code == TIMED_OUT:
        return "did not end in time"
    return f"failed: {_main_line(said)}" if is_temporary(said) else ""


def _died(args: Sequence[str], where: str, why: str) -> TemporaryFailure:
    name = next((arg for arg in args if not arg.startswith("-") and "=" not in arg), "")
    return TemporaryFailure(
        f"git {name} {why} in {one_line(where)}",
        hint="see to memory and processes; `ralph run` goes on where it was",
    )


_LOCKED: Final = (
    re.compile(r"Unable to create '(.+\.lock)': File exists"),
    re.compile(r"unable to create file (.+/packed-refs\.new): File exists"),
    re.compile(r"(?m)could not lock config file (.+): File exists$"),
)


def _lock_in(stderr: bytes, where: str) -> str:
    """The lock that git complains about, by its path; empty if it complains about none."""
    said = text(stderr)
    for form in _LOCKED:
        if found := form.search(said):
            path = os.path.join(where, found[1])
            return path if path.endswith((".lock", locks.DRAFT)) else f"{path}.lock"
    return ""


def _main_line(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()]
    for mark in ("error: ", "fatal: "):
        for line in lines:
            if line.startswith(mark):
                return one_line(line.removeprefix(mark), 300)
    return one_line(lines[-1], 300) if lines else ""
