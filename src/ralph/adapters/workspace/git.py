"""git as a subprocess: predictable, without hooks, and with errors a person can act on.

Git runs whatever its configuration, hooks and attributes name. In a tree that an agent wrote it
therefore belongs inside the sandbox: pass a `CommandRunner` that runs it there. Nothing in this
folder starts a process in another way."""

import math
import os
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Final, TypeVar

from ralph.adapters.workspace import locks
from ralph.core import errors
from ralph.core.process_exit import is_temporary, signal_of_exit_code
from ralph.core.safe_text import one_line
from ralph.core.session_environment import GIT_CEILING, with_git_ceiling
from ralph.git_layout import find_layout, find_unreadable
from ralph.ports.executor import Command, CommandOutput, CommandRunner

SETTINGS: Final = (
    "core.fsmonitor=false",  # would run a program of the checkout's choice
    "core.hooksPath=/dev/null",  # a hook that waits for a person would hang the night's run
    "core.quotepath=off",
    "core.safecrlf=false",  # "true" would make a file with odd line endings impossible to keep
    "core.splitIndex=false",  # our copies of the index must stand alone
    "core.fsync=objects,reference,index",  # an empty file would stop every later git
    "core.fsyncMethod=fsync",
    "gc.auto=0",  # private checkouts borrow objects from here
    "maintenance.auto=false",
    "commit.gpgsign=false",  # no person is there to type a passphrase
    "i18n.commitEncoding=UTF-8",
    "protocol.file.allow=always",  # private checkouts are fetched by their path
    "submodule.recurse=false",  # would read `.gitmodules`, as an agent wrote it
)

