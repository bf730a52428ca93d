"""The private checkouts in one folder: those of tasks, which any process finds again, and those
that are deleted after use, for sessions that may not change anything."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import Final

import msgspec

from ralph.adapters.workspace.checkout_setup import CheckoutSetup, copy_into, is_inside
from ralph.adapters.workspace.locks import is_held
from ralph.adapters.workspace.private_checkout import (
    PrivateCheckout,
    create_private_checkout,
    new_directory,
    pin_ref,
    remove_private_checkout,
)
from ralph.adapters.workspace.rebase import CheckoutRebase
from ralph.adapters.workspace.uncommitted_files import literal_pattern
from ralph.adapters.workspace.user_checkout import UserCheckout
from ralph.core.errors import (
    Busy,
    CannotWrite,
    RalphError,
    TemporaryFailure,
    Unavailable,
    UnusableData,
)
from ralph.core.ids import TaskId
from ralph.core.safe_text import one_line
from ralph.core.snapshot import Snapshot
from ralph.files import (
    create_regular,
    lock_folder,
    names_in,
    or_cannot_write,
    remove_tree,
    sync_all,
    walk,
)
from ralph.ports.workspace import Workspace

READY: Final = ".ready"
MACHINE_FAILURES: Final = (TemporaryFailure, Busy, CannotWrite, Unavailable)
"""They say nothing about a checkout."""
BROKEN: Final = "broken-"
"""A checkout without a usable repository, put aside with all its files."""
PREFIX: Final = "throw-away-"
"""Tells temporary checkouts from those of tasks."""


class CheckoutKind(StrEnum):
    """What a folder is there for."""

    TASK = "task"
    """A task's own checkout."""
    LOOK = "look"
    """For one who looks at work; gone afterwards."""
    BROKEN = "broken"
    """Put aside, since a session has broken its repository; its files are saved nowhere else."""
    UNFINISHED = "unfinished"
    """Being made or removed, or left over from that."""


class FoundCheckout(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    kind: CheckoutKind
    path: str
    since_s: float
    """When it was made, in seconds since the epoch."""
    in_use: bool

    @property
    def size_bytes(self) -> int:
        """What it takes on disk, borrowed objects aside."""
        total = 0
        for folder, folders, names in walk(self.path):
            for name in (*folders, *names):
                with suppress(OSError):
                    total += os.lstat(os.path.join(folder, name)).st_blocks * 512
        return total


def list_checkouts(folder: str) -> list[FoundCheckout]:
    names = {*names_in(folder)}
    found = []
    for name in sorted(names):
        path = os.path.join(folder, name)
        # The process that works there may remove it at any moment.
        with suppress(FileNotFoundError, NotADirectoryError):
            if os.path.isdir(path) and not os.path.islink(path):
                found.append(_found(path, name, is_ready=f"{name}{READY}" in names))
    return found


def _found(path: str, name: str, *, is_ready: bool) -> FoundCheckout:
    if name.startswith(PREFIX):
        kind = CheckoutKind.LOOK
    elif name.startswith(BROKEN):
        kind = CheckoutKind.BROKEN
    else:
        kind = CheckoutKind.TASK if is_ready else CheckoutKind.UNFINISHED
    return FoundCheckout(
        name=name,
        kind=kind,
        path=path,
        since_s=os.stat(path + READY if kind is CheckoutKind.TASK else path).st_mtime,
        in_use=is_held(path),
    )


class TaskCheckouts:
    def __init__(self, source: UserCheckout, folder: str) -> None:
        self._source = source
        self._folder = folder
        self._opened: dict[TaskId, PrivateCheckout] = {}

    def is_open(self, task: TaskId) -> bool:
        """Is it there, all of it?"""
        return os.path.exists(self._mark(task)) and os.path.isdir(self.top(task))

    def opened(self) -> tuple[TaskId, ...]:
        found = list_checkouts(self._folder)
        return tuple(TaskId(one.name) for one in found if one.kind is CheckoutKind.TASK)

    def find(self, task: TaskId) -> PrivateCheckout | None:
        """The one that is there and can be used."""
        if not self.is_open(task):
            return None
        try:
            checkout = self.checkout(task)
            checkout.git.run("rev-parse", "--git-dir")
            return checkout
        except MACHINE_FAILURES:
            raise
        except RalphError:
            self._put_aside(task)
            return None

    def put_aside_broken(self, task: TaskId) -> bool:
        """Put a checkout aside in which git cannot work; return whether no usable one is left."""
        self._opened.pop(task, None)
        checkout = self.find(task)
        if checkout is None:
            return True
        try:
            checkout.snapshot()
            begun = self._source.objects.read_ref(pin_ref(task))
            known = (f"^{begun}",) if begun else ()
            checkout.git.run("rev-list", "--quiet", "--objects", "HEAD", *known)
        except MACHINE_FAILURES:
            return False
        except RalphError:
            self._put_aside(task)
            return True
        return False

    def make(self, task: TaskId, commit: str, preparation: CheckoutSetup) -> PrivateCheckout:
        top = self.top(task)
        self._unmark(task)
        remove_tree(top)  # one that a killed Ralph was making or removing
        with or_cannot_write(f"write in {self._folder}"):
            os.makedirs(top)
        with lock_folder(top):
            prepare = preparation.prepare_for_all
            checkout = create_private_checkout(self._source, commit, top, task, prepare)
            # A session would commit files that a power cut has emptied.
            sync_all(top)
            with open(self._mark(task), "xb"):
                pass
        self._opened[task] = checkout
        return checkout

    def close(self, task: TaskId) -> None:
        """Remove it, with its work saved."""
        checkout = self.find(task)
        if checkout is None:
            return
        self.rebasing(task).recover()
        checkout.keep()
        self._unmark(task)
        checkout.discard()
        self._opened.pop(task, None)

    def checkout(self, task: TaskId) -> PrivateCheckout:
        """The one that is there; UnusableData if it has lost its repository."""
        if task not in self._opened:
            self._opened[task] = PrivateCheckout(self._source, self.top(task), task)
        return self._opened[task]

    def rebasing(self, task: TaskId) -> CheckoutRebase:
        return CheckoutRebase(self.checkout(task), task)

    def top(self, task: str) -> str:
        # From a database that was changed by hand, it could lead to a person's folder.
        if os.path.basename(task) != task or task in ("", ".", ".."):
            raise UnusableData(f"{one_line(task, 60)!r} cannot be the id of a task")
        return os.path.join(self._folder, task)

    def remove_leftovers(self) -> None:
        """Remove what is left of those that were being made or removed."""
        for one in list_checkouts(self._folder):
            if one.kind is CheckoutKind.UNFINISHED and not one.in_use:
                self.remove_folder(one.name)
        for name in names_in(self._folder):
            task = TaskId(name.removesuffix(READY))
            if task != name and not os.path.lexists(self.top(task)):
                self._unmark(task)

    def remove_folder(self, name: str) -> None:
        """Remove a folder that is no task's checkout, with whatever is in it."""
        remove_private_checkout(self._source.git, self.top(name), pinned_as(name))

    def _put_aside(self, task: TaskId) -> None:
        """Keep the files of a checkout whose repository a session has broken."""
        self._opened.pop(task, None)
        self._unmark(task)
        with suppress(FileNotFoundError):
            aside = os.path.join(self._folder, f"{BROKEN}{task}-{os.urandom(4).hex()}")
            os.replace(self.top(task), aside)

    def _mark(self, task: str) -> str:
        return self.top(task) + READY

    def _unmark(self, task: TaskId) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self._mark(task))


