"""What a store promises about reviews."""

import pytest
from msgspec.structs import replace

from ralph.core.check_events import FindingDismissed, ReviewEnded, ReviewStarted
from ralph.core.ended import Ended
from ralph.core.ending import Ending
from ralph.core.errors import NoSuchTask
from ralph.core.ids import TaskId
from ralph.core.review import Dismissal, Finding, Review, Word
from ralph.core.role import Role
from ralph.core.transitions import Accepted, Postponed, Rejected
from ralph.ports.history import Check, Session
from ralph.ports.store import Store
from ralph.testing.store_words import RUN, add, begin, claim, start


def a_review(session: Session, **fields: object) -> Check:
    check = Check(
        session_id=session.id,
        role=Role.REVIEW,
        number=1,
        task_id=session.task_id,
        run_id=RUN,
        agent="reader",
    )
    return replace(check, **fields)


def started(check: Check) -> ReviewStarted:
    return ReviewStarted(
        session_id=check.session_id,
        task_id=check.task_id,
        number=1,
        agent="reader",
        account="",
        log="",
    )


def ended(check: Check) -> ReviewEnded:
    return ReviewEnded(
        session_id=check.session_id, task_id=check.task_id, number=1, passed=check.passed
    )


class ReviewsContract:
    """Needs the fixtures `store` and `clock`."""

    def test_a_task_is_in_review_until_it_is_settled(self, store: Store) -> None:
        begin(store)
        task = add(store, "a")
        held = claim(store)
        check = a_review(start(store, held))
        store.save_check(check, started(check))
        assert store.find(task).review == "open"
        assert store.reviewed() == []
        over = replace(check, ending=Ending(ended=Ended.FINISHED), passed=True)
        store.save_check(over, ended(over))
        assert store.find(task).review == "open"
        store.settle(held, Accepted(reviewed=True), message="", fail_fast=False)
        assert store.find(task).review == "passed"
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
        store.save_check(check, started(check))
        store.settle(held, transition, message="", fail_fast=False)
        assert store.find(task).review == review
        store.save_check(check, started(check))
        assert store.find(task).review == review
        assert store.check() == []

    def test_reviews_are_those_with_a_verdict_behind_the_verification(self, store: Store) -> None:
        begin(store)
        task = add(store, "a")
        session = start(store, claim(store))
        lost = a_review(session, ending=Ending(ended=Ended.LOST))
        said = Review(round=1, word=Word.PASS, findings=(Finding(id="F1", text="a"),))
        told = a_review(
            session, number=2, passed=True, review=said, ending=Ending(ended=Ended.FINISHED)
        )
        other = replace(told, role=Role.VERIFY, number=1, review=None)
        for one in (told, lost, other):
            store.save_check(one, ended(one))
        assert store.checks(session.id) == [other, lost, told]
        assert store.reviews(task) == [told]
        assert store.reviewed() == [store.find(task)]

    def test_a_finding_is_dismissed_once(self, store: Store) -> None:
        task = add(store, "a")
        first = Dismissal(finding="F1", reason="on purpose", by="a person")
        store.dismiss(task, first)
        store.dismiss(task, replace(first, reason="something else"))
        assert store.dismissals(task) == [first]
        told = [one.event for one in store.events() if isinstance(one.event, FindingDismissed)]
        assert [one.reason for one in told] == ["on purpose"]
        store.delete_task(task)
        assert store.dismissals(task) == []
        with pytest.raises(NoSuchTask):
            store.dismiss(TaskId("t-ffffff"), first)
