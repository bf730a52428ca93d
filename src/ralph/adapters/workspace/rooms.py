"""The checkouts of tasks, one folder each, which any process finds again.

A checkout is there as soon as its mark is (`<folder>/<task>.ready`), which is written when all of
it is made and taken away before any of it is removed. Setup commands remember where they ran, so it
is made where it stays, and not renamed.
"""

import os
from contextlib import suppress
from typing import Final

from ralph.adapters.workspace.git import Git
from ralph.adapters.workspace.held import hold_folder, is_held
from ralph.adapters.workspace.in_place import InPlace
from ralph.adapters.workspace.preparing import Preparation
from ralph.adapters.workspace.private import PrivateCheckout, clone, forget, remove
from ralph.adapters.workspace.rebasing import Rebasing
from ralph.adapters.workspace.throw_away import PREFIX, pinned_as
from ralph.core.errors import CannotWrite, UnusableData
from ralph.core.ids import TaskId
from ralph.ports.executor import Captures

READY: Final = ".ready"
BROKEN: Final = "broken-"
"""A checkout without a usable repository, put aside with all its files."""


class Rooms:
    """The checkouts in one folder, made of one source."""

    def __init__(self, git: Captures, source: InPlace, folder: str) -> None:
        self._executor = git
        self._source = source
        self._git = Git(git, source.top)
        self._folder = folder
        self._opened: dict[TaskId, PrivateCheckout] = {}

    def is_open(self, task: TaskId) -> bool:
        """Is it there, all of it?"""
        return os.path.exists(self._mark(task)) and os.path.isdir(self.top(task))

    def opened(self) -> tuple[TaskId, ...]:
        """Whose are there."""
        names = os.listdir(self._folder) if os.path.isdir(self._folder) else []
        tasks = (TaskId(name.removesuffix(READY)) for name in names if name.endswith(READY))
        return tuple(task for task in tasks if self.is_open(task))

    def find(self, task: TaskId) -> PrivateCheckout | None:
        """The one that is there and can be used."""
        if not self.is_open(task):
            return None
        try:
            return self.checkout(task)
        except UnusableData:
            self._put_aside(task)
            return None

    def make(self, task: TaskId, commit: str, preparation: Preparation) -> PrivateCheckout:
        """A new one, of that commit."""
        top = self.top(task)
        self._unmark(task)
        remove(top)  # one that was being made or removed when somebody was killed
        try:
            os.makedirs(top)
        except OSError as error:
            raise CannotWrite(f"cannot write in {self._folder}: {error.strerror}") from error
        with hold_folder(top):
            checkout = clone(
                self._executor,
                source_top=self._source.top,
                project_subdir=self._source.prefix,
                commit=commit,
                top=top,
                name=task,
            )
            try:
                preparation.prepare_for_all(checkout.path)
            except BaseException:
                checkout.discard()
                raise
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
        top = self.top(task)
        git_dir = os.path.join(top, ".git")
        if os.path.islink(git_dir) or not os.path.isdir(git_dir):
            # Git would work in whichever repository it is led to.
            raise UnusableData(f"{top} has no repository of its own any more")
        if task not in self._opened:
            self._opened[task] = PrivateCheckout(
                self._executor,
                source_top=self._source.top,
                project_subdir=self._source.prefix,
                top=top,
                name=task,
            )
        return self._opened[task]

    def git(self, task: TaskId) -> Git:
        """Commands in it."""
        return self._git.at(self.checkout(task).top)

    def rebasing(self, task: TaskId) -> Rebasing:
        """How its work is put elsewhere."""
        checkout = self.checkout(task)
        return Rebasing(self.git(task), checkout.inside, task, checkout.fill_submodules)

    def top(self, task: str) -> str:
        """Where it is."""
        return os.path.join(self._folder, task)

    def sweep(self) -> None:
        """Remove what is left of those that were being made or removed."""
        names = os.listdir(self._folder) if os.path.isdir(self._folder) else []
        for name in names:
            task = name.removesuffix(READY)
            if task != name and task not in names:
                self._unmark(TaskId(task))
            is_whole = task != name or f"{name}{READY}" in names
            # A file or a link that somebody has left there is no checkout.
            is_folder = os.path.isdir(self.top(name)) and not os.path.islink(self.top(name))
            is_other = name.startswith((PREFIX, BROKEN)) or not is_folder
            if not is_whole and not is_other and not is_held(self.top(name)):
                forget(self._git, self.top(name), name)

    def drop(self, name: str) -> None:
        """Remove a folder that is no task's checkout, with whatever is in it."""
        is_look = name.startswith(PREFIX)
        forget(self._git, self.top(name), pinned_as(name) if is_look else name)

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
