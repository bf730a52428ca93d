"""Sessions: how far each attempt has come, the hand-offs between sessions, and their costs."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Final

import msgspec
from msgspec.structs import asdict, replace

from ralph.core.brief_sections import SectionUsage
from ralph.core.errors import ClaimLost, Missing
from ralph.core.events import Event, SessionStarted
from ralph.core.gates import GateResult
from ralph.core.ids import RunId, SessionId, TaskId, WorkerId, session_id
from ralph.core.json_text import decode
from ralph.core.review_thread import ReviewRound
from ralph.core.safe_text import one_line
from ralph.core.session_ending import SessionEnding
from ralph.core.session_events import SessionRole
from ralph.core.session_output import ToolUsage
from ralph.core.snapshot import Snapshot
from ralph.core.verdict import AttemptRecord, AttemptVerdict
from ralph.store.claims import Claim, Claims
from ralph.store.database import Database, Part, synced_transaction, transaction
from ralph.store.rows import Row, as_json, columns_of, conjunction, value_of

LONGEST_MODEL_NAME: Final = 200
JSON_COLUMNS: Final = ("before", "after", "ending", "gates", "commits", "given", "tools")


class Checkpoint(StrEnum):
    """How far an attempt has come, stored durably: after a crash Ralph goes on there."""

    STARTED = "started"
    ENDED = "ended"
    """The session is over; its final message is kept."""
    GATED = "gated"
    """The gates have run; their results are kept."""
    ACCEPTED = "accepted"
    """It counts; only committing, merging and settling are left."""
    COMMITTED = "committed"
    """And is committed, in a checkout whose work is to be merged."""
    SETTLED = "settled"


class Session(msgspec.Struct, frozen=True, kw_only=True):
    id: SessionId
    task_id: TaskId
    attempt: int
    run_id: RunId
    worker: WorkerId
    agent: str
    model: str = ""
    """What was asked for; `ending.model` is what it ran on. Empty was the agent's own choice."""
    tier: str = ""
    """haiku, sonnet or opus, where that is what was chosen."""
    strategy: str = ""
    """By which it was chosen."""
    checkout: str = ""
    """The project's directory in the checkout where it worked."""
    log: str = ""
    started_at: str = ""
    ended_at: str | None = None
    checkpoint: Checkpoint = Checkpoint.STARTED
    before: Snapshot | None = None
    """The checkout when the session began."""
    after: Snapshot | None = None
    ending: SessionEnding | None = None
    socket_claim: str | None = None
    """A claim made over the session's socket."""
    gates: tuple[GateResult, ...] = ()
    commits: tuple[str, ...] = ()
    """Its own, and what Ralph has committed of its work."""
    duration_s: float = 0.0
    verdict: str = ""
    """What was decided about it, for people."""
    judged: AttemptVerdict | None = None
    """And in a word."""
    given: tuple[SectionUsage, ...] = ()
    """What its brief held."""
    tools: ToolUsage = ToolUsage()
    """What its hooks tell of its tools, while it works."""


class SessionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A session beside the one that counts for its attempt: an earlier part of it, or a check."""

    session_id: SessionId
    """The one that counts."""
    number: int
    """The first, or one more after the one before has handed over or came to no verdict."""
    task_id: TaskId
    run_id: RunId
    agent: str
    model: str = ""
    log: str = ""
    started_at: str = ""
    ended_at: str | None = None
    ending: SessionEnding | None = None
    reason: str = ""
    """Why it handed over, or for its verdict."""
    duration_s: float = 0.0


class SessionSegment(SessionRecord, frozen=True, kw_only=True):
    """The part of an attempt that one session worked on before it handed over to the next."""

    memory: str = ""
    """What it has left to the next one."""


class WorkCheck(SessionRecord, frozen=True, kw_only=True):
    """A verification or a review of another session's work."""

    role: SessionRole = SessionRole.VERIFY
    """What is looked for."""
    passed: bool | None = None
    """None: no verdict, yet or at all."""
    given: tuple[SectionUsage, ...] = ()
    """What its brief held."""
    review: ReviewRound | None = None
    """What a reviewer says, where it is one."""