@contextmanager
def temporary_checkout(
    source: UserCheckout,
    commit: str,
    *,
    name: str,
    folder: str,
    prepare: Callable[[str], None],
) -> Iterator[str]:
    """A checkout of one commit of the source; gone afterwards, with whatever is in it."""
    top = new_directory(folder, PREFIX + name)
    with lock_folder(top):
        checkout = create_private_checkout(source, commit, top, name, prepare)
        try:
            yield checkout.path
        finally:
            checkout.discard()


class TemporaryClones(msgspec.Struct, frozen=True):
    """Clones of a checkout, or of a private one, prepared as `[workspace]` says."""

    source: UserCheckout
    folder: str
    """Where the clones are."""
    preparation: CheckoutSetup

    @contextmanager
    def checkout_of(
        self,
        workspace: Workspace,
        at: Snapshot,
        name: str,
        *,
        links: Sequence[str] = (),
        copies: Sequence[str] = (),
    ) -> Iterator[str]:
        is_own = workspace.path == self.source.path
        executor = self.source.git.executor
        source = self.source if is_own else UserCheckout(executor, workspace.path)
        with temporary_checkout(
            source,
            source.commit_of(at, name),
            name=name,
            folder=self.folder,
            prepare=self.preparation.prepare,
        ) as path:
            top = path.removesuffix(f"/{source.prefix.strip('/')}") if source.prefix else path
            for one in copies:
                _forget_file(os.path.join(top, one), top)
                copy_into(source.top, one, top)
            _borrow(source.top, links, top)
            yield path

    def remove_leftovers(self) -> None:
        for one in list_checkouts(self.folder):
            # Another worker's may be in use.
            if one.kind is CheckoutKind.LOOK and not one.in_use:
                remove_private_checkout(self.source.git, one.path, pinned_as(one.name))


def _forget_file(path: str, top: str) -> None:
    """So that a copy takes its place."""
    with suppress(OSError):
        if is_inside(path, top):
            os.unlink(path)


def _borrow(source: str, links: Sequence[str], top: str) -> None:
    """Put links to files and folders of a checkout into another one, where they are missing. Git
    does not see them there either."""
    made: list[str] = []
    for path in links:
        target = os.path.join(top, path)
        with suppress(OSError):
            # A link that a session has committed may lead out of the checkout.
            if is_inside(target, top) and not os.path.lexists(target):
                os.makedirs(os.path.dirname(target), exist_ok=True)
                os.symlink(os.path.join(source, path), target)
                made.append(path)
    with create_regular(os.path.join(top, ".git", "info", "exclude"), os.O_APPEND) as file:
        file.write(b"".join(b"\n/" + os.fsencode(literal_pattern(path)) for path in made) + b"\n")


def pinned_as(folder: str) -> str:
    """The name a folder was asked for by: a temporary checkout has a random part more."""
    is_temporary = folder.startswith(PREFIX)
    return folder.removeprefix(PREFIX).rpartition("-")[0] if is_temporary else folder
