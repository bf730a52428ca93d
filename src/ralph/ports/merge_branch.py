"""The interface of the branch that a team merges into, and the checkouts of its tasks."""

from contextlib import AbstractContextManager
from typing import Protocol

import msgspec

from ralph.core.ids import TaskId
from ralph.ports.workspace import Workspace


class MergeConflict(msgspec.Struct, frozen=True, kw_only=True):
    """The files in which two changes conflict."""

    files: tuple[str, ...]
    theirs: tuple[TaskId, ...] = ()
    """The tasks whose merged work is on the other side, as the commits' trailers name them."""


class RebaseResult(msgspec.Struct, frozen=True, kw_only=True):
    head: str
    """What the commits are based on now; with a conflict, what they could not be rebased on."""
    conflict: MergeConflict | None = None
    """If there is one, the checkout is as it was before."""


class BranchBehind(msgspec.Struct, frozen=True, kw_only=True):
    """A user's branch that lacks what was built on it."""

    branch: str
    command: str
    """Brings the work in, as a person types it."""


class MergeBranch(Protocol):
    """The branch that a team builds. Its head only moves forward.

    The head is a ref of Ralph's own (`refs/ralph/tip/<branch>`) that moves in one atomic step; the
    user's branch and checkout are updated when that is possible.
    """

    @property
    def branch(self) -> str: ...

    def head(self) -> str:
        """Return the commit that new work is based on, including what the user has committed
        meanwhile, if the two fit together."""

    def check_branch(self) -> None:
        """Raise an error if the user's branch and what was built do not fit together."""

    def open_checkout(self, task: TaskId) -> Workspace:
        """Return the task's checkout: the existing one, otherwise a new one of its accepted work or
        of the head, on a branch `ralph/<task>`, prepared as `[workspace]` says. An existing one is
        complete: a Ralph that dies while it makes or removes one leaves none of that name."""

    def has_checkout(self, task: TaskId) -> bool:
        """Return whether the task's checkout exists and is usable."""

    def put_aside_broken(self, task: TaskId) -> bool:
        """Move the task's checkout out of the way, with all its files, if git cannot work in it any
        more; return whether the task has no usable checkout now."""

    def open_checkouts(self) -> tuple[TaskId, ...]: ...

    def temporary_checkout(self, name: str, commit: str = "") -> AbstractContextManager[str]:
        """Create a checkout of the head, or of an older commit, prepared like those of tasks; yield
        the project's directory in it. It is deleted afterwards."""

    def changed_by_people(self, commit: str) -> bool:
        """Whether people have committed since the run began, up to this commit."""

    def merge_lock(self) -> AbstractContextManager[bool]:
        """Lock the right to move the head, for one process at a time; yields False if another
        process has it. Who has it may ask again. The kernel releases the lock of a dead process."""

    def save_accepted(self, task: TaskId) -> None:
        """Save the commits of the task's checkout as its accepted work, which outlives the checkout
        until that is removed."""

    def has_accepted(self, task: TaskId) -> bool: ...

    def is_merged(self, task: TaskId) -> bool:
        """Return whether the task's accepted work is part of the head."""

    def rebase(self, task: TaskId, trailers: str = "", message: str = "") -> RebaseResult:
        """Rebase the checkout's commits on the head, with trailers where sessions have left them
        out; with a message several commits become one, and stay under `refs/ralph/steps/<task>/`.
        A half-done rebase of a killed process is undone first. The checkout must have no
        uncommitted changes."""

    def fast_forward(self, task: TaskId, onto: str) -> str:
        """Move the head from `onto` to the head of the checkout, which was rebased on it; return
        that commit. Raises Busy if the head has moved."""

    def merge_uncommitted(self, task: TaskId, ref: str) -> MergeConflict:
        """Save the checkout's work under `ref`, then reset the checkout to the head with the work
        merged into its files, uncommitted; conflicts are marked in the files."""

    def reset_checkout(self, task: TaskId, ref: str) -> None:
        """Save the checkout's work, committed or not, under `ref`, then reset it to the head."""

    def remove_checkout(self, task: TaskId) -> None:
        """Remove the checkout. Work that is nowhere otherwise is kept under `refs/ralph/`."""

    def update_user_checkout(self) -> str:
        """Update the user's branch and checkout to the head, if nothing of theirs is in the way;
        return why not, in a line. Only the lead does this."""

    def catch_up_command(self) -> str:
        """Return the command that brings what was built into the user's branch; empty if all of it
        is there."""

    def clean_up_after_crash(self) -> None:
        """After a crash: settle what was begun in the user's checkout; remove partial checkouts."""
