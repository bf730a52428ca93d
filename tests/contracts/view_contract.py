"""What screens show of a project, whatever the store."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from ralph.core.breaker import Breaker, BreakerCause, BreakerState
from ralph.core.events import RunPaused, SessionEnded, Warned
from ralph.core.gates import GateResult
from ralph.core.ids import TaskId
from ralph.core.review_thread import Dismissal, ReviewRound, ReviewVerdict
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.session_events import SessionRole
from ralph.core.settings import BreakerSection, BudgetSection
from ralph.core.snapshot import Snapshot
from ralph.core.times import to_iso
from ralph.core.transitions import (
    Accepted,
    Blocked,
    Conflicted,
    GaveUp,
    Rejected,
    Released,
    Struck,
    Transition,
)
from ralph.store.claims import Counts
from ralph.store.sessions import Checkpoint, Session, WorkCheck
from ralph.store.store import Store
from ralph.ui.attempt_view import EvidenceStep, chain_text
from ralph.ui.needs import NeedAction, NeedKind, WaitingPlan
from ralph.ui.project_view import ProjectView
from tests.contracts.store_test_helpers import (
    RUN,
    Contract,
    add,
    begin,
    claim,
    fail,
    settle,
    start,
)
from tests.doubles.clock import FrozenClock

GREEN = GateResult(name="test", passed=True, code=0)
RED = GateResult(name="test", passed=False, code=1)


def attempt(
    store: Store,
    clock: FrozenClock,
    transition: Transition | None = None,
    *,
    ending: EndingKind = EndingKind.FINISHED,
    message: str = "",
    gates: tuple[GateResult, ...] = (),
    checks: tuple[tuple[SessionRole, dict[str, Any]], ...] = (),
    **fields: Any,
) -> Session:
    """An attempt at the next task: its session takes a minute and commits."""
    taken = claim(store)
    session = start(store, taken, started_at=to_iso(clock.now()))
    clock.advance(60)
    about: dict[str, Any] = {
        "after": Snapshot(head="c1"),
        "commits": ("abcdef0123456789",),
        "duration_s": 60.0,
        "ended_at": to_iso(clock.now()),
        "ending": SessionEnding(ended=ending, cost_usd=0.5, message=message),
    }
    session = replace(session, **(about | fields))
    event = SessionEnded(session_id=session.id, task_id=session.task_id, ended=ending)
    store.sessions.end(session, taken, event)
    if gates:
        store.sessions.save_checkpoint(session.id, Checkpoint.GATED, taken, gates)
    for number, (role, values) in enumerate(checks, 1):
        check = WorkCheck(
            session_id=session.id,
            number=number,
            task_id=session.task_id,
            run_id=RUN,
            agent="checker",
            role=role,
            started_at=to_iso(clock.now()),
            ended_at=to_iso(clock.now()),
            ending=SessionEnding(ended=EndingKind.FINISHED),
            **values,
        )
        store.checks.save(check, taken)
    settle(store, taken, transition or Accepted())
    return session


class ViewTests(Contract):
    @pytest.fixture
    def view(self, store: Store, clock: FrozenClock) -> ProjectView:
        return ProjectView(
            store,
            "/x",
            is_alive=lambda _: True,
            now=clock.now,
            budget=BudgetSection(),
            breaker=BreakerSection(),
            plans=lambda: [WaitingPlan(name="shop", path="plan.md", approve="ralph go")],
        )


class ViewContract(ViewTests):
    def chain(self, view: ProjectView, task: TaskId) -> str:
        (one,) = view.attempts(task)
        assert [each.step for each in one.evidence] == [*EvidenceStep]
        return chain_text(one.evidence)

    # Evidence

    def test_an_accepted_attempt_shows_what_each_step_found(
        self, store: Store, clock: FrozenClock, view: ProjectView
    ) -> None:
        begin(store)
        a = add(store, "a")
        checks = ((SessionRole.VERIFY, {"passed": True}), (SessionRole.REVIEW, {"passed": True}))
        attempt(store, clock, gates=(GREEN,), checks=checks)
        (one,) = view.attempts(a)
        assert one.is_accepted
        assert one.spent.known_usd == 0.5
        assert [(each.step.value, each.state.value, each.detail) for each in one.evidence] == [
            ("claim", "passed", ""),
            ("change", "passed", "1 commit"),
            ("gates", "passed", "test"),
            ("verification", "passed", ""),
            ("review", "passed", ""),
            ("merge", "passed", "commit abcdef012345"),
        ]

    @pytest.mark.parametrize(
        ("given", "chain"),
        [
            ({"transition": Struck("no claim")}, "claim ✗"),
            ({"transition": GaveUp("too hard")}, "claim ✗"),
            ({"transition": Struck("killed"), "ending": EndingKind.KILLED}, "claim ✗"),
            ({"transition": Released("stopped"), "ending": EndingKind.INTERRUPTED}, "claim ✗"),
            (
                {"transition": Rejected("nothing"), "after": Snapshot(head="c0")},
                "claim ✓ → change ✗",
            ),
            ({"transition": Rejected("red"), "gates": (RED,)}, "claim ✓ → change ✓ → gates ✗"),
            (
                {
                    "transition": Rejected("gate test fails"),
                    "gates": (GREEN,),
                    "checks": ((SessionRole.VERIFY, {"passed": True}),),
                },
                "claim ✓ → change ✓ → gates ✓ → verification ✓ → merge ✗",
            ),
            (
                {"transition": Conflicted("no"), "gates": (GREEN,)},
                "claim ✓ → change ✓ → gates ✓ → merge ✗",
            ),
            ({"gates": (RED,)}, "claim ✓ → change ✓ → gates ? → merge ✓"),
            (
                {"gates": (replace(GREEN, proves=False),)},
                "claim ✓ → change ✓ → gates ? → merge ✓",
            ),
            (
                {"gates": (GREEN,), "checks": ((SessionRole.VERIFY, {"passed": None}),)},
                "claim ✓ → change ✓ → gates ✓ → verification ? → merge ✓",
            ),
            (
                {
                    "transition": Rejected("F1"),
                    "gates": (GREEN,),
                    "checks": ((SessionRole.REVIEW, {"passed": False}),),
                },
                "claim ✓ → change ✓ → gates ✓ → review ✗",
            ),
            (
                {
                    "checks": (
                        (
                            SessionRole.REVIEW,
                            {
                                "passed": True,
                                "review": ReviewRound(
                                    round=1, word=ReviewVerdict.FAIL, closed="all was dismissed"
                                ),
                            },
                        ),
                    )
                },
                "claim ✓ → change ✓ → review ! → merge ✓",
            ),
        ],
    )
    def test_the_chain_of_evidence_ends_where_ralph_decided(
        self,
        store: Store,
        clock: FrozenClock,
        view: ProjectView,
        given: dict[str, Any],
        chain: str,
    ) -> None:
        begin(store)
        a = add(store, "a")
        attempt(store, clock, **given)
        assert self.chain(view, a) == chain

    def test_an_attempt_at_work_has_proved_nothing_yet(
        self, store: Store, view: ProjectView
    ) -> None:
        begin(store)
        a = add(store, "a")
        start(store, claim(store))
        assert self.chain(view, a) == "claim …"

    # The project

    def test_an_empty_project_needs_nothing_but_its_plan(self, view: ProjectView) -> None:
        seen = view.overview()
        assert seen.counts == Counts()
        assert (seen.runs, seen.last_run, seen.time_left) == ([], None, None)
        assert [one.kind for one in seen.needs] == [NeedKind.PLAN]
        assert seen.needs[0].answers[0].command == "ralph go"

    def test_the_overview_can_be_sent_to_a_program(
        self, store: Store, clock: FrozenClock, view: ProjectView
    ) -> None:
        begin(store)
        add(store, "a")
        attempt(store, clock)
        sent = msgspec.json.decode(msgspec.json.encode(view.overview()))
        assert sent["seq"] == store.events.last_seq()
        assert sent["counts"]["done"] == 1
        assert sent["spending"]["run"]["reported_usd"] == 0.5
        assert sent["spending"]["run_limit_usd"] == BudgetSection().run_usd

    def test_what_is_stuck_needs_a_person_and_names_the_commands(
        self, store: Store, view: ProjectView
    ) -> None:
        top = add(store, "top")
        fail(store, add(store, "a", under=top))
        store.tasks.apply(add(store, "b"), [Blocked("needs a key\nand more")])
        needs = [one for one in view.overview().needs if one.kind is not NeedKind.PLAN]
        assert [(one.kind.value, one.subject, one.reason) for one in needs] == [
            ("failed", "t-a", "cannot be done"),
            ("blocked", "t-b", "needs a key"),
        ], "the parent only shows what is below it"
        commands = {each.action: each.command for one in needs for each in one.answers}
        assert commands[NeedAction.RETRY] == "ralph task retry t-a"
        assert commands[NeedAction.UNBLOCK] == "ralph task unblock t-b"

    def test_a_name_from_a_document_is_one_word_of_the_command(
        self, store: Store, view: ProjectView
    ) -> None:
        fail(store, add(store, "a", alias="US-1; rm -rf ~"))
        (failed,) = [one for one in view.overview().needs if one.kind is NeedKind.FAILED]
        assert failed.answers[0].command == "ralph logs 'US-1; rm -rf ~'"

    def test_an_open_breaker_a_pause_and_an_expired_login_need_a_person(
        self, store: Store, clock: FrozenClock, view: ProjectView
    ) -> None:
        begin(store)
        add(store, "a")
        attempt(store, clock, Released("logged out"), ending=EndingKind.AUTH_EXPIRED)
        opened = Breaker(
            state=BreakerState.OPEN, cause=BreakerCause.FAILURES, failures=3, at=clock.now()
        )
        store.breakers.save("teammate-1", opened)
        store.events.record(RunPaused(run_id=RUN, reason="logged out"), RUN)
        kinds = [one.kind.value for one in view.overview().needs]
        assert kinds == ["login", "breaker", "pause", "plan"]
        attempt(store, clock)
        assert "login" not in [one.kind.value for one in view.overview().needs]

    def test_a_finding_that_a_session_dismissed_needs_a_person_while_its_task_is_open(
        self, store: Store, clock: FrozenClock, view: ProjectView
    ) -> None:
        begin(store)
        a = add(store, "a")
        store.checks.dismiss_finding(a, Dismissal(finding="F1", reason="no", by="t-a:1"))
        store.checks.dismiss_finding(a, Dismissal(finding="F2", reason="no", by="a person"))
        findings = [one for one in view.overview().needs if one.kind is NeedKind.FINDING]
        assert [(one.finding, one.task_id) for one in findings] == [("F1", a)]
        attempt(store, clock)
        assert NeedKind.FINDING not in [one.kind for one in view.overview().needs]

    def test_the_time_left_is_a_range_and_is_not_estimated_from_few_tasks(
        self, store: Store, clock: FrozenClock, view: ProjectView
    ) -> None:
        begin(store)
        for number in range(5):
            add(store, f"{number}", priority=number)
        add(store, "last", priority=9)
        for _ in range(4):
            attempt(store, clock)
        assert view.overview().time_left is None
        attempt(store, clock, gates=(replace(GREEN, duration_s=30.0),))
        left = view.overview().time_left
        assert left is not None
        assert (left.tasks, left.judged_by) == (1, 5)
        assert left.low_s <= 66.0 <= left.high_s
        taken = claim(store)
        start(store, taken, started_at=to_iso(clock.now()))
        clock.advance(3600)
        left = view.overview().time_left
        assert left is not None
        assert left.high_s >= 3600.0, "one that takes an hour says that others may"
        assert left.judged_by == 5
        settle(store, taken)
        assert view.overview().time_left is None, "nothing is open"

    # The feed

    def test_the_timeline_of_a_task_goes_back_in_pages(
        self, store: Store, clock: FrozenClock, view: ProjectView
    ) -> None:
        begin(store)
        a = add(store, "a")
        add(store, "other")
        store.tasks.log(a, "a note\nand more")
        attempt(store, clock, Rejected("red"))
        whole = view.timeline(a, 100)
        assert whole.is_last
        told = [one.text for one in whole.items]
        assert told[0].startswith("rejected (retry 1 follows): red")
        assert told[-2:] == ["a note", "added"]
        assert {getattr(one.event, "task_id", a) for one in whole.items} == {a}
        page = view.timeline(a, 2)
        seen = [*page.items]
        while not page.is_last:
            page = view.timeline(a, 2, page.seq)
            seen += page.items
        assert tuple(seen) == whole.items

    def test_a_client_that_was_away_misses_nothing_and_gets_nothing_twice(
        self, store: Store, clock: FrozenClock, view: ProjectView
    ) -> None:
        begin(store)
        add(store, "a", alias="US-1")
        page = view.feed(0, limit=2)
        seen = [*page.items]
        attempt(store, clock, Rejected("red"))
        while not page.is_last:
            page = view.feed(page.seq, limit=2)
            seen += page.items
        assert [one.seq for one in seen] == [one.seq for one in store.events.select()]
        assert view.feed(page.seq).items == ()
        assert view.feed(page.seq).seq == store.events.last_seq()
        store.events.record(Warned(message="one more"))
        (one,) = view.feed(page.seq).items
        assert one.text == "warning: one more"

    def test_an_event_reads_the_same_on_whichever_page_it_is(
        self, store: Store, clock: FrozenClock, view: ProjectView
    ) -> None:
        begin(store)
        add(store, "a", alias="US-1")
        attempt(store, clock, Rejected("red"))
        attempt(store, clock)
        whole = view.feed(0).items
        rejected = next(one for one in whole if one.event.__struct_config__.tag == "task_rejected")
        assert rejected.task == "US-1"
        assert "red" in rejected.text
        single = [item for one in whole for item in view.feed(one.seq - 1, limit=1).items]
        assert [(one.seq, one.text, one.task) for one in single] == [
            (one.seq, one.text, one.task) for one in whole
        ]
