"""What a store promises about reviews."""

import pytest
from msgspec.structs import replace

from ralph.core.errors import ClaimLost, NoSuchTask
from ralph.core.ids import TaskId
from ralph.core.review_thread import (
    A_PERSON,
    CommentAnswer,
    Dismissal,
    Finding,
    FindingState,
    LineComment,
    LineRange,
    ReviewRound,
    ReviewVerdict,
)
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.session_events import (
    CommentAdded,
    CommentAnswered,
    FindingDismissed,
    SessionRole,
)
from ralph.core.task import TaskStatus
from ralph.core.transitions import Accepted, Postponed, Rejected
from ralph.store.sessions import Session, WorkCheck
from ralph.store.store import Store
from tests.contracts.store_test_helpers import RUN, add, begin, claim, start
from tests.doubles.clock import FrozenClock


def a_review(session: Session, **fields: object) -> WorkCheck:
    check = WorkCheck(
        session_id=session.id,
        role=SessionRole.REVIEW,
        number=1,
        task_id=session.task_id,
        run_id=RUN,
        agent="reader",
    )
    return replace(check, **fields)


def a_comment(task: TaskId, **fields: object) -> LineComment:
    comment = LineComment(
        task_id=task,
        about=task,
        attempt=1,
        lines=LineRange(path="a.py", first=1, last=2),
        excerpt="one\ntwo",
        text="why?",
        at="tree",
    )
    return replace(comment, **fields)


