"""Runs, sessions, and what people say to them."""

import msgspec
from msgspec.structs import replace

from ralph.adapters.store.database import Values
from ralph.adapters.store.part import mark, reading, whole
from ralph.adapters.store.queries import Queries
from ralph.adapters.store.reviews import ReviewsPart
from ralph.adapters.store.rows import as_json, owner_of, row_of, run_of, session_of, tried_of
from ralph.core.errors import Missing
from ralph.core.events import ControlSent, Event, GuidanceDelivered, GuidanceGiven
from ralph.core.gates import GateResult
from ralph.core.ids import RunId, SessionId, TaskId, session_id
from ralph.core.outcome import Outcome
from ralph.core.role import Role
from ralph.core.tool_uses import ToolUses
from ralph.core.tried import Tried
from ralph.ports.claims import Claim
from ralph.ports.crew import Owner
from ralph.ports.history import Check, Control, Mark, Run, Session, Word
from ralph.ports.stints import Stint

SQL = Queries("history")


class HistoryPart(ReviewsPart):
    """`History` on the tables `runs`, `sessions`, `guidance` and `controls`."""

    # Runs

    @whole
    def start_run(self, run: Run, owner: Owner, lease_s: float, event: Event) -> None:
        """Record the run, its worker and its first event."""
        self.db.execute(
            SQL.start_run,
            {
                "id": run.id,
                "worker": run.worker,
                "target": run.target,
                "agent": run.agent,
                "checkout": run.checkout,
                "sandbox": run.sandbox,
                "started_at": run.started_at,
                "reason": run.reason,
                "baseline": as_json(run.baseline),
            },
        )
        self.join(run.worker, run.id, owner, lease_s, seat="")
        self.emit(event, run.id)

    @whole
    def end_run(self, run: RunId, outcome: Outcome, reason: str, event: Event) -> None:
        """Record how it ended."""
        values = {"id": run, "outcome": outcome.value, "reason": reason, "now": self.now()}
        self._must_hit(SQL.end_run, values, f"run {run}")
        self.emit(event, run)

    @whole
    def save_baseline(self, run: RunId, results: tuple[GateResult, ...]) -> None:
        """Keep what the gates said before anybody worked."""
        self._must_hit(SQL.save_baseline, {"id": run, "baseline": as_json(results)}, f"run {run}")

    def _must_hit(self, sql: str, values: Values, what: str) -> None:
        if self.db.execute(sql, values).rowcount == 0:
            raise Missing(f"there is no {what}")

    @reading
    def runs(self, limit: int = 20) -> list[Run]:
        """Newest first."""
        return [run_of(row) for row in self.db.rows(SQL.runs, {"limit": limit or -1})]

    @reading
    def run(self, run: RunId) -> Run | None:
        """The run of that id."""
        row = self.db.row(SQL.run, {"id": run})
        return None if row is None else run_of(row)

    @reading
    def live_runs(self) -> list[tuple[Run, Owner]]:
        """Runs that have not ended, with their owners."""
        found = ((run_of(row[5:]), owner_of(row[:5])) for row in self.db.rows(SQL.live_runs))
        return [(run, owner) for run, owner in found if owner is not None]

    # Sessions

    @mark
    def start_session(self, session: Session, claim: Claim, event: Event) -> None:
        """Record it, and the task's base if it has none. ClaimLost if the claim is gone."""
        self.require(claim)
        self.db.execute(SQL.save_session, row_of(session))
        # In the place of one that has handed over, it has been told nothing yet.
        self._note(session.id, session.tools)
        self.remember_base(session.task_id, session.before)
        self.emit(event, session.run_id)

    @mark
    def end_session(self, session: Session, event: Event) -> None:
        """Mark it ended: final message, ending, changes and cost, durably."""
        if self.session(session.task_id, session.attempt) is None:
            raise Missing(f"there is no session {session.id}")
        ended = replace(session, mark=Mark.ENDED, ended_at=session.ended_at or self.now())
        # A claim made over the socket, while the caller's copy grew old, is kept.
        self.db.execute(SQL.save_session, row_of(ended))
        self.book(ended, ended.id)
        self.emit(event, session.run_id)

    @mark
    def mark_session(
        self, session: SessionId, mark: Mark, gates: tuple[GateResult, ...] | None = None
    ) -> None:
        """Record how far an attempt has come."""
        values = {"id": session, "mark": mark.value, "gates": as_json(gates)}
        self._must_hit(SQL.mark_session, values, f"session {session}")

    @mark
    def add_commit(self, session: SessionId, commit: str, event: Event) -> None:
        """Ralph has committed what the session left."""
        row = self.db.row(SQL.add_commit, {"id": session, "commit": commit})
        if row is None:
            raise Missing(f"there is no session {session}")
        self.emit(event, row[0])

    @mark
    def rename_commits(self, session: SessionId, commits: tuple[str, ...]) -> None:
        """Its work was rebased: these are its commits now."""
        values = {"id": session, "commits": as_json(commits)}
        self._must_hit(SQL.rename_commits, values, f"session {session}")

    @whole
    def tell(self, session: SessionId, told: str) -> None:
        """Record a claim that the session makes over its socket."""
        self._must_hit(SQL.tell, {"id": session, "told": told}, f"session {session}")

    @whole
    def note_tools(self, session: SessionId, uses: ToolUses) -> None:
        """Record what its hooks have told of its tools."""
        self._note(session, uses)

    def _note(self, session: SessionId, uses: ToolUses) -> None:
        values = {
            "id": session,
            "tokens": uses.tokens,
            "errors": uses.errors,
            "last_error": uses.last_error,
        }
        self._must_hit(SQL.note_tools, values, f"session {session}")

    @reading
    def session(self, task: TaskId, attempt: int) -> Session | None:
        """The session of one attempt."""
        row = self.db.row(SQL.session, {"id": session_id(task, attempt)})
        return None if row is None else session_of(row)

    @reading
    def sessions(
        self, *, task: TaskId | None = None, run: RunId | None = None, limit: int = 0
    ) -> list[Session]:
        """Oldest first; with a limit the newest of them."""
        sql = SQL.sessions % self._asked(task, run)
        rows = self.db.rows(sql, {"task": task, "run": run, "limit": limit or -1})
        return [session_of(row) for row in reversed(rows)]

    @staticmethod
    def _asked(task: TaskId | None, run: RunId | None) -> str:
        conditions = ((SQL.of_task, task), (SQL.of_run, run))
        return " AND ".join(sql for sql, wanted in conditions if wanted is not None) or "true"

    @reading
    def tried(
        self, *, run: RunId | None = None, task: TaskId | None = None, limit: int
    ) -> list[Tried]:
        """The newest attempts that counted, oldest first, with what was logged about each."""
        sql = SQL.tried % self._asked(task, run)
        rows = self.db.rows(sql, {"task": task, "run": run, "limit": limit})
        return [tried_of(row) for row in reversed(rows)]

    @whole
    def save_check(self, check: Check, event: Event) -> None:
        """A check as it is now: begun, or over, with its verdict and its cost."""
        ending = check.ending
        self.db.execute(
            SQL.save_check,
            {
                "session_id": check.session_id,
                "role": check.role.value,
                "number": check.number,
                "agent": check.agent,
                "resets_at": ending.resets_at if ending else None,
                "passed": check.passed,
                "data": as_json(check),
            },
        )
        if check.role is Role.REVIEW and ending is None:
            self.db.execute(SQL.in_review, {"task": check.task_id})
        self.book(check, f"{check.session_id}/{check.role.value}-{check.number}")
        self.emit(event, check.run_id)

    @reading
    def checks(self, session: SessionId) -> list[Check]:
        """Those of one session, in order."""
        rows = self.db.rows(SQL.checks, {"session": session})
        return [msgspec.json.decode(row[0], type=Check) for row in rows]

    @mark
    def hand_over(self, stint: Stint, event: Event) -> None:
        """Archive the session of an attempt, with its cost; the attempt goes on."""
        values = {"session_id": stint.session_id, "number": stint.number, "data": as_json(stint)}
        self.db.execute(SQL.save_stint, values)
        self.book(stint, f"{stint.session_id}+{stint.number}")
        self.emit(event, stint.run_id)

    @reading
    def stints(self, session: SessionId) -> list[Stint]:
        """The sessions of an attempt that have handed over, in order."""
        rows = self.db.rows(SQL.stints, {"session": session})
        return [msgspec.json.decode(row[0], type=Stint) for row in rows]

    @reading
    def limited_until(self, agent: str) -> float | None:
        """When the allowance of an agent comes back, if it is used up."""
        values = {"agent": agent, "now": self.clock.now()}
        until: float | None = self.db.value(SQL.limited_until, values)
        return until

    @whole
    def lift_limits(self) -> None:
        """A person says that there is quota again."""
        self.db.execute(SQL.lift_limits)
        self.db.execute(SQL.lift_limits_of_checks)

    @reading
    def left_in(self, checkout: str) -> Session | None:
        """The newest session in this checkout whose task has a base and is nobody's now: its work
        lies there, unfinished."""
        row = self.db.row(SQL.left_in, {"checkout": checkout})
        return None if row is None else session_of(row)

    # People

    @whole
    def inject(self, text: str, task: TaskId | None) -> None:
        """Say something to a task's next session, or to whichever comes next."""
        if task is not None:
            self.task(task)
        self.db.execute(SQL.inject, {"task": task, "text": text, "now": self.now()})
        self.emit(GuidanceGiven(text=text, task_id=task))

    def guidance(self, task: TaskId, attempt: int) -> list[str]:
        """What people have said to this task; what is new to it is acknowledged by an event."""
        said = self._said(task)
        return (
            self._hear(task, attempt) if any(new for _, new in said) else [one for one, _ in said]
        )

    def guidance_for(self, task: TaskId) -> list[str]:
        """The same, without telling anybody."""
        return [text for text, _ in self._said(task)]

    @reading
    def _said(self, task: TaskId) -> list[tuple[str, bool]]:
        return [(text, bool(new)) for text, new in self.db.rows(SQL.guidance, {"task": task})]

    @whole
    def _hear(self, task: TaskId, attempt: int) -> list[str]:
        new = self.db.rows(SQL.hear, {"task": task, "now": self.now()})
        if new:
            self.emit(GuidanceDelivered(task_id=task, attempt=attempt, count=len(new)))
        return [text for text, _ in self.db.rows(SQL.guidance, {"task": task})]

    @whole
    def send(self, run: RunId, word: Word, task: TaskId | None = None, reason: str = "") -> None:
        """Ask something of a running loop."""
        self._ask(run, word, task, reason)
        self.emit(ControlSent(word=word.value, task_id=task, reason=reason), run)

    @whole
    def forward(self, control: Control, to: RunId) -> None:
        """Pass on what was asked of us; nobody is told again."""
        self._ask(to, control.word, control.task_id, control.reason)

    def _ask(self, run: RunId, word: Word, task: TaskId | None, reason: str) -> None:
        values = {"run": run, "word": word.value, "task": task, "reason": reason}
        self.db.execute(SQL.send, values | {"now": self.now()})

    @reading
    def is_to_stop(self, run: RunId) -> bool:
        """Has somebody asked the run to stop, whoever has heard it?"""
        return bool(self.db.value(SQL.is_to_stop, {"run": run}))

    def take_controls(self, run: RunId) -> list[Control]:
        """What was asked since the last look; each is handed out once."""
        return self._take_controls(run) if self._any_controls(run) else []

    @reading
    def _any_controls(self, run: RunId) -> bool:
        return bool(self.db.value(SQL.any_controls, {"run": run}))

    @whole
    def _take_controls(self, run: RunId) -> list[Control]:
        taken = self.db.rows(SQL.take_controls, {"run": run, "now": self.now()})
        return [
            Control(id=number, word=Word(word), task_id=task, reason=reason)
            for number, word, task, reason in sorted(taken)
        ]