KEPT: Final = (
    *("GIT_CONFIG_", "GIT_EXEC_PATH", GIT_CEILING, "GIT_DISCOVERY_ACROSS_FILESYSTEM"),
    *("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"),
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
LOOK_AFTER_S: Final = (3.0, 30.0, 120.0)
"""When Ralph looks for a reason why git takes so long."""

TIMED_OUT: Final = 124
"""As timeout(1) has it, and `CommandRunner` reports it."""
NOT_STARTED: Final = 71
"""As sysexits has it, for a program that could not be started for want of memory or processes."""

UNREAD: Final = "--ignore-submodules=none"
"""For commands that compare: who says it reads no `.gitmodules`, in which anything may be."""

ANY: Final = (0, 1, 128)
"""Whatever git answers, if it answers at all."""

UNWRITTEN: Final = (
    *("couldn't set '", "couldn't write '", "failed to refresh the index"),
    *("nable to write new index file", "ould not write new index file"),
)
"""What git says when the disk refuses to write, without the reason. What git reads it always names
with the reason, also where it goes on."""

PAUSES_S: Final = (0.1, 1.0, 4.0)
"""Before a git that died is tried again."""

LOCKS: Final = 10
"""So many locks may be in the way of one command, one after the other."""

T = TypeVar("T")


class Git:
    """Commands in one checkout."""

    def __init__(
        self,
        executor: CommandRunner,
        top: str,
        *,
        env: Mapping[str, str] | None = None,
        is_top: bool = True,
        is_private: bool = False,
    ) -> None:
        """Where `top` is the top of a checkout whose repository disappears, git must not find the
        one around it: a private checkout lies in the user's. Nor may a session lead git there by
        a link, so in a private checkout each command checks that the repository is its own."""
        self.top = top
        self.unseen: frozenset[str] = frozenset()
        """Files that Ralph itself writes while it runs, from the top: they are no work."""
        self.executor = executor
        self._env = dict(clean_environment() if env is None else env)
        above = os.path.dirname(os.path.realpath(top))
        self._bounded = with_git_ceiling(self._env, above) if is_top else self._env
        self._is_private = is_private

    def with_env(self, **more: str) -> "Git":
        """The same checkout with more in the environment: another index, an identity."""
        env = {**self._env, **more}
        return Git(self.executor, self.top, env=env, is_private=self._is_private)

    def at(self, top: str) -> "Git":
        """Another checkout of the same repository."""
        return Git(self.executor, top, env=self._env)

    def ask(
        self, *args: str, stdin: bytes = b"", ok: Collection[int] = (0,), once: bool = False
    ) -> CommandOutput:
        """Run it, and return an answer: one of the exit codes that are `ok`.

        A git that is killed, out of time or memory, or that cannot read something and goes on
        without it, gives no answer. It is tried again, with pauses; TemporaryFailure if that does
        not help. `once` is for commands that change files of a checkout: after one of those has
        died, its caller has to look at what it left. What else is no success counts as soon as git
        has said the same twice: an error, and an answer such as "there is no such ref", which git
        gives without a word where it cannot read it as well.
        """
        self.check_repository()
        # The clock that dates files lags behind a little.
        began, deaths, refused, denied, locked = time.time() - 0.1, 0, once, once, 0
        while True:
            got = _capture(self.executor, args, self.top, self._bounded, stdin)
            if got.code == 0 and (once or not is_temporary(_stderr(got))):
                return got
            if why := _failure(got):
                # It leaves its locks, which no process holds.
                self._clear_locks(began)
                if once or deaths == len(PAUSES_S) or got.code == TIMED_OUT:
                    _refuse_unreadable(self.top)
                    raise _failed(args, self.top, why)
                self.executor.wait(why, PAUSES_S[deaths], lambda: False)
                deaths += 1
            elif (path := _lock_in(got.stderr, self.top)) and locked < LOCKS:
                locks.release(path, self.executor, since=began if deaths else math.inf)
                locked += 1
            elif b"lock" in got.stderr and locked < LOCKS and self._clear_locks(math.inf):
                locked += 1
            elif got.code in ok and not denied:
                denied = True
            elif got.code in ok:
                return got
            elif refused:
                raise git_error(args, got, self.top)
            else:
                refused = True

    def check_repository(self) -> None:
        """UnusableData if a private checkout has lost its repository."""
        git_dir = os.path.join(self.top, ".git")
        if self._is_private and (os.path.islink(git_dir) or not os.path.isdir(git_dir)):
            raise errors.UnusableData(f"{self.top} has no repository of its own any more")

    def _clear_locks(self, since: float) -> list[str]:
        try:
            places = dict.fromkeys(find_layout(self.top))
        except errors.UnusableData:
            return []
        return [aside for place in places for aside in locks.clear_locks(place, since)]

    def run(self, *args: str, stdin: bytes = b"", once: bool = False) -> bytes:
        """Run it; anything but success is an error."""
        return self.ask(*args, stdin=stdin, once=once).stdout

    def refs(self, *args: str, ok: Collection[int] = (0,)) -> list[str]:
        """The lines of a list of refs, each with the name at its end. git leaves out what it cannot
        read without a word, so a list counts when another one has named no other refs. Where they
        are may differ: people and workers commit meanwhile."""

        def read() -> list[str]:
            return text(self.ask(*args, ok=ok).stdout).splitlines()

        seen: list[set[str]] = []
        while True:
            lines = read()
            names = {line.rpartition(" ")[2] for line in lines}
            if any(earlier <= names for earlier in seen):
                return lines
            if len(seen) > len(PAUSES_S):
                raise _failed(args, self.top, "named other refs each time")
            seen.append(names)

    def word(self, *args: str, stdin: bytes = b"") -> str:
        """Run what answers with one name."""
        return text(self.run(*args, stdin=stdin)).removesuffix("\n")

    def names(self, *args: str, stdin: bytes = b"") -> list[str]:
        """Run what lists names, with a NUL after each."""
        return list(filter(None, text(self.run(*args, stdin=stdin)).split("\0")))

    @cached_property
    def git_dir(self) -> str:
        """Where this checkout's own index and HEAD live (a linked worktree has its own)."""
        return find_layout(self.top).git_dir

    @cached_property
    def empty_tree(self) -> str:
        """Asked for, since its name depends on the repository's hash."""
        return self.word("hash-object", "-t", "tree", "--stdin")


def try_again(act: Callable[[], T], error: type[errors.RalphError], times: int) -> T:
    """Do something, and do it again where it fails with that error, so many times in all."""
    for _ in range(times - 1):
        with suppress(error):
            return act()
    return act()


def find_top(executor: CommandRunner, path: str) -> str:
    return Git(executor, path, is_top=False).word("rev-parse", "--show-toplevel")


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
    executor: CommandRunner, args: Sequence[str], cwd: str, env: Mapping[str, str], stdin: bytes
) -> CommandOutput:
    options = [part for setting in SETTINGS for part in ("-c", setting)]
    # git speaks UTF-8 whatever the locale does, which may know no such letters at all.
    args = [os.fsdecode(raw(arg)) for arg in args]
    try:
        argv = ("git", "--no-pager", "--literal-pathspecs", *options, *args)
        command = Command(argv=argv, cwd=cwd, env=env, stdin=stdin)
        return executor.capture(command, timeout_s=PATIENCE_S, tick=_when_slow(cwd))
    except (FileNotFoundError, errors.Unavailable) as error:
        if is_temporary(str(error)):
            return CommandOutput(code=NOT_STARTED, stdout=b"", stderr=str(error).encode())
        if not os.path.isdir(cwd):
            raise errors.Missing(f"there is no directory {one_line(cwd)}") from error
        # What is missing may also be the sandbox that git was to run in.
        is_missing = getattr(error.__cause__ or error, "filename", "") == "git"
        raise errors.Unavailable(
            f"git cannot be started: {one_line(str(error))}",
            hint="install git and make sure it is on the PATH" if is_missing else "ralph doctor",
        ) from error