class ReviewsContract:
    """Needs the fixtures `store` and `clock`."""

    def test_a_task_is_in_review_until_it_is_settled(self, store: Store) -> None:
        begin(store)
        task = add(store, "a")
        held = claim(store)
        check = a_review(start(store, held))
        store.checks.save(check, held)
        assert store.tasks.find(task).review == "open"
        assert store.checks.reviewed_tasks() == []
        over = replace(check, ending=SessionEnding(ended=EndingKind.FINISHED), passed=True)
        store.checks.save(over, held)
        assert store.tasks.find(task).review == "open"
        store.claims.settle(held, Accepted(reviewed=True), message="", fail_fast=False)
        assert store.tasks.find(task).review == "passed"
        assert store.check() == []

    @pytest.mark.parametrize(
        ("transition", "review"),
        [(Rejected("no", by_reviewer=True), "failed"), (Postponed("later"), None)],
    )
    def test_nobody_reviews_what_nobody_has_in_hand(
        self, store: Store, transition: Rejected | Postponed, review: str | None
    ) -> None:
        begin(store)
        task = add(store, "a")
        held = claim(store)
        check = a_review(start(store, held))
        store.checks.save(check, held)
        store.claims.settle(held, transition, message="", fail_fast=False)
        assert store.tasks.find(task).review == review
        with pytest.raises(ClaimLost, match="task t-a is no longer held"):
            store.checks.save(check, held)
        assert store.tasks.find(task).review == review
        assert store.check() == []

    def test_reviews_are_those_with_a_verdict_behind_the_verification(self, store: Store) -> None:
        begin(store)
        task = add(store, "a")
        held = claim(store)
        session = start(store, held)
        lost = a_review(session, ending=SessionEnding(ended=EndingKind.LOST))
        said = ReviewRound(round=1, word=ReviewVerdict.PASS, findings=(Finding(id="F1", text="a"),))
        review = a_review(
            session,
            number=2,
            passed=True,
            review=said,
            ending=SessionEnding(ended=EndingKind.FINISHED),
        )
        other = replace(review, role=SessionRole.VERIFY, number=1, review=None)
        for one in (review, lost, other):
            store.checks.save(one, held)
        assert store.checks.of_session(session.id) == [other, lost, review]
        assert store.checks.reviews(task) == [review]
        assert store.checks.reviewed_tasks() == [store.tasks.find(task)]

    def test_a_finding_is_dismissed_once(self, store: Store) -> None:
        task = add(store, "a")
        first = Dismissal(finding="F1", reason="on purpose", by="a person")
        store.checks.dismiss_finding(task, first)
        store.checks.dismiss_finding(task, replace(first, reason="something else"))
        assert store.checks.dismissals(task) == [first]
        recorded = [
            one.event for one in store.events.select() if isinstance(one.event, FindingDismissed)
        ]
        assert [one.reason for one in recorded] == ["on purpose"]
        store.tasks.delete(task)
        assert store.checks.dismissals(task) == []
        with pytest.raises(NoSuchTask, match="there is no task t-ffffff"):
            store.checks.dismiss_finding(TaskId("t-ffffff"), first)

    def test_a_persons_word_about_a_finding_replaces_a_sessions(self, store: Store) -> None:
        task = add(store, "a")
        for by in ("attempt 1", A_PERSON, "attempt 2"):
            store.checks.dismiss_finding(task, Dismissal(finding="F1", reason=by, by=by))
        assert [one.reason for one in store.checks.dismissals(task)] == [A_PERSON]

    def test_comments_go_to_the_task_and_a_failed_one_is_tried_again(self, store: Store) -> None:
        task = add(store, "a")
        store.tasks.force_failed(task, "no")
        held, made = store.reviews.comment(task, [a_comment(task), a_comment(task, text="b")])
        assert (held.id, held.status) == (task, TaskStatus.PENDING)
        assert [one.finding for one in made] == ["F1", "F2"]
        assert store.reviews.comments_about(task) == made
        assert store.reviews.thread(task).comments == tuple(made)
        assert store.checks.reviewed_tasks() == [store.tasks.find(task)]
        (more,) = store.reviews.comment(task, [a_comment(task)])[1]
        assert more.finding == "F3"
        store.tasks.delete(task)
        assert store.reviews.comments_about(task) == []
        assert store.check() == []

    def test_comments_on_a_done_task_go_to_one_that_follows_up(
        self, store: Store, clock: FrozenClock
    ) -> None:
        parent = add(store, "all")
        task = add(store, "a", under=parent, priority=3)
        store.tasks.force_done(task)
        follow_up, (first,) = store.reviews.comment(task, [a_comment(task)])
        assert store.tasks.find(task).status is TaskStatus.DONE
        assert (follow_up.parent_id, follow_up.priority) == (parent, 3)
        assert not follow_up.needs_change
        assert store.tasks.find(parent).status is TaskStatus.PENDING
        assert (first.task_id, first.about, first.finding) == (follow_up.id, task, "F1")
        again, (second,) = store.reviews.comment(task, [a_comment(task)])
        assert (again.id, second.finding) == (follow_up.id, "F2")
        store.tasks.force_done(follow_up.id)
        clock.advance(1)
        later, (third,) = store.reviews.comment(task, [a_comment(task)])
        assert later.id not in (task, follow_up.id)
        assert store.reviews.comments_about(task) == [first, second, third]
        on_follow_up, _ = store.reviews.comment(follow_up.id, [a_comment(follow_up.id)])
        assert on_follow_up.id not in (task, follow_up.id, later.id)
        assert store.check() == []

    def test_what_an_attempt_does_about_a_comment_is_recorded(
        self, store: Store, clock: FrozenClock
    ) -> None:
        task = add(store, "a")
        (comment,) = store.reviews.comment(task, [a_comment(task)])[1]
        lines = LineRange(path="b.py", first=3, last=4)
        answer = CommentAnswer(state=FindingState.ADDRESSED, attempt=2, lines=lines, text="x\ny")
        store.reviews.answer(comment, answer, 2)
        (known,) = store.reviews.comments_about(task)
        assert (known.answer, known.state) == (answer, FindingState.ADDRESSED)
        assert store.reviews.thread(task).open_findings == ()
        store.reviews.answer(comment, None, 3)
        assert store.reviews.comments_about(task) == [comment]
        store.checks.dismiss_finding(task, Dismissal(finding="F1", reason="no", by="attempt 4"))
        (known,) = store.reviews.thread(task).comments
        assert known.state is FindingState.DISPUTED
        recorded = [one.event for one in store.events.select()][-4:]
        assert recorded[0] == CommentAdded(
            task_id=task, about=task, finding="F1", lines=comment.lines, text="why?"
        )
        states = [one.state for one in recorded if isinstance(one, CommentAnswered)]
        assert states == [FindingState.ADDRESSED, FindingState.OPEN]
