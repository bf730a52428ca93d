"""A branch that a team builds: private checkouts for its tasks, and a tip to which they are merged.

A checkout is there as soon as its mark is (`<folder>/<task>.ready`), which is written when all of
it is made and taken away before any of it is removed. Setup commands remember where they ran, so it
is made where it stays, and not renamed.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from ralph.adapters.workspace.fetching import OPTIONS
from ralph.adapters.workspace.following import Following
from ralph.adapters.workspace.git import Git
from ralph.adapters.workspace.held import hold_folder, is_held
from ralph.adapters.workspace.in_place import InPlace
from ralph.adapters.workspace.objects import Objects
from ralph.adapters.workspace.preparing import Preparation
from ralph.adapters.workspace.private import PINS, PrivateCheckout, clone, pin, remove
from ralph.adapters.workspace.rebasing import Rebasing, Work
from ralph.adapters.workspace.stale import remove_stale_locks
from ralph.adapters.workspace.throw_away import PREFIX
from ralph.adapters.workspace.tip import Tip
from ralph.core.errors import CannotWrite, Missing, RalphError, UnusableData
from ralph.core.ids import TaskId
from ralph.ports.executor import Captures
from ralph.ports.trunk import Conflict, Rebased
from ralph.ports.workspace import Workspace

READY: Final = ".ready"
BROKEN: Final = "broken-"
"""A checkout without a usable repository, put aside with all its files."""


def current_branch(source: InPlace) -> str:
    """The branch that a team builds on, which is the one that is checked out."""
    now = source.snapshot()
    if not now.branch:
        raise RalphError(
            "several workers need a branch to merge into, and the head is detached",
            hint="git switch NAME, or git switch -c NAME",
        )
    if not now.head:
        raise Missing(
            f"there is no commit on {now.branch} yet, so there is nothing to make checkouts of",
            hint="git commit --allow-empty -m 'First commit'",
        )
    return now.branch


class SharedBranch:
    """A `Trunk` in the repository of one checkout."""

    def __init__(
        self,
        git: Captures,
        source: InPlace,
        *,
        branch: str,
        folder: str,
        preparation: Preparation,
    ) -> None:
        """`git` is for Ralph's own, and stands behind the wall; the `folder` is where the checkouts
        are."""
        self._executor = git
        self._source = source
        self._git = Git(git, source.top)
        self._objects = Objects(self._git)
        self._folder = folder
        self._preparation = preparation
        self._tip = Tip(self._git, branch)
        self._following = Following(self._git, self._tip, source.prefix)
        self._opened: dict[TaskId, PrivateCheckout] = {}

    @property
    def branch(self) -> str:
        return self._tip.branch

    def tip(self) -> str:
        return self._tip.now()

    # -- checkouts

    def open(self, task: TaskId) -> Workspace:
        if self.is_open(task):
            try:
                return self._checkout(task)
            except UnusableData:
                self._put_aside(task)
        return self._make(task)

    def is_open(self, task: TaskId) -> bool:
        return os.path.exists(self._mark(task)) and os.path.isdir(self._top(task))

    def opened(self) -> tuple[TaskId, ...]:
        if not os.path.isdir(self._folder):
            return ()
        names = os.listdir(self._folder)
        tasks = (TaskId(name.removesuffix(READY)) for name in names if name.endswith(READY))
        return tuple(task for task in tasks if self.is_open(task))

    def close(self, task: TaskId) -> None:
        if not self.is_open(task):
            return
        try:
            checkout = self._checkout(task)
        except UnusableData:
            self._put_aside(task)
            return
        self._rebasing(task).recover()
        checkout.keep()
        self._unmark(task)
        checkout.discard()
        self._opened.pop(task, None)

    def _make(self, task: TaskId) -> PrivateCheckout:
        top = self._top(task)
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
                commit=self._tip.now(),
                top=top,
                name=task,
            )
            try:
                self._preparation.prepare(checkout.path)
            except BaseException:
                checkout.discard()
                raise
            with open(self._mark(task), "xb"):
                pass
        self._opened[task] = checkout
        return checkout

    def _checkout(self, task: TaskId) -> PrivateCheckout:
        top = self._top(task)
        if os.path.islink(os.path.join(top, ".git")) or not os.path.isdir(
            os.path.join(top, ".git")
        ):
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

    def _put_aside(self, task: TaskId) -> None:
        """Keep the files of a checkout whose repository a session has broken."""
        self._opened.pop(task, None)
        self._unmark(task)
        with suppress(FileNotFoundError):
            aside = os.path.join(self._folder, f"{BROKEN}{task}-{os.urandom(4).hex()}")
            os.replace(self._top(task), aside)

    def _top(self, task: str) -> str:
        return os.path.join(self._folder, task)

    def _mark(self, task: str) -> str:
        return self._top(task) + READY

    def _unmark(self, task: TaskId) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self._mark(task))

    # -- merging

    @contextmanager
    def turn(self) -> Iterator[bool]:
        path = os.path.join(self._source.git_dir, "ralph", "merge.lock")
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise CannotWrite(f"cannot write {path}: {error.strerror}") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            yield False
            return
        try:
            yield True
        finally:
            os.close(handle)

    def is_merged(self, task: TaskId) -> bool:
        if not self.is_open(task):
            return True
        head = self._rebasing(task).recover()
        tip = self._tip.now()
        # Asked in the checkout, which knows the source's commits as well as its own.
        return head == tip or Objects(self._clone(task)).contains(tip, head)

    def rebase(self, task: TaskId) -> Rebased:
        rebasing = self._rebasing(task)
        head, tip = rebasing.recover(), self._tip.now()
        work = rebasing.work(head, tip, self._objects.read_ref(pin(task)))
        if work.base == tip:
            return Rebased(tip=tip)
        files = rebasing.onto(tip, work)
        if files:
            theirs = rebasing.tasks(work, tip, files)
            return Rebased(tip=tip, moved=True, conflict=Conflict(files=files, theirs=theirs))
        self._git.run("update-ref", pin(task), tip)
        return Rebased(tip=tip, moved=True)

    def advance(self, task: TaskId, onto: str) -> str:
        head = self._rebasing(task).recover()
        self._checkout(task).bring_home()
        # Nothing points to the commits until the tip does: git leaves what is this young alone.
        self._git.run("fetch", *OPTIONS, self._top(task), "HEAD")
        if not self._objects.contains(head, onto):
            raise RalphError(f"the work of {task} is not based on {onto[:10]}")
        self._tip.move(head, onto)
        return head

    def side_by_side(self, task: TaskId, ref: str) -> Conflict:
        rebasing = self._rebasing(task)
        head, tip = rebasing.recover(), self._tip.now()
        saved = self._objects.read_ref(ref)
        if base := rebasing.left_beside(saved):
            work = Work(saved, base)
        else:
            work = rebasing.work(head, tip, self._objects.read_ref(pin(task)))
            message = f"What {task} made of {work.base[:10]}\n"
            saved = self._checkout(task).save(ref, message)
        files = rebasing.beside(tip, work.base, saved, task)
        self._git.run("update-ref", pin(task), tip)
        return Conflict(files=files, theirs=rebasing.tasks(work, tip, files))

    def start_over(self, task: TaskId, ref: str) -> None:
        rebasing = self._rebasing(task)
        head, tip = rebasing.recover(), self._tip.now()
        now = self._checkout(task).snapshot()
        if head != tip or now.dirty:
            self._checkout(task).save(ref, f"What {task} made before it started over\n")
            rebasing.start_over(tip)
        self._git.run("update-ref", pin(task), tip)

    def _clone(self, task: TaskId) -> Git:
        return self._git.at(self._checkout(task).top)

    def _rebasing(self, task: TaskId) -> Rebasing:
        checkout = self._checkout(task)
        git = self._git.at(checkout.top)
        return Rebasing(git, checkout.inside, task, checkout.fill_submodules)

    # -- the person's side

    def follow(self) -> str:
        return self._following.follow()

    def tidy(self) -> None:
        remove_stale_locks(self._git, (self._tip.branch_ref,) if self._following.begun() else ())
        self._following.mend()
        if os.path.isdir(self._folder):
            self._sweep()

    def _sweep(self) -> None:
        names = os.listdir(self._folder)
        for name in names:
            path = os.path.join(self._folder, name)
            task = name.removesuffix(READY)
            if task != name and task not in names:
                self._unmark(TaskId(task))
            is_whole = task != name or f"{name}{READY}" in names
            if not is_whole and not name.startswith((PREFIX, BROKEN)) and not is_held(path):
                remove(path)
        names = os.listdir(self._folder)
        listed = self._git.word("for-each-ref", "--format=%(refname)", PINS).splitlines()
        for ref in listed:
            name = ref.removeprefix(PINS)
            if not any(one == name or one.startswith(f"{PREFIX}{name}-") for one in names):
                self._git.ask("update-ref", "-d", ref)
