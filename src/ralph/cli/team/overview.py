"""A team at a glance, gathered at a cost that does not grow with the graph."""

import os
import time

import msgspec

from ralph.adapters.executor.identity import is_alive
from ralph.cli.living import living_runs
from ralph.cli.screen import Screen
from ralph.cli.state import count_words, run_lines
from ralph.cli.times import local, moment
from ralph.core.breaker import State as Circuit
from ralph.core.breaker import told
from ralph.core.duration import spoken
from ralph.core.events import (
    Recorded,
    RunPaused,
    RunResumed,
    RunStarted,
    RunWaiting,
    SessionStarted,
)
from ralph.core.ids import TaskId
from ralph.core.safe_text import one_line
from ralph.core.spent import Spent
from ralph.core.target import Everything
from ralph.core.task import Status, Task
from ralph.ports.claims import Counts
from ralph.ports.crew import Achieved, Member, Share
from ralph.ports.history import Mark, Run
from ralph.ports.ledger import Asked
from ralph.ports.store import Filter, Store
from ralph.ui.activity import Activity, Kind
from ralph.ui.overhearing import Stream
from ralph.ui.tables import table
from ralph.ui.team import Hand, Stage, Team
from ralph.ui.wording import many

LOOKED_AT = 2000
"""Events, the newest, that tell how far each task in hand has come."""
RUNS = 20
MOST = 200
"""Tasks in progress."""
STAGE_AT = {
    Mark.STARTED: Stage.WORKING,
    Mark.ENDED: Stage.JUDGING,
    Mark.GATED: Stage.JUDGING,
    Mark.ACCEPTED: Stage.QUEUED,
    Mark.COMMITTED: Stage.QUEUED,
}
"""Where the events that tell it are too old."""


class Worker(msgspec.Struct, frozen=True, kw_only=True):
    """A seat, and what is done there."""

    seat: str
    is_present: bool
    task: TaskId | None = None
    name: str = ""
    title: str = ""
    attempt: int = 0
    elapsed_s: float | None = None
    stage: str = ""
    doing: str = ""
    """The last that its session said or did."""
    log: str = ""
    sessions: int = 0
    accepted: int = 0
    rejected: int = 0
    breaker: str = Circuit.CLOSED.value
    reason: str = ""
    """Why it is empty, or its breaker open."""


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """What `ralph team status` knows."""

    run: Run | None = None
    is_alive: bool = False
    counts: Counts = Counts()
    workers: list[Worker] = []
    merging: str = ""
    """The seat whose work is being merged."""
    queue: list[str] = []
    """Seats whose work waits for that, whoever waits longest first."""
    merges: int = 0
    conflicts: int = 0
    deaths: int = 0
    hold: str = ""
    """Why nobody begins anything now."""
    spent: Spent = Spent()

    def without_clocks(self) -> "Overview":
        """The same, but for what changes all the time."""
        still = [msgspec.structs.replace(one, elapsed_s=None) for one in self.workers]
        return msgspec.structs.replace(self, workers=still)

    def lines(self, screen: Screen, width: int) -> list[str]:
        """As a person reads it."""
        if self.run is None:
            return ["no team of several has run yet; `ralph run --workers N` starts one"]
        living = [self.run] if self.is_alive else []
        return [
            *run_lines(living, self.run, {self.run.id: self.spent}),
            count_words(self.counts, screen),
            self._merges(),
            *([self.hold] if self.hold else []),
            "",
            *table(
                [_cells(one) for one in self.workers],
                ("WORKER", "TASK", "TRY", "FOR", "DOES", "DONE", "REJECTED", "BREAKER"),
                width=width,
                color=screen.has_colour,
            ),
            *(
                f"{one.seat}: {one_line(one.reason, 200)}"
                for one in self.workers
                if one.reason and self.is_alive
            ),
        ]

    def _merges(self) -> str:
        words = [many(self.merges, "merge"), many(self.conflicts, "conflict")]
        if self.deaths:
            words.append(f"{many(self.deaths, 'worker')} died")
        turns = [f"{self.merging} merges"] if self.merging else []
        turns += [f"waiting to merge: {', '.join(self.queue)}"] if self.queue else []
        return "; ".join([", ".join(words), *turns])


