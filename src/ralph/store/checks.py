"""Sessions that check the work of others (verifications and reviews), and dismissed findings."""

from typing import Any

import msgspec

from ralph.core.events import Event
from ralph.core.ids import SessionId, TaskId
from ralph.core.review_thread import Dismissal
from ralph.core.safe_text import one_line
from ralph.core.session_events import (
    FindingDismissed,
    ReviewEnded,
    ReviewStarted,
    SessionRole,
    VerificationEnded,
    VerificationStarted,
)
from ralph.core.task import Task
from ralph.store.claims import Claim, Claims
from ralph.store.database import Database, Part, transaction
from ralph.store.rows import as_json
from ralph.store.sessions import Sessions, WorkCheck


class Checks(Part):
    file = "checks"

    def __init__(self, db: Database, claims: Claims, sessions: Sessions) -> None:
        super().__init__(db)
        self._claims = claims
        self._sessions = sessions

    def save(self, check: WorkCheck, claim: Claim, account: str = "") -> None:
        """Record a check as it is now: begun (`account`: who pays), or over, with its verdict and
        its cost. When its review begins, a task in progress is in review. ClaimLost if the claim
        is gone; its cost counts all the same."""
        name = f"{check.session_id}/{check.role.value}-{check.number}"
        with self._sessions.booking_cost(check, name):
            self._save(check, name, claim, _event_of(check, account))

    @transaction
    def _save(self, check: WorkCheck, name: str, claim: Claim, event: Event) -> None:
        self._claims.require(claim)
        ending = check.ending
        self.db.execute(
            self.sql.save_check,
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
        if check.role is SessionRole.REVIEW and ending is None:
            self.db.execute(self.sql.in_review, {"task": check.task_id})
        self._sessions.book_cost(check, name)
        self.emit(event, check.run_id)

    def of_session(self, session: SessionId) -> list[WorkCheck]:
        """The checks of one session, in order: reviews last."""
        return self.decoded(WorkCheck, self.sql.checks, {"session": session})

    def reviews(self, task: TaskId) -> list[WorkCheck]:
        """The reviews of a task that came to a verdict, of all attempts, oldest first."""
        return self.decoded(WorkCheck, self.sql.reviews, {"task": task})

    def reviewed_tasks(self) -> list[Task]:
        """The tasks that have such a review or a person's comment, oldest first."""
        return self.tasks_of(self.sql.reviewed)

    @transaction
    def dismiss_finding(
        self, task: TaskId, dismissal: Dismissal, claim: Claim | None = None
    ) -> None:
        """Do not raise this finding again. The first dismissal of a finding is kept, unless it is a
        session's and a person decides. ClaimLost if a session dismisses it whose claim is gone."""
        self.task(task)
        if claim is not None:
            self._claims.require(claim)
        values = msgspec.structs.asdict(dismissal)
        if self.db.row(self.sql.dismiss, {"task": task, **values}) is not None:
            self.emit(FindingDismissed(task_id=task, **values))

    def dismissals(self, task: TaskId) -> list[Dismissal]:
        """All of a task, in the order of the findings' ids."""
        return self.values(Dismissal, self.sql.dismissals, {"task": task})


def _event_of(check: WorkCheck, account: str) -> Event:
    is_review, ending, said = check.role is SessionRole.REVIEW, check.ending, check.review
    fields: dict[str, Any] = {
        name: getattr(check, name) for name in ("session_id", "task_id", "number")
    }
    if ending is None:
        fields |= {"agent": check.agent, "account": account, "model": check.model, "log": check.log}
        return ReviewStarted(**fields) if is_review else VerificationStarted(**fields)
    fields |= {
        "passed": check.passed,
        "reason": one_line(check.reason or ending.detail, 300),
        "ended": ending.ended,
        "duration_s": round(check.duration_s, 3),
        "cost_usd": ending.cost_usd,
        "estimated": ending.estimated,
    }
    if not is_review or said is None:
        return ReviewEnded(**fields) if is_review else VerificationEnded(**fields)
    word, findings = said.word or "", len(said.findings)
    return ReviewEnded(
        **fields, round=said.round, word=word, summary=said.summary, findings=findings
    )