def _when_slow(cwd: str) -> Callable[[], bool]:
    """Return what ends a git that waits without end for something that is no file."""
    began, moments = time.monotonic(), list(LOOK_AFTER_S)

    def look() -> bool:
        if moments and time.monotonic() - began > moments[0]:
            moments.pop(0)
            _refuse_unreadable(cwd)
        return False

    return look


def _refuse_unreadable(folder: str) -> None:
    if found := find_unreadable(folder, is_waited_for=True):
        raise errors.UnusableData(found, hint="remove it, or restore the file that was there")


def git_error(args: Sequence[str], got: CommandOutput, where: str) -> errors.RalphError:
    """What git complained about, in one line, with a way out where there is one."""
    said = got.stderr.decode("utf-8", "replace")
    line = _main_line(said)
    where = one_line(where)
    if "not a git repository" in said:
        return errors.Missing(f"{where} is not in a git repository", hint="git init")
    if "must be run in a work tree" in said:
        return errors.UnusableData(f"{where} is a bare repository: there are no files to work on")
    if "dubious ownership" in said:
        return errors.UnusableData(
            f"the repository in {where} belongs to another user, so git refuses to use it",
            hint=f"git config --global --add safe.directory {where}",
        )
    if "bad config" in said:
        hint = "correct the file, or restore it"
        return errors.UnusableData(f"git cannot read its settings in {where}: {line}", hint=hint)
    if "unable to index file" in said or ("open(" in said and "Permission denied" in said):
        return errors.UnusableData(
            f"a file in {where} cannot be read: {line}", hint="make it readable, or ignore it"
        )
    if any(sign in said for sign in (*_NOT_WRITABLE, *_NO_SPACE)):
        is_full = any(sign in said for sign in _NO_SPACE)
        hint = "free some space" if is_full else "look at its permissions, and at the disk"
        return errors.CannotWrite(f"git cannot write in {where}: {line}", hint=hint)
    # git has said it twice, and means it.
    why = line or f"exit code {got.code}"
    return errors.UnusableData(f"git {args[0]} failed in {where}: {why}", hint="git fsck")


_NOT_WRITABLE: Final = ("Read-only file system", "Permission denied", "insufficient permission")
_NO_SPACE: Final = ("No space left on device", "Out of diskspace", "Disk quota exceeded")


def _failure(got: CommandOutput) -> str:
    """Why git gave no answer; empty if it gave one."""
    if signal := signal_of_exit_code(got.code):
        return f"was killed by signal {signal}"
    if got.code == TIMED_OUT:
        return "did not end in time"
    said = _stderr(got)
    has_failed = is_temporary(said) or any(sign in said for sign in UNWRITTEN)
    return f"failed: {_main_line(said)}" if has_failed else ""


def _stderr(got: CommandOutput) -> str:
    return got.stderr.decode("utf-8", "replace")


def _failed(args: Sequence[str], where: str, why: str) -> errors.TemporaryFailure:
    name = next((arg for arg in args if not arg.startswith("-") and "=" not in arg), "")
    return errors.TemporaryFailure(
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