def _cells(one: Worker) -> tuple[str, ...]:
    task = f"{one.name} {one.title}" if one.task else "-"
    took = spoken(one.elapsed_s // 1).replace(".0s", "s") if one.elapsed_s is not None else ""
    return (
        one.seat,
        one_line(task, 120),
        str(one.attempt) if one.task else "",
        took,
        one_line(": ".join(filter(None, (one.stage, one.doing))), 200),
        str(one.accepted),
        str(one.rejected),
        one.breaker.replace("_", " "),
    )


def look(store: Store, root: str) -> Overview:
    """Of the team that is at work, else of the last one."""
    run, living = _the_run(store)
    if run is None:
        return Overview(counts=store.counts(Everything()))
    crew = [member for member in store.crew(run.id) if member.seat]
    achieved = store.achieved(run.id)
    newest = store.events(after=max(0, store.last_seq() - LOOKED_AT), limit=LOOKED_AT)
    recorded = [one for one in newest if one.run_id == run.id]
    team = _team(store, recorded, crew, is_alive=living)
    hold = _held(recorded) if living else ""
    merging = team.merging
    return Overview(
        run=run,
        is_alive=living,
        counts=store.counts(Everything()),
        workers=_workers(store, root, team, achieved, "waits" if hold else "waits for work"),
        merging=merging.seat if merging else "",
        queue=[hand.seat for hand in team.queue],
        merges=achieved.merges,
        conflicts=achieved.conflicts,
        deaths=achieved.deaths,
        hold=hold,
        spent=store.spent(Asked(run=run.id)),
    )


def _the_run(store: Store) -> tuple[Run | None, bool]:
    living = living_runs(store)
    for run in (*living, *store.runs(limit=RUNS)):
        if any(member.seat for member in store.crew(run.id)):
            return run, any(one.id == run.id for one in living)
    return None, False


def _held(recorded: list[Recorded]) -> str:
    """What holds up the whole team, if anything does."""
    for one in reversed(recorded):
        match one.event:
            case RunPaused(reason=reason):
                return one_line(reason, 200)
            case RunWaiting(reason=reason, until=until) if (moment(until) or 0.0) > time.time():
                return f"waits until {local(until)}: {one_line(reason, 200)}"
            case RunResumed() | RunWaiting() | SessionStarted():
                return ""
            case _:
                pass
    return ""


def _team(store: Store, newest: list[Recorded], crew: list[Member], *, is_alive: bool) -> Team:
    """From the newest events, then put right by what the store says."""
    team = Team()
    for member in crew:
        team.sit(member.worker, member.seat)
    for recorded in newest:
        if not isinstance(recorded.event, RunStarted):
            team.take(recorded)
    present = {member.worker for member in crew if is_alive and _lives(member)}
    for seat in team.seats.values():
        if seat.worker not in present:
            seat.worker = None
    held = {
        task.id: (task, team.seat_of(task.claimed_by))
        for task in store.tasks(Filter(statuses=frozenset({Status.IN_PROGRESS}), limit=MOST))
        if task.claimed_by in present
    }
    for task_id in set(team.hands) - set(held):
        del team.hands[task_id]
    for task, name in held.values():
        if task.id not in team.hands or team.hands[task.id].attempt != task.attempt:
            team.hold(_hand(store, task, name))
    return team


def _lives(member: Member) -> bool:
    return is_alive(member.owner) is not False


def _hand(store: Store, task: Task, seat: str) -> Hand:
    session = store.session(task.id, task.attempt)
    return Hand(
        task_id=task.id,
        seat=seat,
        name=one_line(task.name, 40),
        title=one_line(task.title, 300),
        attempt=task.attempt,
        since=moment(session.started_at) if session else None,
        stage=STAGE_AT.get(session.mark, Stage.JUDGING) if session else Stage.CLAIMED,
        log=session.log if session else "",
    )


def _workers(store: Store, root: str, team: Team, achieved: Achieved, idle: str) -> list[Worker]:
    now = time.time()
    breakers = store.breakers()
    shares = {share.seat: share for share in achieved.shares}
    found = []
    for seat, hand in team.rows():
        share = shares.get(seat.name, Share(seat=seat.name))
        breaker = breakers.get(seat.name)
        is_open = breaker is not None and not breaker.is_closed
        worker = Worker(
            seat=seat.name,
            is_present=seat.worker is not None,
            sessions=share.sessions,
            accepted=share.accepted,
            rejected=share.rejected,
            breaker=breaker.state.value if breaker is not None else Circuit.CLOSED.value,
            reason=told(breaker) if breaker is not None and is_open else seat.left,
            stage=idle if seat.worker is not None else "",
        )
        found.append(_busy(root, worker, hand, now) if hand else worker)
    return found


def _busy(root: str, worker: Worker, hand: Hand, now: float) -> Worker:
    speaks = hand.stage in (Stage.WORKING, Stage.CHECKING, Stage.IN_REVIEW)
    return msgspec.structs.replace(
        worker,
        task=hand.task_id,
        name=hand.name,
        title=hand.title,
        attempt=hand.attempt,
        elapsed_s=None if hand.since is None else max(0.0, now - hand.since),
        stage=hand.doing or hand.stage.value,
        doing=_last_word(os.path.join(root, hand.log)) if speaks and hand.log else "",
        log=hand.log,
    )


def _last_word(log: str) -> str:
    activity = Activity()
    for event in Stream(os.path.splitext(log)[0] + ".jsonl").more():
        activity.take(event)
    if not activity.doings:
        return ""
    last = activity.doings[-1]
    text = last.text.strip()
    if last.kind is Kind.TEXT:
        text = text.rpartition("\n")[2]
    return " ".join(filter(None, (last.tool, one_line(text, 200))))
