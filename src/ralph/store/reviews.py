"""Review threads: what reviewers found, what was dismissed, and people's comments on lines."""

from collections.abc import Sequence

from msgspec.structs import replace

from ralph.core.ids import TaskId
from ralph.core.json_text import decode
from ralph.core.line_comments import follow_up_of
from ralph.core.review_thread import (
    CommentAnswer,
    Dismissal,
    FindingState,
    LineComment,
    ReviewThread,
)
from ralph.core.session_events import CommentAdded, CommentAnswered
from ralph.core.task import Task, TaskStatus
from ralph.store.checks import Checks
from ralph.store.claims import Claim, Claims
from ralph.store.database import Database, Part, transaction
from ralph.store.rows import Row, as_json, value_of
from ralph.store.tasks import Tasks


class Reviews(Part):
    file = "reviews"

    def __init__(self, db: Database, tasks: Tasks, claims: Claims, checks: Checks) -> None:
        super().__init__(db)
        self._tasks = tasks
        self._claims = claims
        self._checks = checks

    def thread(self, task: TaskId) -> ReviewThread:
        """All that was found in the work of a task, and what became of it."""
        rounds = (one.review for one in self._checks.reviews(task))
        return ReviewThread(
            rounds=tuple(one for one in rounds if one is not None),
            dismissals=tuple(self._checks.dismissals(task)),
            comments=tuple(
                _comment(row) for row in self.db.rows(self.sql.comments, {"task": task})
            ),
        )

    def comments_about(self, task: TaskId) -> list[LineComment]:
        """The comments on a task's change, whichever task answers them, and those that it has to
        answer; oldest first."""
        return [_comment(row) for row in self.db.rows(self.sql.comments_about, {"task": task})]

    @transaction
    def comment(
        self, about: TaskId, comments: Sequence[LineComment]
    ) -> tuple[Task, list[LineComment]]:
        """Add comments on a task's change to the thread of the task that answers them: itself, or a
        follow-up if it is done. A failed one gets a fresh set of tries. Returns that task, and the
        comments with their names."""
        task = self._answering(self.task(about))
        number, added = self.thread(task.id).next_number, []
        for at, one in enumerate(comments, number):
            made = replace(
                one, finding=f"F{at}", task_id=task.id, about=about, made_at=self.db.now()
            )
            columns = {
                name: getattr(made, name) for name in ("finding", "task_id", "about", "made_at")
            }
            self.db.execute(self.sql.comment_on, columns | {"data": as_json(made)})
            self.emit(
                CommentAdded(
                    task_id=task.id,
                    about=about,
                    finding=made.finding,
                    lines=made.lines,
                    text=made.text,
                )
            )
            added.append(made)
        if task.status is TaskStatus.FAILED:
            task = self._tasks.retry(task.id)
        return task, added

    def _answering(self, about: Task) -> Task:
        if about.status is not TaskStatus.DONE:
            return about
        for row in self.db.rows(self.sql.follow_ups, {"task": about.id}):
            if (task := self.task(row[0])).status is not TaskStatus.DONE:
                return task
        return self._tasks.add(follow_up_of(about))

    @transaction
    def answer(
        self,
        comment: LineComment,
        answer: CommentAnswer | None,
        attempt: int,
        claim: Claim | None = None,
    ) -> None:
        """Record what an attempt has done about a comment; None: nothing, or no longer. ClaimLost
        if the claim of its worker is gone."""
        if claim is not None:
            self._claims.require(claim)
        values = {"task": comment.task_id, "finding": comment.finding, "answer": as_json(answer)}
        if self.db.execute(self.sql.answer, values):
            self.emit(
                CommentAnswered(
                    task_id=comment.task_id,
                    finding=comment.finding,
                    attempt=attempt,
                    state=answer.state if answer else FindingState.OPEN,
                    lines=answer.lines if answer else None,
                )
            )


def _comment(row: Row) -> LineComment:
    data, answer, *dismissal = row
    comment: LineComment = decode(data, LineComment)
    return replace(
        comment,
        answer=None if answer is None else decode(answer, CommentAnswer),
        dismissal=None if dismissal[0] is None else value_of(Dismissal, dismissal),
    )
