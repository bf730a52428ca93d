"""A worker of a team: the same loop, with a checkout for each task and a branch that all share."""

from collections.abc import Sequence

from ralph.core.ended import Ended
from ralph.core.errors import NoSuchTask, RalphError
from ralph.core.ids import TaskId
from ralph.core.limits import Limits, spent, used_up
from ralph.core.merging import Beginning, beginning, conflict_for_brief
from ralph.core.outcome import EXIT_CODES, Outcome
from ralph.core.snapshot import Snapshot, work
from ralph.core.task import Status, Task
from ralph.core.team_events import WorkerJoined, WorkerLeft
from ralph.core.transitions import Released
from ralph.engine.control import STOPPED
from ralph.engine.gates import last_baseline
from ralph.engine.iteration import Iterated, cut_off, give_back, iterate
from ralph.engine.kit import Kit
from ralph.engine.loop import End, Loop
from ralph.engine.matter import write_file
from ralph.engine.merging import last_sessions, others
from ralph.engine.reading import Reader
from ralph.engine.relay import leave
from ralph.engine.unjudged import BEHIND_THE_SESSION, is_here
from ralph.ports.claims import Claim
from ralph.ports.executor import Interrupted
from ralph.ports.history import Mark, Session
from ralph.ports.staff import Report
from ralph.ports.trunk import Trunk


def work_along(kit: Kit, trunk: Trunk) -> Report:
    """Work until there is nothing left, or something says stop; the lead draws the conclusions."""
    teammate = Teammate(kit, trunk)
    teammate.start()
    try:
        outcome, reason = teammate.until_settled()
        report = Report(outcome=outcome, reason=reason, exit_code=EXIT_CODES[outcome])
    except RalphError as error:
        report = excuse(error)
    except Interrupted:
        why = f"by {kit.interrupted()}"
        report = Report(
            outcome=Outcome.INTERRUPTED, reason=why, exit_code=EXIT_CODES[Outcome.INTERRUPTED]
        )
    teammate.leave(report)
    return report


def excuse(error: RalphError) -> Report:
    """What an error comes to for the team."""
    hint = f" ({error.hint})" if error.hint else ""
    return Report(outcome=Outcome.ERROR, reason=f"{error}{hint}", exit_code=error.exit_code)


class CheckoutLost(Exception):
    """A session waits for its verdict, and what it did is nowhere any more."""


