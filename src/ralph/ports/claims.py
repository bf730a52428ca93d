"""Who works on what: handing out, keeping and settling tasks."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from ralph.core.events import Event
from ralph.core.ids import RunId, TaskId, WorkerId
from ralph.core.memory import Memory
from ralph.core.order import Schedule
from ralph.core.snapshot import Snapshot
from ralph.core.target import Target
from ralph.core.task import Task
from ralph.core.transitions import Transition
from ralph.ports.crew import Owner


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks by status, within a target."""

    pending: int = 0
    in_progress: int = 0
    done: int = 0
    blocked: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        return self.pending + self.in_progress + self.done + self.blocked + self.failed

    @property
    def open(self) -> int:
        return self.pending + self.in_progress + self.blocked


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A task in one worker's hands. Whatever settles it must show this."""

    task: Task
    worker: WorkerId
    attempt: int


class Stale(msgspec.Struct, frozen=True, kw_only=True):
    """A claim whose owner may be dead."""

    task: Task
    owner: Owner | None
    expired: bool
    seen: float | None = None
    """When it last gave a sign of life."""


class Claims(Protocol):
    """Who works on what."""

    def next_ready(self, target: Target, schedule: Schedule) -> Task | None:
        """The task that a claim would get: the first in order that is ready and names no file that
        a task in progress names too."""
        ...

    def claim(
        self, worker: WorkerId, run: RunId | None, target: Target, schedule: Schedule
    ) -> Claim | None:
        """Hand one ready task to one worker, never the same task to two, nor at the same time two
        tasks that name the same file."""
        ...

    def claim_again(self, worker: WorkerId, run: RunId | None, task: TaskId) -> Claim | None:
        """Hand out this very task if it is ready, whoever uses its files: its work lies in the
        worker's checkout already."""
        ...

    def heartbeat(self, worker: WorkerId, lease_s: float) -> None:
        """Renew the lease on everything the worker holds."""
        ...

    def holds(self, claim: Claim) -> bool:
        """Is the claim still this worker's, at this attempt?"""
        ...

    def stale(self, me: WorkerId) -> list[Stale]:
        """Claims of others, with what is needed to judge whether their owners live."""
        ...

    def take_over(self, task: TaskId, attempt: int, worker: WorkerId) -> Claim:
        """Continue a dead worker's attempt under the same number. ClaimLost if it moved on."""
        ...

    def settle(
        self,
        claim: Claim,
        transition: Transition,
        *,
        message: str,
        fail_fast: bool,
        run: RunId | None = None,
        events: Sequence[Event] = (),
        memories: Sequence[Memory] = (),
    ) -> Task:
        """State change, log line, events, what is to be remembered and the session's last mark, at
        once; then what follows for parents and dependents. Fenced by worker and attempt: ClaimLost
        if it is not ours.

        A task that got open children in the meantime is given back instead of being done.
        """
        ...

    def base(self, task: TaskId) -> Snapshot | None:
        """The checkout as it was when the task was first claimed since it was last done, or since
        its work was taken out of the checkout."""
        ...

    def remember_base(self, task: TaskId, base: Snapshot | None) -> None:
        """What the task began with, unless that is known: what has changed since is its work."""
        ...

    def move_base(self, task: TaskId, base: Snapshot) -> None:
        """Others have changed the checkout meanwhile: this is what the task begins with now."""
        ...

    def forget_base(self, task: TaskId) -> None:
        """Its work was taken out of the checkout: no session is left to judge, and the next attempt
        starts afresh. A deleted task has nothing to forget."""
        ...

    def counts(self, target: Target) -> Counts: ...
    def has_tasks(self, target: Target) -> bool: ...
    def has_open(self, target: Target) -> bool:
        """Is anything not settled? Costs the same for any number of tasks."""
        ...

    def has_ready(self, target: Target) -> bool:
        """Is anything ready, also what waits for its files?"""
        ...

    def in_progress(self, target: Target) -> int: ...
    def rank_chains(self) -> None:
        """Bring the critical-path order up to date, if the graph has changed."""
        ...
