"""What changes during a run, each part by its own methods only; and the attempt at hand."""

from collections.abc import Callable, Collection, Sequence

import msgspec

from ralph.core.gates import GateResult
from ralph.core.ids import RunId, TaskId
from ralph.core.run import Target
from ralph.core.session_ending import SessionEnding
from ralph.core.snapshot import Snapshot
from ralph.core.task import Task
from ralph.engine.brief_inputs import BriefDocumentReader
from ralph.ports.agent import Agent
from ralph.ports.workspace import Workspace
from ralph.store.claims import Claim
from ralph.store.sessions import Session


class RunState:
    """The target, the counters and the gates' baseline of a run."""

    def __init__(self, target: Target, first_iteration: int) -> None:
        self.target = target
        self.iteration = first_iteration - 1
        self.attempts = 0
        self.commits = 0
        self.baseline: tuple[GateResult, ...] = ()
        """The results that the gates of the next attempt are compared with."""
        self._earlier: tuple[RunId, ...] | None = None
        self._branch: str | None = None
        self._next_beat = 0.0

    def left_branch(self, now: str) -> str:
        """The branch of the last session, if the next one begins on another; empty: it does not."""
        before, self._branch = self._branch, now
        return before if before and before != now else ""

    def is_beat_due(self, now: float, every_s: float) -> bool:
        """Shall the lease be renewed now? Then the next time is `every_s` seconds later."""
        is_due = now >= self._next_beat
        if is_due:
            self._next_beat = now + every_s
        return is_due

    def change_target(self, target: Target) -> None:
        self.target = target

    def begin_iteration(self) -> None:
        self.iteration += 1

    def number_iteration(self, number: int) -> None:
        self.iteration = number - 1

    def count_attempt(self) -> None:
        self.attempts += 1

    def count_commits(self, count: int) -> None:
        self.commits += count

    def set_counts(self, *, attempts: int, commits: int) -> None:
        self.attempts, self.commits = attempts, commits

    def set_baseline(self, results: Sequence[GateResult]) -> None:
        self.baseline = tuple(results)

    def update_baseline(self, results: Sequence[GateResult]) -> None:
        """Replace the results of these gates, and keep those of the others."""
        known = {result.name: result for result in (*self.baseline, *results)}
        self.baseline = tuple(known.values())

    def earlier_runs(self, find: Callable[[], tuple[RunId, ...]]) -> tuple[RunId, ...]:
        """The runs that this one continues, newest first. They are looked up once."""
        if self._earlier is None:
            self._earlier = find()
        return self._earlier


class UnfinishedWork(msgspec.Struct, frozen=True, kw_only=True):
    """Work of an open task that is in the checkout, for its next attempt."""

    task: TaskId
    attempt: int
    base: Snapshot
    """The checkout before the task's first attempt."""


class EndedAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt whose session has ended: what is judged and settled."""

    claim: Claim
    session: Session
    """After a crash it belongs to an earlier claim."""
    ending: SessionEnding
    base: Snapshot
    """The checkout before the task's first attempt."""
    after: Snapshot
    """The checkout as the session left it."""

    @property
    def task(self) -> Task:
        return self.claim.task

    @property
    def unfinished(self) -> UnfinishedWork:
        return UnfinishedWork(task=self.task.id, attempt=self.session.attempt, base=self.base)


class CheckoutState:
    """The checkout that the run works in, and what the run knows about it."""

    def __init__(self, workspace: Workspace, reader: BriefDocumentReader) -> None:
        self.workspace = workspace
        self.reader = reader
        self.kept: frozenset[str] = frozenset()
        """Never committed: a person's uncommitted files at the start, and what gates dropped."""
        self.withheld: frozenset[str] = frozenset()
        """Of these, what looks like a secret that a session has left."""
        self.unfinished: UnfinishedWork | None = None
        self.conflict = ""
        """What the next session reads about work that did not fit."""
        self._snapshot: Snapshot | None = None

    def move_to(self, workspace: Workspace) -> None:
        """Work in another checkout, of which nothing is known yet."""
        self.workspace = workspace
        self.kept = self.withheld = frozenset()
        self.unfinished = None
        self.conflict = ""
        self.changed()

    def read_from(self, reader: BriefDocumentReader) -> None:
        self.reader = reader

    def snapshot(self) -> Snapshot:
        """The checkout as it is. It is taken again only after `changed`."""
        if self._snapshot is None:
            self._snapshot = self.workspace.snapshot()
        return self._snapshot

    def changed(self) -> None:
        """Something may have written to the checkout."""
        self._snapshot = None

    def committed(self, what: Snapshot, now: Snapshot | None) -> None:
        """All of a snapshot was committed; it is `now`, where that is known. If the checkout was
        that until now, it need not be taken again."""
        self._snapshot = now if self._snapshot == what else None

    def set_kept(self, paths: Collection[str]) -> None:
        self.kept = frozenset(paths)

    def keep(self, paths: Collection[str]) -> None:
        self.kept |= frozenset(paths)

    def withhold_secrets(self, paths: Collection[str]) -> None:
        """Do not commit these likely secrets."""
        self.keep(paths)
        self.withheld |= frozenset(paths)

    def leave_unfinished(self, left: UnfinishedWork) -> None:
        self.unfinished = left

    def take_unfinished(self) -> UnfinishedWork | None:
        left, self.unfinished = self.unfinished, None
        return left

    def describe_conflict(self, text: str) -> None:
        self.conflict = text


class Controls:
    """What people have asked of the run."""

    def __init__(self) -> None:
        self.stopping: str | None = None
        """Why the run is to end after this session."""
        self.stop_now = False
        self.paused = False
        self.hurry = False
        """A person wants a run that waits to go on."""
        self.skipped: dict[TaskId, str] = {}
        """Tasks that a person wants left out, and why."""

    def stop(self, why: str, *, now: bool = False) -> None:
        self.stopping = why
        self.stop_now = self.stop_now or now

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False

    def begin_wait(self) -> None:
        self.hurry = False

    def end_wait(self) -> None:
        self.hurry = True

    def skip(self, task: TaskId, why: str) -> None:
        self.skipped[task] = why

    def take_skip(self, task: TaskId) -> str:
        """Why the task is skipped; it is not asked for again."""
        return self.skipped.pop(task)


class AgentPool:
    """The agents of a run: the first of each kind works, the others replace it."""

    def __init__(
        self,
        builders: Sequence[Agent],
        verifiers: Sequence[Agent] = (),
        reviewers: Sequence[Agent] = (),
    ) -> None:
        self.builders = tuple(builders)
        self.current = builders[0]
        """The builder whose turn it is."""
        self.verifiers = tuple(verifiers)
        self.reviewers = tuple(reviewers)
        """Empty verifiers or reviewers: the current builder checks."""

    @property
    def all_agents(self) -> tuple[Agent, ...]:
        return (*self.builders, *self.verifiers, *self.reviewers)

    def switch_to(self, agent: Agent) -> None:
        self.current = agent

    def drop(self, agent: Agent) -> bool:
        """Do without an agent that only replaces others; False: it is the first of its kind."""
        kinds = (self.builders, self.verifiers, self.reviewers)
        if not any(one is agent for kind in kinds for one in kind[1:]):
            return False
        self.builders, self.verifiers, self.reviewers = (
            (*kind[:1], *(one for one in kind[1:] if one is not agent)) for kind in kinds
        )
        return True
