"""The branch that a team builds, and the checkouts in which its tasks are worked on."""

from contextlib import AbstractContextManager
from typing import Protocol

import msgspec

from ralph.core.ids import TaskId
from ralph.ports.workspace import Workspace


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    """Two pieces of work that do not fit together."""

    files: tuple[str, ...]
    theirs: tuple[TaskId, ...] = ()
    """The tasks whose merged work is on the other side, as the commits' trailers name them."""


class Rebased(msgspec.Struct, frozen=True, kw_only=True):
    """A checkout's commits, put on the tip."""

    tip: str
    """What they are based on now; with a conflict, what they could not be put on."""
    conflict: Conflict | None = None
    """Then the checkout is as it was before."""


class Trunk(Protocol):
    """One branch of the person's repository, at its tip, which moves forward only.

    The tip is a ref of Ralph's own (`refs/ralph/tip/<branch>`) that moves in one atomic step; the
    person's branch and checkout follow it when they can, so nothing is ever half there.
    """

    @property
    def branch(self) -> str: ...

    def tip(self) -> str:
        """The commit that new work is based on, with what the person has committed meanwhile."""
        ...

    def open(self, task: TaskId) -> Workspace:
        """The task's checkout: the one that is there, else a new one of its accepted work or of the
        tip, on a branch `ralph/<task>`, prepared as `[workspace]` says. One that is there was
        finished: a Ralph that dies while it makes or removes one leaves none of that name."""
        ...

    def is_open(self, task: TaskId) -> bool:
        """Is the task's checkout there, and usable?"""
        ...

    def opened(self) -> tuple[TaskId, ...]:
        """Whose checkouts are there."""
        ...

    def look(self, name: str, commit: str = "") -> AbstractContextManager[str]:
        """A checkout of the tip, or of a commit behind it, prepared like those of tasks, to be
        thrown away; yields the project's directory in it."""
        ...

    def by_people(self, commit: str) -> bool:
        """Since the run began, and up to this commit: has anybody else than the team committed?"""
        ...

    def turn(self) -> AbstractContextManager[bool]:
        """The right to move the tip, for one process at a time; False: somebody else has it. The
        kernel takes it from whoever dies."""
        ...

    def keep(self, task: TaskId) -> None:
        """Save what is committed in the task's checkout as its accepted work: from here on it
        outlives the checkout, until that is closed."""
        ...

    def has_kept(self, task: TaskId) -> bool:
        """Is there accepted work of the task?"""
        ...

    def is_merged(self, task: TaskId) -> bool:
        """Is the task's accepted work part of the tip?"""
        ...

    def rebase(self, task: TaskId, trailers: str = "", message: str = "") -> Rebased:
        """Put the checkout's commits on the tip, with trailers where sessions have left them out;
        with a message several of them become one, and stay under `refs/ralph/steps/<task>/`. A
        half-done one of a killed process is undone first. The checkout must have no uncommitted
        changes."""
        ...

    def advance(self, task: TaskId, onto: str) -> str:
        """Move the tip from `onto` to the head of the checkout, which was rebased on it; return
        that commit. Busy if the tip has moved."""
        ...

    def side_by_side(self, task: TaskId, ref: str) -> Conflict:
        """Keep the checkout's work under `ref`, then put the checkout on the tip with the work
        merged into its files, uncommitted; what does not fit is there with both sides between
        conflict markers."""
        ...

    def start_over(self, task: TaskId, ref: str) -> None:
        """Keep the checkout's work, committed or not, under `ref`, then put it on the tip."""
        ...

    def close(self, task: TaskId) -> None:
        """Remove the checkout. What of it is neither merged nor saved is kept under `refs/ralph/`
        first."""
        ...

    def follow(self) -> str:
        """Let the person's branch and checkout follow the tip, as far as nothing of theirs is in
        the way; return why they cannot, in a line. Only the lead does this."""
        ...

    def tidy(self) -> None:
        """After a crash: finish or undo what was begun in the person's checkout, and remove what
        is left of checkouts that were being made or removed."""
        ...
