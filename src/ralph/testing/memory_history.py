"""The memory store's history: runs, sessions, what people say, and the journal."""

from msgspec.structs import asdict, replace

from ralph.core.check_events import FindingDismissed
from ralph.core.errors import Missing
from ralph.core.events import ControlSent, Event, GuidanceDelivered, GuidanceGiven, Recorded
from ralph.core.gates import GateResult
from ralph.core.ids import RunId, SessionId, TaskId
from ralph.core.outcome import Outcome
from ralph.core.review import Dismissal
from ralph.core.role import Role
from ralph.core.task import OPEN_REVIEW, Status, Task
from ralph.core.tool_uses import ToolUses
from ralph.core.tried import Judged, Tried
from ralph.ports.claims import Claim
from ralph.ports.crew import Owner
from ralph.ports.history import Check, Control, Mark, Run, Session, Word
from ralph.ports.stints import Stint
from ralph.testing.memory_claims import MemoryClaims
from ralph.testing.memory_crew import MemoryCrew
from ralph.testing.memory_state import Said, State


class MemoryHistory:
    """`History` and `Journal` on plain dicts."""

    def __init__(self, state: State, claims: MemoryClaims, crew: MemoryCrew) -> None:
        self._state = state
        self._claims = claims
        self._crew = crew

    # Runs

    def start_run(self, run: Run, owner: Owner, lease_s: float, event: Event) -> None:
        state = self._state
        with state.transaction():
            state.runs[run.id] = (run, owner)
            self._crew.join(run.worker, run.id, owner, lease_s, seat="")
            state.emit(event, run.id)

    def end_run(self, run: RunId, outcome: Outcome, reason: str, event: Event) -> None:
        state = self._state
        with state.transaction():
            old, owner = self._run(run)
            ended = replace(old, ended_at=state.now(), outcome=outcome, reason=reason)
            state.runs[run] = (ended, owner)
            state.emit(event, run)

    def save_baseline(self, run: RunId, results: tuple[GateResult, ...]) -> None:
        with self._state.transaction():
            old, owner = self._run(run)
            self._state.runs[run] = (replace(old, baseline=results), owner)

    def _run(self, run: RunId) -> tuple[Run, Owner]:
        if run not in self._state.runs:
            raise Missing(f"there is no run {run}")
        return self._state.runs[run]

    def runs(self, limit: int = 20) -> list[Run]:
        found = [run for run, _ in reversed(self._state.runs.values())]
        return found[:limit] if limit else found

    def run(self, run: RunId) -> Run | None:
        return self._state.runs[run][0] if run in self._state.runs else None

    def live_runs(self) -> list[tuple[Run, Owner]]:
        return [(run, owner) for run, owner in self._state.runs.values() if run.ended_at is None]

    # Sessions

    def start_session(self, session: Session, claim: Claim, event: Event) -> None:
        state = self._state
        with state.transaction():
            self._claims.require(claim)
            state.sessions[session.id] = session
            if session.before is not None:
                state.bases.setdefault(session.task_id, session.before)
            state.emit(event, session.run_id)

    def end_session(self, session: Session, event: Event) -> None:
        state = self._state
        with state.transaction():
            known = self._session(session.id)
            state.sessions[session.id] = replace(
                session,
                mark=Mark.ENDED,
                ended_at=session.ended_at or state.now(),
                # It came over the socket while the caller's copy grew old.
                told=known.told if session.told is None else session.told,
                tools=known.tools,
            )
            if session.ending is not None and session.ending.resets_at is not None:
                state.limits = [*state.limits, (session.agent, session.ending.resets_at)]
            state.emit(event, session.run_id)

    def mark_session(
        self, session: SessionId, mark: Mark, gates: tuple[GateResult, ...] | None = None
    ) -> None:
        with self._state.transaction():
            known = self._session(session)
            self._state.sessions[session] = replace(
                known, mark=mark, gates=known.gates if gates is None else gates
            )

    def rename_commits(self, session: SessionId, commits: tuple[str, ...]) -> None:
        with self._state.transaction():
            known = self._session(session)
            self._state.sessions[session] = replace(known, commits=commits)

    def add_commit(self, session: SessionId, commit: str, event: Event) -> None:
        with self._state.transaction():
            known = self._session(session)
            self._state.sessions[session] = replace(known, commits=(*known.commits, commit))
            self._state.emit(event, known.run_id)

    def tell(self, session: SessionId, told: str) -> None:
        with self._state.transaction():
            self._state.sessions[session] = replace(self._session(session), told=told)

    def note_tools(self, session: SessionId, uses: ToolUses) -> None:
        with self._state.transaction():
            self._state.sessions[session] = replace(self._session(session), tools=uses)

    def _session(self, session: SessionId) -> Session:
        if session not in self._state.sessions:
            raise Missing(f"there is no session {session}")
        return self._state.sessions[session]

    def session(self, task: TaskId, attempt: int) -> Session | None:
        found = (
            one
            for one in self._state.sessions.values()
            if (one.task_id, one.attempt) == (task, attempt)
        )
        return next(found, None)

    def sessions(
        self, *, task: TaskId | None = None, run: RunId | None = None, limit: int = 0
    ) -> list[Session]:
        found = [
            one
            for one in self._state.sessions.values()
            if (task is None or one.task_id == task) and (run is None or one.run_id == run)
        ]
        return found[-limit:] if limit else found

    def save_check(self, check: Check, event: Event) -> None:
        state = self._state
        with state.transaction():
            state.checks[check.session_id, check.role.value, check.number] = check
            task = state.tasks.get(check.task_id)
            is_new = check.role is Role.REVIEW and check.ending is None
            if is_new and task is not None and task.status is Status.IN_PROGRESS:
                state.tasks[task.id] = replace(task, review=OPEN_REVIEW)
            if check.ending is not None and check.ending.resets_at is not None:
                state.limits = [*state.limits, (check.agent, check.ending.resets_at)]
            state.emit(event, check.run_id)

    def checks(self, session: SessionId) -> list[Check]:
        found = [one for one in self._state.checks.values() if one.session_id == session]
        return sorted(found, key=lambda one: (one.role is Role.REVIEW, one.number))

    def reviews(self, task: TaskId) -> list[Check]:
        return [
            check
            for session in self.sessions(task=task)
            for check in self.checks(session.id)
            if check.role is Role.REVIEW and check.passed is not None
        ]

    def reviewed(self) -> list[Task]:
        return [task for one, task in self._state.tasks.items() if self.reviews(one)]

    def dismiss(self, task: TaskId, dismissal: Dismissal) -> None:
        state = self._state
        with state.transaction():
            state.node(task)
            if (task, dismissal.finding) not in state.dismissals:
                state.dismissals[task, dismissal.finding] = dismissal
                state.emit(FindingDismissed(task_id=task, **asdict(dismissal)))

    def dismissals(self, task: TaskId) -> list[Dismissal]:
        return [one for (of, _), one in sorted(self._state.dismissals.items()) if of == task]

    def hand_over(self, stint: Stint, event: Event) -> None:
        with self._state.transaction():
            self._state.stints[stint.session_id, stint.number] = stint
            self._state.emit(event, stint.run_id)

    def stints(self, session: SessionId) -> list[Stint]:
        found = self._state.stints.items()
        return [stint for (of, _), stint in sorted(found) if of == session]

    def limited_until(self, agent: str) -> float | None:
        now = self._state.clock.now()
        told = [until for one, until in self._state.limits if one == agent and until > now]
        return max(told, default=None)

    def lift_limits(self) -> None:
        self._state.limits = []

    def tried(
        self, *, run: RunId | None = None, task: TaskId | None = None, limit: int
    ) -> list[Tried]:
        return [
            Tried(
                task_id=one.task_id,
                attempt=one.attempt,
                run_id=one.run_id,
                judged=one.judged,
                ended_at=one.ended_at or "",
                strategy=one.strategy,
                tier=one.tier,
                message=one.ending.message if one.ending else "",
                notes=tuple(filter(None, (one.verdict, "\n".join(self._logged(one))))),
            )
            for one in self.sessions(task=task, run=run)
            if one.judged not in (None, Judged.RELEASED)
        ][-limit:]

    def _logged(self, session: Session) -> list[str]:
        """What the task's log says, newest first, from here until its next session."""
        later = (
            one.started_at
            for one in self._state.sessions.values()
            if one.task_id == session.task_id and one.attempt > session.attempt
        )
        end = min(later, default="~")
        return [
            entry.message[:2000]
            for entry in reversed(self._state.logs)
            if entry.task_id == session.task_id and session.started_at <= entry.timestamp < end
        ][:20]

    def left_in(self, checkout: str) -> Session | None:
        state = self._state
        for session in reversed(state.sessions.values()):
            task = state.tasks.get(session.task_id)
            if (
                session.checkout == checkout
                and task is not None
                and task.status is not Status.IN_PROGRESS
                and task.id in state.bases
            ):
                return session
        return None

    # People

    def inject(self, text: str, task: TaskId | None) -> None:
        state = self._state
        with state.transaction():
            if task is not None:
                state.node(task)
            state.guidance[state.next_number()] = Said(task=task, text=text)
            state.emit(GuidanceGiven(text=text, task_id=task))

    def guidance(self, task: TaskId, attempt: int) -> list[str]:
        state = self._state
        mine = {n: one for n, one in state.guidance.items() if one.task in (None, task)}
        new = {n: replace(one, task=task, new=False) for n, one in mine.items() if one.new}
        if new:
            with state.transaction():
                state.guidance.update(new)
                state.emit(GuidanceDelivered(task_id=task, attempt=attempt, count=len(new)))
        return [one.text for one in mine.values()]

    def guidance_for(self, task: TaskId) -> list[str]:
        return [one.text for one in self._state.guidance.values() if one.task in (None, task)]

    def send(self, run: RunId, word: Word, task: TaskId | None = None, reason: str = "") -> None:
        state = self._state
        with state.transaction():
            control = Control(id=state.next_number(), word=word, task_id=task, reason=reason)
            state.controls.append((run, control))
            state.emit(ControlSent(word=word, task_id=task, reason=reason), run)

    def forward(self, control: Control, to: RunId) -> None:
        with self._state.transaction():
            self._state.controls.append((to, control))

    def is_to_stop(self, run: RunId) -> bool:
        return any(
            isinstance(one.event, ControlSent)
            and one.run_id == run
            and one.event.word in {Word.STOP.value, Word.STOP_NOW.value}
            for one in self._state.events
        )

    def take_controls(self, run: RunId) -> list[Control]:
        state = self._state
        with state.transaction():
            taken = [control for to, control in state.controls if to == run]
            state.controls = [(to, control) for to, control in state.controls if to != run]
            return taken

    # The journal

    def record(self, event: Event, run: RunId | None = None) -> None:
        with self._state.transaction():
            self._state.emit(event, run)

    def events(self, after: int = 0, limit: int = 1000) -> list[Recorded]:
        return self._state.events[after : after + limit if limit else None]

    def last_seq(self) -> int:
        return len(self._state.events)
