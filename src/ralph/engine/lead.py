"""The lead of a team: starts its workers, hears people, and lets their checkout follow."""

from collections import Counter
from typing import Final

from ralph.core.check_events import ReviewStarted
from ralph.core.errors import (
    Busy,
    NoSuchTask,
    RalphError,
    TemporaryFailure,
    UnusableData,
    UsageError,
)
from ralph.core.events import RunEnded, TaskDone, TaskFailed, TaskMoved
from ralph.core.ids import RunId, WorkerId
from ralph.core.outcome import EXIT_CODES, Outcome
from ralph.core.safe_text import one_line
from ralph.core.task import Status
from ralph.core.team_events import WorkerLeft
from ralph.engine.control import SKIPPED, STOPPED, block, heed_abort, refuse_while_aborted
from ralph.engine.gates import run_at, take_for_baseline
from ralph.engine.kit import MARKER, Kit
from ralph.engine.loop import End, Loop, broken, paused
from ralph.engine.recovery import recover
from ralph.ports.executor import Interrupted
from ralph.ports.history import Control, Word
from ralph.ports.staff import Departure, Report, Staff
from ralph.ports.trunk import Trunk

TICK_S: Final = 0.5
HANGS_S: Final = 660.0
"""Longer than any command that a worker waits for without looking up: a git may take 600 s."""
FAREWELL_S: Final = 16.0
"""How long workers have to end in good order: each of them bounds its own end a little below."""
DEATHS: Final = 5
"""A seat whose worker dies so often while the team settles nothing stays empty."""
DOCUMENTS: Final = "Where the tasks stand"
SHOWN: Final = 5

TRANSIENT: Final = Busy.exit_code
"""Of an error that may not come again: somebody else was at it, or a git was killed."""

WORST_FIRST: Final = (
    Outcome.FAILURE,
    Outcome.ERROR,
    Outcome.LIMIT_REACHED,
    Outcome.PAUSED,
    Outcome.BLOCKED,
    Outcome.INTERRUPTED,
)
"""Which worker's reason is the run's, when work is left."""

IDLE: Final = (Outcome.COMPLETE, Outcome.COMPLETE_WITH_FAILURES, Outcome.NO_PLAN, Outcome.BLOCKED)
"""Whoever leaves so could do more, if there were more."""


def run_team(kit: Kit, trunk: Trunk, staff: Staff, workers: int) -> RunEnded:
    """Run to one outcome, with this many workers; the record of it is the last event."""
    lead = Lead(kit, trunk, staff, workers)
    lead.check_ground()
    lead.start()
    try:
        report = lead.until_all_have_left()
    except TemporaryFailure as error:
        return lead.end(*paused(error))
    except RalphError as error:
        lead.end(Outcome.ERROR, str(error), error.exit_code)
        raise
    except Interrupted:
        report = _report((Outcome.INTERRUPTED, f"by {kit.interrupted()}"))
    except BaseException as error:
        lead.end(*broken(kit, error))
        raise
    return lead.end(report.outcome, report.reason, report.exit_code)