class Teammate(Loop):
    """One seat."""

    def __init__(self, kit: Kit, trunk: Trunk) -> None:
        super().__init__(kit)
        kit.trunk = self.trunk = trunk
        self.has_baseline = True  # the lead has taken it
        self.first_baseline = kit.baseline
        """What the gates said when the run began."""
        self.used_up = ""
        """Which limit was met when the next iteration was to begin."""

    def start(self) -> None:
        """Take the seat; the lead has made the run known."""
        kit, s = self.kit, self.kit.settings
        kit.store.join(s.worker, s.run_id, s.owner, s.lease_s, s.seat)
        kit.record(WorkerJoined(run_id=s.run_id, worker=s.worker, seat=s.seat))

    def leave(self, report: Report) -> None:
        """Say why."""
        kit, s = self.kit, self.kit.settings
        kit.look_after()
        kit.record(
            WorkerLeft(
                run_id=s.run_id,
                worker=s.worker,
                seat=s.seat,
                outcome=report.outcome,
                reason=report.reason,
            )
        )

    def prepare(self) -> None:
        """The lead has looked around."""
        self.guard.begin()

    def _asked_to_stop(self) -> End | None:
        """The lead passes on what people say; so that no session starts meanwhile, look oneself."""
        if not self.kit.stopping and self.kit.store.is_to_stop(self.kit.settings.run_id):
            self.kit.stopping = STOPPED
        return super()._asked_to_stop()

    def limit(self) -> str | None:
        """Iterations are counted for the whole team, when one begins."""
        return spent(Limits(run_s=self.kit.settings.limits.run_s), 0, self.elapsed())

    def claim(self) -> Claim | None:
        """With the number of an iteration that no other worker has."""
        kit, s = self.kit, self.kit.settings
        if kit.store.next_ready(s.target, s.schedule) is None:
            return None
        number = kit.store.begin_iteration(s.run_id, s.limits.iterations)
        if number is None:
            self.used_up = used_up(s.limits.iterations)
            return None
        taken = super().claim()
        if taken is None:
            kit.store.uncount_iteration(s.run_id)
        kit.iteration = number - 1
        return taken

    def nothing_ready(self) -> End | None:
        """The lead sees to what the dead have left."""
        if self.used_up:
            return Outcome.LIMIT_REACHED, self.used_up
        return self.wait_for_others()

    def work_on(self, taken: Claim) -> Iterated:
        """In the task's own checkout, which is gone when its work is safe."""
        kit, task = self.kit, taken.task.id
        try:
            self._move_in(taken)
        except CheckoutLost:
            gone = "its checkout is gone, and with it what its last session did"
            give_back(kit, taken, Released(gone))
            kit.store.forget_base(task)
            kit.store.uncount_iteration(kit.settings.run_id)
            return cut_off(kit)
        except Interrupted:
            give_back(kit, taken, Released("stopped before its checkout was ready"))
            kit.store.uncount_iteration(kit.settings.run_id)
            return cut_off(kit)
        except BaseException:
            give_back(kit, taken, Released("its checkout could not be made ready"))
            raise
        iterated = iterate(kit, taken)
        if not iterated.counts:
            kit.store.uncount_iteration(kit.settings.run_id)
        # Whoever claims it next finds its work in its checkout.
        kit.unfinished = None
        self._move_out(task)
        return iterated

    def _move_in(self, taken: Claim) -> None:
        kit, task = self.kit, taken.task
        # Asked first: a tip that passes more than is known here does no harm, the merge asks again.
        kit.baseline, is_there = last_baseline(kit), self.trunk.is_open(task.id)
        kit.workspace = self.trunk.open(task.id)
        if kit.library_at is not None:
            # Lessons and documents as the others have left them, and what was said of its work.
            here = kit.library_at(kit.workspace.path)
            kit.reader = Reader(here, kit.settings.guardrails)
            if kit.store.reviews(task.id):
                write_file(kit.store, here, task)
        kit.snapshot, kit.kept, kit.unfinished, kit.conflict = None, frozenset(), None, ""
        sessions = last_sessions(kit, task.id)
        if not is_there and sessions and sessions[0].mark in BEHIND_THE_SESSION:
            is_safe = sessions[0].mark is Mark.COMMITTED and self.trunk.has_kept(task.id)
            if not is_safe:
                raise CheckoutLost
        begins = beginning([one.judged for one in sessions])
        if begins is Beginning.AS_IT_IS:
            if is_there:
                # It may lack what has made a gate pass since.
                kit.baseline = self.first_baseline
            self._remember(task, sessions)
            return
        ref = f"refs/ralph/conflict/{task.id}/{sessions[0].attempt}"
        theirs: list[TaskId] = []
        if begins is Beginning.SIDE_BY_SIDE:
            theirs += self.trunk.side_by_side(task.id, ref).theirs
        else:
            self.trunk.start_over(task.id, ref)
        tip = kit.workspace.snapshot()
        # All of it is the task's, also what is in the tree already.
        kit.store.move_base(task.id, Snapshot(head=tip.head, branch=tip.branch))
        kit.conflict = conflict_for_brief(
            begins, task.reason or "", others(kit, tuple(theirs)), ref
        )

    def _remember(self, task: Task, sessions: Sequence[Session]) -> None:
        """Its last worker may have died in the middle of it: then what was seen has to do."""
        last = next(iter(sessions), None)
        if last is None or last.ending is None or not is_here(self.kit, last):
            return
        if last.ending.ended is Ended.LOST:
            leave(self.kit, last, title=task.title, why=last.ending.detail)

    def _move_out(self, task: TaskId) -> None:
        """Remove the checkout of a task that is over, or whose work others continue below it."""
        kit = self.kit
        try:
            status = kit.store.find(task).status
        except NoSuchTask:
            status = None
        if status is Status.IN_PROGRESS:
            return  # another worker has it already
        if status is not Status.PENDING or kit.store.children(task):
            self.trunk.close(task)
        elif (base := kit.store.base(task)) is not None:
            # Whoever tries it next keeps out of the way of others who are at these files.
            touched = work(kit.workspace.changes(base, kit.take_snapshot()), kit.workspace.prefix)
            kit.store.learn_files(task, touched)
