"""A branch that a team builds: checkouts for its tasks, and a tip to which they are merged."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ralph.adapters.workspace.fetching import OPTIONS
from ralph.adapters.workspace.following import Following
from ralph.adapters.workspace.git import Git, text
from ralph.adapters.workspace.in_place import InPlace
from ralph.adapters.workspace.objects import Objects
from ralph.adapters.workspace.preparing import Preparation
from ralph.adapters.workspace.private import pin
from ralph.adapters.workspace.rebasing import Work
from ralph.adapters.workspace.rooms import Rooms
from ralph.adapters.workspace.throw_away import throw_away
from ralph.adapters.workspace.tip import Tip
from ralph.core.errors import CannotWrite, Missing, RalphError
from ralph.core.ids import TaskId
from ralph.ports.executor import Captures
from ralph.ports.trunk import Conflict, Rebased
from ralph.ports.workspace import Workspace

ACCEPTED: Final = "refs/ralph/accepted/"
"""What is about to be merged, by task."""
STEPS: Final = "refs/ralph/steps/"
"""What became one commit, by task."""


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
        since: str = "",
    ) -> None:
        """`git` is for Ralph's own, and stands behind the wall; the `folder` is where the checkouts
        are; `since` is the commit with which the run began."""
        self._source = source
        self._executor = git
        self._folder = folder
        self._git = Git(git, source.top)
        self._objects = Objects(self._git)
        self._rooms = Rooms(git, source, folder)
        self._preparation = preparation
        self._since = since
        self._tip = Tip(self._git, branch)
        self._following = Following(self._git, self._tip, source.prefix)

    @property
    def branch(self) -> str:
        return self._tip.branch

    def tip(self) -> str:
        return self._tip.now()

    # -- checkouts

    def open(self, task: TaskId) -> Workspace:
        found = self._rooms.find(task)
        if found is not None:
            return found
        kept, base = self._kept(task), self._objects.read_ref(pin(task))
        made = self._rooms.make(task, kept or self._tip.now(), self._preparation)
        if kept and base:
            self._git.run("update-ref", pin(task), base)
        return made

    def is_open(self, task: TaskId) -> bool:
        return self._rooms.find(task) is not None

    def opened(self) -> tuple[TaskId, ...]:
        return self._rooms.opened()

    def close(self, task: TaskId) -> None:
        self._rooms.close(task)
        if kept := self._kept(task):
            if not self._objects.is_reachable(kept, apart_from=(ACCEPTED + task,)):
                self._objects.rescue(kept)
            self._objects.move_ref(ACCEPTED + task, "", kept, "settled")

    @contextmanager
    def look(self, name: str, commit: str = "") -> Iterator[str]:
        with throw_away(
            self._executor,
            self._source,
            commit or self._tip.now(),
            name=name,
            folder=self._folder,
            prepare=self._preparation.prepare_for_all,
        ) as path:
            yield path

    def by_people(self, commit: str) -> bool:
        if not self._since or not commit:
            return False
        form = "--format=%H%(trailers:key=Ralph-Run,valueonly,separator=%x20)"
        listed = text(self._git.run("log", "-z", form, commit, f"^{self._since}")).split("\0")
        return any(len(entry) == len(commit) for entry in listed)

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

    def keep(self, task: TaskId) -> None:
        self._rooms.checkout(task).bring_home()
        if self._rooms.rebasing(task).recover() != self._kept(task):
            # Rebased, it is the same work: what it was before need not be kept.
            self._git.run("fetch", *OPTIONS, self._rooms.top(task), f"+HEAD:{ACCEPTED}{task}")

    def has_kept(self, task: TaskId) -> bool:
        return bool(self._kept(task))

    def _kept(self, task: TaskId) -> str:
        return self._objects.read_ref(ACCEPTED + task)

    def is_merged(self, task: TaskId) -> bool:
        kept = self._kept(task)
        return bool(kept) and self._objects.contains(self._tip.now(), kept)

    def rebase(self, task: TaskId, trailers: str = "", message: str = "") -> Rebased:
        rebasing = self._rooms.rebasing(task)
        head, tip = rebasing.recover(), self._tip.now()
        work = rebasing.work(head, tip, self._objects.read_ref(pin(task)))
        if message and (one := rebasing.as_one_commit(work, message)) != work:
            self.keep(task)
            self._git.run("update-ref", f"{STEPS}{task}/{work.head[:10]}", work.head)
            work = rebasing.replaced(work, one)
        if trailers:
            work = rebasing.attributed(work, trailers)
        if work.base == tip:
            return Rebased(tip=tip)
        files = rebasing.onto(tip, work)
        if files:
            theirs = rebasing.tasks(work, tip, files)
            return Rebased(tip=tip, conflict=Conflict(files=files, theirs=theirs))
        self._git.run("update-ref", pin(task), tip)
        return Rebased(tip=tip)

    def advance(self, task: TaskId, onto: str) -> str:
        self.keep(task)
        head = self._kept(task)
        if not self._objects.contains(head, onto):
            raise RalphError(f"the work of {task} is not based on {onto[:10]}")
        self._tip.move(head, onto)
        return head

    def side_by_side(self, task: TaskId, ref: str) -> Conflict:
        rebasing = self._rooms.rebasing(task)
        head, tip = rebasing.recover(), self._tip.now()
        saved = self._objects.read_ref(ref)
        if base := rebasing.left_beside(saved):
            work = Work(saved, base)
        else:
            work = rebasing.work(head, tip, self._objects.read_ref(pin(task)))
            message = f"What {task} made of {work.base[:10]}\n"
            saved = self._rooms.checkout(task).save(ref, message)
        files = rebasing.beside(tip, work.base, saved, task)
        self._git.run("update-ref", pin(task), tip)
        return Conflict(files=files, theirs=rebasing.tasks(work, tip, files))

    def start_over(self, task: TaskId, ref: str) -> None:
        rebasing = self._rooms.rebasing(task)
        head, tip = rebasing.recover(), self._tip.now()
        now = self._rooms.checkout(task).snapshot()
        if head != tip or now.dirty:
            self._rooms.checkout(task).save(ref, f"What {task} made before it started over\n")
            rebasing.start_over(tip)
        self._git.run("update-ref", pin(task), tip)

    # -- the person's side

    def follow(self) -> str:
        return self._following.follow()

    def tidy(self) -> None:
        self._following.mend()
        self._rooms.sweep()