class Sessions(Part):
    file = "sessions"

    def __init__(self, db: Database, claims: Claims) -> None:
        super().__init__(db)
        self._claims = claims

    @synced_transaction
    def start(self, session: Session, claim: Claim) -> None:
        """Record it, and the task's base if it has none. ClaimLost if the claim is gone."""
        started = SessionStarted(
            session_id=session.id,
            task_id=session.task_id,
            title=claim.task.title,
            attempt=session.attempt,
            agent=session.agent,
            model=session.model,
            log=session.log,
        )
        self._claims.require(claim)
        self._save(session)
        # In the place of one that has handed over, its brief is not known yet.
        self.save_tool_usage(session.id, session.tools, claim)
        self._claims.remember_base(session.task_id, session.before, claim)
        self.emit(started, session.run_id)

    def end(self, session: Session, claim: Claim, event: Event) -> None:
        """Mark it ended: final message, ending, changes and cost, durably. ClaimLost if another
        worker has taken over the attempt; its cost counts all the same."""
        with self.booking_cost(session, session.id):
            self._end(session, claim, event)

    @synced_transaction
    def _end(self, session: Session, claim: Claim, event: Event) -> None:
        if self.get(session.task_id, session.attempt) is None:
            raise Missing(f"there is no session {session.id}")
        self._require_open(session.id, claim)
        ended = replace(
            session, checkpoint=Checkpoint.ENDED, ended_at=session.ended_at or self.db.now()
        )
        # A claim made over the socket, while the caller's copy grew old, is kept.
        self._save(ended)
        self.book_cost(ended, ended.id)
        self.emit(event, session.run_id)

    def _require_open(self, session: SessionId, claim: Claim) -> None:
        """Raise ClaimLost if the end of the session is on record, or if another worker has taken
        over its attempt: then that one writes about it."""
        is_over = self.db.value(self.sql.is_over, {"id": session})
        if is_over or self._claims.is_taken_over(claim):
            raise ClaimLost(f"session {session} is over for {claim.worker}")

    def _save(self, session: Session) -> None:
        resets_at = session.ending.resets_at if session.ending else None
        self.db.execute(self.sql.save_session, columns_of(session) | {"resets_at": resets_at})

    @synced_transaction
    def save_checkpoint(
        self,
        session: SessionId,
        reached: Checkpoint,
        claim: Claim,
        gates: tuple[GateResult, ...] | None = None,
    ) -> None:
        """The claim may be a later one: its worker judges what this session left."""
        self._claims.require(claim)
        values = {"id": session, "checkpoint": reached.value, "gates": as_json(gates)}
        self.change_one(self.sql.save_checkpoint, values, f"session {session}")

    @synced_transaction
    def leave_unjudged(self, session: Session) -> None:
        """The session gets no verdict. ClaimLost if a worker holds its task."""
        self._claims.require_writable(session.task_id, None)
        values = {"id": session.id, "checkpoint": Checkpoint.SETTLED.value, "gates": None}
        self.change_one(self.sql.save_checkpoint, values, f"session {session.id}")

    @synced_transaction
    def add_commit(self, session: SessionId, commit: str, claim: Claim, event: Event) -> None:
        """Record a commit that Ralph made of the session's work."""
        self._claims.require(claim)
        row = self.db.row(self.sql.add_commit, {"id": session, "commit": commit})
        if row is None:
            raise Missing(f"there is no session {session}")
        self.emit(event, row[0])

    @synced_transaction
    def replace_commits(self, session: SessionId, commits: tuple[str, ...], claim: Claim) -> None:
        self._claims.require(claim)
        values = {"id": session, "commits": as_json(commits)}
        self.change_one(self.sql.replace_commits, values, f"session {session}")

    @transaction
    def save_socket_claim(self, session: SessionId, said: str, claim: Claim) -> None:
        self._require_open(session, claim)
        values = {"id": session, "socket_claim": said}
        self.change_one(self.sql.save_socket_claim, values, f"session {session}")

    @transaction
    def save_tool_usage(self, session: SessionId, uses: ToolUsage, claim: Claim) -> None:
        """Record the session's tool use so far; its end does not change it."""
        self._require_open(session, claim)
        values = {"id": session, **asdict(uses)}
        self.change_one(self.sql.save_tool_usage, values, f"session {session}")

    @contextmanager
    def booking_cost(self, session: Session | SessionRecord, name: str) -> Iterator[None]:
        """What a session has cost counts also if its claim is lost."""
        try:
            yield
        except ClaimLost:
            self.db.write(lambda: self.book_cost(session, name))
            raise

    def book_cost(self, session: Session | SessionRecord, name: str) -> None:
        """Record what a session has cost that has just ended."""
        ending = session.ending
        if ending is None:
            return
        values = asdict(session) | asdict(ending) | {"session_id": name}
        values["model"] = one_line(ending.model or session.model, LONGEST_MODEL_NAME)
        values["ended_at"] = session.ended_at or self.db.now()
        self.db.execute(self.sql.book_cost, values)

    def get(self, task: TaskId, attempt: int) -> Session | None:
        row = self.db.row(self.sql.session, {"id": session_id(task, attempt)})
        return None if row is None else session_of(row)

    def select(
        self, *, task: TaskId | None = None, run: RunId | None = None, limit: int = 0
    ) -> list[Session]:
        """Oldest first; with a limit the newest of them."""
        sql = self.sql.sessions % self._asked(task, run)
        rows = self.db.rows(sql, {"task": task, "run": run, "limit": self.db.limit(limit)})
        return [session_of(row) for row in reversed(rows)]

    def _asked(self, task: TaskId | None, run: RunId | None) -> str:
        return conjunction({self.sql.of_task: task, self.sql.of_run: run})

    def attempt_records(
        self, *, run: RunId | None = None, task: TaskId | None = None, limit: int
    ) -> list[AttemptRecord]:
        """The newest attempts that counted (all but the released), oldest first, each with what was
        logged about it before the task's next one began."""
        sql = self.sql.attempt_records % self._asked(task, run)
        rows = self.db.rows(sql, {"task": task, "run": run, "limit": limit})
        return [attempt_of(row) for row in reversed(rows)]

    def save_segment(self, segment: SessionSegment, claim: Claim, event: Event) -> None:
        """Archive the session of an attempt; the attempt goes on. ClaimLost if the claim is gone;
        its cost counts all the same."""
        name = f"{segment.session_id}+{segment.number}"
        with self.booking_cost(segment, name):
            self._save_segment(segment, name, claim, event)

    @synced_transaction
    def _save_segment(self, segment: SessionSegment, name: str, claim: Claim, event: Event) -> None:
        self._claims.require(claim)
        self.db.execute(self.sql.save_segment, asdict(segment) | {"data": as_json(segment)})
        self.book_cost(segment, name)
        self.emit(event, segment.run_id)

    def segments(self, session: SessionId) -> list[SessionSegment]:
        """The sessions of an attempt that have handed over, in order."""
        return self.decoded(SessionSegment, self.sql.segments, {"session": session})

    def usage_limit_until(self, agent: str) -> float | None:
        """When an agent's usage limit resets, if a session reached it and that is ahead."""
        values = {"agent": agent, "now": self.db.clock()}
        until: float | None = self.db.value(self.sql.limited_until, values)
        return until

    @transaction
    def clear_usage_limits(self) -> None:
        """Forget the usage limits: a user reports that there is quota again."""
        self.db.execute(self.sql.lift_limits)
        self.db.execute(self.sql.lift_limits_of_checks)

    def unfinished_in(self, checkout: str) -> Session | None:
        """The newest session in this checkout whose task has a base and is not claimed: its
        unfinished work is there."""
        row = self.db.row(self.sql.left_in, {"checkout": checkout})
        return None if row is None else session_of(row)

    def count(self) -> int:
        return int(self.db.value(self.sql.count))


def session_of(row: Row) -> Session:
    """A row of the `{session_columns}`."""
    return value_of(Session, row, json=JSON_COLUMNS)


def attempt_of(row: Row) -> AttemptRecord:
    """A row of the query `attempt_records`."""
    *facts, ending, verdict, log = row
    message = "" if ending is None else decode(ending, SessionEnding).message
    return value_of(AttemptRecord, (*facts, message, tuple(filter(None, (verdict, log)))))