class Lead(Loop):
    """A run that works through others."""

    def __init__(self, kit: Kit, trunk: Trunk, staff: Staff, workers: int) -> None:
        super().__init__(kit)
        self.trunk = trunk
        self.staff = staff
        self.seats = [f"teammate-{number}" for number in range(1, workers + 1)]
        self.empty: dict[str, Report] = {}
        """Seats that stay empty, and why."""
        self.deaths: Counter[str] = Counter()
        self.target = kit.settings.target
        self.seq = kit.store.last_seq()
        self.mute: dict[WorkerId, float] = {}
        """Who has not renewed its lease, and since when."""
        self.behind = ""
        """Why the person's checkout does not follow."""

    def check_ground(self) -> None:
        """Before anything is recorded: is this a place where a team can work?"""
        kit = self.kit
        if kit.settings.commit == "none":
            raise UsageError(
                "several workers need commits: their work comes together in git",
                hint="leave out --no-commit, or run with one worker",
            )
        refuse_while_aborted(kit)
        self.trunk.tidy()
        dirty = [path for path in kit.workspace.snapshot().dirty if path not in kit.own]
        if dirty:
            names = ", ".join(one_line(path, 60) for path in dirty[:SHOWN])
            more = f" and {len(dirty) - SHOWN} more" if len(dirty) > SHOWN else ""
            hint = "commit it, `git stash -u` it, or ignore it; one worker would leave it alone"
            if kit.library.exists(".gitmodules"):
                # Committing one that was left behind would take back what was built in it.
                hint = f"a submodule: `git submodule update --no-fetch`; else {hint}"
            raise UnusableData(
                f"several workers start from what is committed, and this is not: {names}{more}",
                hint=hint,
            )

    def prepare(self) -> None:
        """End what dead runs have left; nothing here is anybody's unfinished work."""
        kit = self.kit
        self.secure()
        recover(kit)
        homes = {agent.traits.name: agent.traits.home for agent in kit.everyone}
        kit.homes.tidy({name: home for name, home in homes.items() if home is not None})
        kit.checkouts.tidy()
        clear_checkouts(kit, self.trunk)
        kit.memo.tidy()
        self._follow_trunk()
        if kit.views is not None:
            kit.views.begin()

    def until_all_have_left(self) -> Report:
        """Keep every seat taken while there is work; then draw the conclusion."""
        kit = self.kit
        try:
            self.prepare()
            if end := self._asked_to_stop() or self._nothing_left() or self._baseline():
                return _report(end)
            self._fill_seats()
            while self.staff.present or self._goes_on():
                kit.executor.sleep(TICK_S, self._tick)
                if self._is_over():
                    self._say_goodbye()
            return self._conclusion()
        finally:
            self.staff.close()
            self._bury_everyone()
            clear_checkouts(kit, self.trunk)
            self.trunk.tidy()
            # Said when the run ends, if there is anything to say.
            self.behind, kit.snapshot = self.trunk.follow(), None
            self._commit_documents()

    def _baseline(self) -> End | None:
        """In a checkout of its own: what gates leave behind is not the person's."""
        kit = self.kit
        if not kit.settings.gates:
            return None
        try:
            with self.trunk.look("baseline") as place:
                results = tuple(run_at(kit, gate, place) for gate in kit.settings.gates)
        except Interrupted:
            return self._asked_to_stop()
        take_for_baseline(kit, results)
        return None

    # Workers

    def _fill_seats(self) -> None:
        """Hire where a seat is free, while there is work."""
        kit = self.kit
        if self._is_over() or kit.stopping or kit.paused or not kit.store.has_open(self.target):
            return
        if kit.store.has_ready(self.target):
            # Added since somebody has left because there was nothing to do.
            self.empty = {seat: one for seat, one in self.empty.items() if one.outcome not in IDLE}
        for seat in self.seats:
            if seat not in self.staff.present and seat not in self.empty:
                self.staff.hire(seat)

    def _goes_on(self) -> bool:
        """Everybody has left: is there anything that was added meanwhile?"""
        self._follow()
        self._tick()
        return bool(self.staff.present)

    def _tick(self) -> bool:
        """Look at everything once; True: something has changed that needs more than a look."""
        kit = self.kit
        kit.look_after()
        kit.publish()
        kit.show()
        kit.sink.tick()
        self._hear()
        kit.stop_now = heed_abort(kit) or kit.stop_now
        self._catch_up()
        self._dismiss_the_mute()
        for gone in self.staff.departures():
            self._see_off(gone)
        if not self._is_over():
            self._fill_seats()
        return bool(not self.staff.present or self._is_over())

    def _see_off(self, gone: Departure) -> None:
        kit, report = self.kit, gone.report
        self._bury(gone.worker)
        if report is None or report.outcome is Outcome.INTERRUPTED or report.exit_code == TRANSIENT:
            if report is None:
                kit.record(
                    WorkerLeft(
                        run_id=kit.settings.run_id,
                        worker=gone.worker,
                        seat=gone.seat,
                        outcome=None,
                        reason=gone.reason,
                    )
                )
            self.deaths[gone.seat] += 1
            if self.deaths[gone.seat] < DEATHS:
                return
            last = report.reason if report is not None else gone.reason
            why = f"{gone.seat} has died {DEATHS} times in a row, the last time: {last}"
            # Told by itself: then nothing is wrong with the work.
            outcome = Outcome.ERROR if report is None else Outcome.PAUSED
            report = Report(outcome=outcome, reason=why, exit_code=EXIT_CODES[outcome])
        self.empty[gone.seat] = report

    def _dismiss_the_mute(self) -> None:
        """A worker that holds a task and renews no lease hangs. Counted in our own time: a machine
        that sleeps lets every lease run out."""
        kit, now = self.kit, self.kit.clock.monotonic()
        present = set(self.staff.present.values())
        mute = {
            one.task.claimed_by
            for one in kit.store.stale(kit.settings.worker)
            if one.expired and one.task.claimed_by in present
        }
        self.mute = {worker: self.mute.get(worker, now) for worker in mute if worker is not None}
        for worker, since in self.mute.items():
            if now - since > HANGS_S:
                kit.warn(f"{worker} gives no sign of life, and is ended")
                self.staff.dismiss(worker)

    def _bury(self, worker: WorkerId) -> None:
        """End what it has left running, and give back what it held."""
        self.kit.executor.sweep(f"{MARKER}={worker}")
        recover(self.kit)

    def _bury_everyone(self) -> None:
        for member in self.kit.store.crew(self.kit.settings.run_id):
            if member.seat:
                self.kit.executor.sweep(f"{MARKER}={member.worker}")
        recover(self.kit)

    def _say_goodbye(self) -> None:
        """Everybody ends in good order; whoever does not is ended."""
        self.staff.call_off()

        def all_gone() -> bool:
            self.kit.look_after()
            self.kit.publish()
            self.kit.sink.tick()
            for gone in self.staff.departures():
                self._bury(gone.worker)
                if gone.report is not None:
                    self.empty[gone.seat] = gone.report
            return not self.staff.present

        self.kit.executor.sleep(FAREWELL_S, all_gone)
        self.staff.close()

    def _is_over(self) -> bool:
        """Shall nobody work any more?"""
        kit = self.kit
        failed = any(one.outcome is Outcome.FAILURE for one in self.empty.values())
        return bool(kit.interrupted() or kit.stop_now or failed or kit.store.is_full)

    def _conclusion(self) -> Report:
        kit = self.kit
        if end := self._asked_to_stop():
            return _report(end)
        worst = sorted(
            self.empty.values(),
            key=lambda one: WORST_FIRST.index(one.outcome) if one.outcome in WORST_FIRST else 99,
        )
        if worst and worst[0].outcome is Outcome.FAILURE:
            return worst[0]
        if end := self._nothing_left():
            return _report(end)
        if worst and worst[0].outcome in WORST_FIRST:
            return worst[0]
        open_ = kit.store.counts(self.target).open
        return _report((Outcome.BLOCKED, f"{open_} open, none of them can run"))

    def end(self, outcome: Outcome, reason: str, exit_code: int) -> RunEnded:
        """With what all of them did, and where to find it if it is not where people look."""
        if self.behind:
            self.kit.warn(self.behind)
        sessions = self.kit.store.sessions(run=self.kit.settings.run_id)
        self.kit.attempts = len(sessions)
        self.kit.commits = sum(len(one.commits) for one in sessions)
        return super().end(outcome, reason, exit_code)

    # People

    def _hear(self) -> None:
        """What people say to the run is said to its workers."""
        kit = self.kit
        for control in kit.store.take_controls(kit.address):
            match control.word:
                case Word.PAUSE:
                    kit.paused = True
                    if kit.store.in_progress(self.target):
                        kit.warn("the run will pause after the sessions that are at work")
                case Word.RESUME:
                    kit.paused = False
                case Word.STOP | Word.STOP_NOW:
                    kit.stopping = STOPPED
                    kit.stop_now = kit.stop_now or control.word is Word.STOP_NOW
                case Word.SKIP:
                    self._skip(control)
                    continue
                case _:
                    pass
            for worker in self.staff.present.values():
                kit.store.forward(control, address(worker))

    def _skip(self, control: Control) -> None:
        kit, task = self.kit, control.task_id
        if task is None:
            return
        try:
            holder = kit.store.find(task).claimed_by
        except NoSuchTask:
            return
        if holder is not None and holder in self.staff.present.values():
            kit.store.forward(control, address(holder))
        else:
            block(kit, task, control.reason or SKIPPED)

    # The branch

    def _catch_up(self) -> None:
        """What has happened since the last look may be news for the person's checkout."""
        kit = self.kit
        moved = False
        while recorded := kit.store.events(after=self.seq, limit=1000):
            self.seq = recorded[-1].seq
            for one in recorded:
                moved = moved or isinstance(one.event, TaskMoved | ReviewStarted)
                if isinstance(one.event, TaskDone | TaskFailed):
                    self.deaths.clear()
        if moved:
            self._follow_trunk()
            # Ralph owns the status there, and people may have changed something.
            self._follow()

    def _commit_documents(self) -> None:
        """Between two merges, and so on top of the last one; if the person's checkout could not
        follow, they stay uncommitted."""
        kit = self.kit
        with self.trunk.turn() as is_ours:
            now = kit.workspace.snapshot()
            if not is_ours or self.behind or kit.own.isdisjoint(now.dirty):
                return
            kit.workspace.commit(
                now, now, f"{DOCUMENTS}\n\nRalph-Run: {kit.settings.run_id}\n", frozenset(), kit.own
            )
            self.trunk.tip()

    def _follow_trunk(self) -> None:
        why = self.trunk.follow()
        if why and why != self.behind:
            self.kit.warn(why)
        self.behind = why
        self.kit.snapshot = None


def clear_checkouts(kit: Kit, trunk: Trunk) -> None:
    """A worker may have died between the end of its task and that of its checkout."""
    for task in trunk.opened():
        try:
            is_open = kit.store.find(task).status in (Status.PENDING, Status.IN_PROGRESS)
        except NoSuchTask:
            is_open = False
        if not is_open:
            trunk.close(task)


def address(worker: WorkerId) -> RunId:
    """Under which a worker of a team is spoken to."""
    return RunId(worker)


def _report(end: End) -> Report:
    outcome, reason = end
    return Report(outcome=outcome, reason=reason, exit_code=EXIT_CODES[outcome])
