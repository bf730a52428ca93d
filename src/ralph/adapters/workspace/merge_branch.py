"""The branch that a team builds, in the user's repository."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final

from ralph.adapters.workspace.branches_behind import branches_behind
from ralph.adapters.workspace.checkout_setup import CheckoutSetup
from ralph.adapters.workspace.checkout_update import BranchHead, CheckoutUpdate
from ralph.adapters.workspace.git_objects import FETCH_OPTIONS
from ralph.adapters.workspace.private_checkout import pin_ref
from ralph.adapters.workspace.rebase import CheckoutWork
from ralph.adapters.workspace.task_checkouts import TaskCheckouts, temporary_checkout
from ralph.adapters.workspace.user_checkout import UserCheckout
from ralph.core.errors import Missing, RalphError
from ralph.core.ids import TaskId
from ralph.files import open_lock, or_cannot_write, try_lock
from ralph.ports.merge_branch import MergeConflict, RebaseResult
from ralph.ports.workspace import Workspace

ACCEPTED: Final = "refs/ralph/accepted/"
"""What is about to be merged, by task."""
STEPS: Final = "refs/ralph/steps/"
"""What became one commit, by task."""


def current_branch(source: UserCheckout) -> str:
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


class GitMergeBranch:
    """A `MergeBranch` in the repository of one checkout."""

    def __init__(
        self,
        source: UserCheckout,
        *,
        branch: str,
        folder: str,
        preparation: CheckoutSetup,
        since: str = "",
    ) -> None:
        """The `folder` is where checkouts are; `since` is the commit with which the run began."""
        self._source = source
        self._folder = folder
        # Unlike the source's: to it, the files that Ralph ignores there count as well.
        self._git = source.git.at(source.top)
        self._objects = source.objects
        self._checkouts = TaskCheckouts(source, folder)
        self._preparation = preparation
        self._since = since
        self._is_locked = False
        """Whether this object holds the merge lock."""
        self._tip = BranchHead(self._git, branch, self.merge_lock)
        self._following = CheckoutUpdate(self._git, self._tip, source.sync)

    @property
    def branch(self) -> str:
        return self._tip.branch

    def head(self) -> str:
        return self._tip.current()

    def check_branch(self) -> None:
        self._tip.joined()

    # -- checkouts

    def open_checkout(self, task: TaskId) -> Workspace:
        found = self._checkouts.find(task)
        if found is not None:
            return found
        kept, base = self._kept(task), self._objects.read_ref(pin_ref(task))
        made = self._checkouts.make(task, kept or self._tip.current(), self._preparation)
        if kept and base:
            self._git.run("update-ref", pin_ref(task), base)
        return made

    def has_checkout(self, task: TaskId) -> bool:
        return self._checkouts.find(task) is not None

    def put_aside_broken(self, task: TaskId) -> bool:
        return self._checkouts.put_aside_broken(task)

    def open_checkouts(self) -> tuple[TaskId, ...]:
        return self._checkouts.opened()

    def remove_checkout(self, task: TaskId) -> None:
        self._checkouts.close(task)
        if kept := self._kept(task):
            if not self._objects.is_reachable(kept, apart_from=(ACCEPTED + task,)):
                self._objects.rescue(kept)
            self._objects.move_ref(ACCEPTED + task, "", kept, "settled")

    def temporary_checkout(self, name: str, commit: str = "") -> AbstractContextManager[str]:
        return temporary_checkout(
            self._source,
            commit or self._tip.current(),
            name=name,
            folder=self._folder,
            prepare=self._preparation.prepare_for_all,
        )

    def changed_by_people(self, commit: str) -> bool:
        if not self._since or not commit:
            return False
        form = "--format=%H%(trailers:key=Ralph-Run,valueonly,separator=%x20)"
        listed = self._git.names("log", "-z", form, commit, f"^{self._since}")
        return any(len(entry) == len(commit) for entry in listed)

    # -- merging

    @contextmanager
    def merge_lock(self) -> Iterator[bool]:
        if self._is_locked:
            yield True
            return
        path = os.path.join(self._git.git_dir, "ralph", "merge.lock")
        with or_cannot_write(f"write {path}"):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            handle = open_lock(path)
        try:
            self._is_locked = try_lock(handle)
            yield self._is_locked
        finally:
            self._is_locked = False
            os.close(handle)

    def save_accepted(self, task: TaskId) -> None:
        self._checkouts.checkout(task).fetch_back()
        if self._checkouts.rebasing(task).recover() != self._kept(task):
            # Rebased, it is the same work: what it was before need not be kept.
            self._git.run(
                "fetch", *FETCH_OPTIONS, self._checkouts.top(task), f"+HEAD:{ACCEPTED}{task}"
            )

    def has_accepted(self, task: TaskId) -> bool:
        return bool(self._kept(task))

    def _kept(self, task: TaskId) -> str:
        return self._objects.read_ref(ACCEPTED + task)

    def is_merged(self, task: TaskId) -> bool:
        kept = self._kept(task)
        return bool(kept) and self._objects.contains(self._tip.current(), kept)

    def rebase(self, task: TaskId, trailers: str = "", message: str = "") -> RebaseResult:
        rebasing = self._checkouts.rebasing(task)
        head, tip = rebasing.recover(), self._tip.current()
        work = rebasing.work(head, tip, self._begun(task))
        if message and (one := rebasing.as_one_commit(work, message)) != work:
            self._save_steps(task, work.head)
            work = rebasing.replace_work(work, one)
        if trailers:
            work = rebasing.with_trailers(work, trailers)
        if work.base == tip:
            return RebaseResult(head=tip)
        if not message and rebasing.has_merges(work):
            self._save_steps(task, work.head)  # they become one commit
        files = rebasing.rebase_onto(tip, work)
        if files:
            theirs = rebasing.tasks(work, tip, files)
            return RebaseResult(head=tip, conflict=MergeConflict(files=files, theirs=theirs))
        self._git.run("update-ref", pin_ref(task), tip)
        return RebaseResult(head=tip)

    def _begun(self, task: TaskId) -> str:
        """What the checkout was put on; empty if that is accepted work, of which it was made again
        after a crash: behind it there is nothing."""
        begun, kept = self._objects.read_ref(pin_ref(task)), self._kept(task)
        return "" if begun and kept and self._objects.contains(begun, kept) else begun

    def _save_steps(self, task: TaskId, head: str) -> None:
        self.save_accepted(task)
        self._git.run("update-ref", f"{STEPS}{task}/{head[:10]}", head)

    def fast_forward(self, task: TaskId, onto: str) -> str:
        self.save_accepted(task)
        head = self._kept(task)
        if not self._objects.contains(head, onto):
            raise RalphError(f"the work of {task} is not based on {onto[:10]}")
        self._tip.move(head, onto)
        return head

    def merge_uncommitted(self, task: TaskId, ref: str) -> MergeConflict:
        rebasing = self._checkouts.rebasing(task)
        head, tip = rebasing.recover(), self._tip.current()
        saved = self._objects.read_ref(ref)
        if base := rebasing.base_of_unfinished_merge(saved):
            work = CheckoutWork(saved, base)
        else:
            work = rebasing.work(head, tip, self._begun(task))
            message = f"What {task} made of {work.base[:10]}\n"
            saved = self._checkouts.checkout(task).save(ref, message)
        files = rebasing.merge_uncommitted(tip, work.base, saved, task)
        self._git.run("update-ref", pin_ref(task), tip)
        return MergeConflict(files=files, theirs=rebasing.tasks(work, tip, files))

    def reset_checkout(self, task: TaskId, ref: str) -> None:
        rebasing = self._checkouts.rebasing(task)
        head, tip = rebasing.recover(), self._tip.current()
        now = self._checkouts.checkout(task).snapshot()
        if head != tip or now.dirty:
            self._checkouts.checkout(task).save(ref, f"What {task} made before it started over\n")
            rebasing.start_over(tip)
        self._git.run("update-ref", pin_ref(task), tip)

    # -- the person's side

    def update_user_checkout(self) -> str:
        return self._following.update()

    def catch_up_command(self) -> str:
        behind = (one for one in branches_behind(self._git) if one.branch == self.branch)
        return next((one.command for one in behind), "")

    def clean_up_after_crash(self) -> None:
        self._following.recover()
        self._checkouts.remove_leftovers()
