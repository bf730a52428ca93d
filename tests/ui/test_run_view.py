from typing import Any

from event_lists import (
    GATES,
    RUN,
    START,
    Said,
    Teller,
    a_board,
    a_good_task,
    a_hard_task,
    a_limit,
    the_start,
    the_story,
)
from msgspec.structs import replace

from ralph.core import agent_events as agent
from ralph.core import events, session_events
from ralph.core.ids import SessionId, TaskId, WorkerId
from ralph.core.task import TaskStatus
from ralph.store.claims import Counts
from ralph.ui.agent_activity import KEPT_ACTIONS, KEPT_CHARS, Activity, ActivityKind
from ralph.ui.run_view import KEPT_TASKS, VERIFICATION, GateState, RunView

ONE = TaskId("t-000001")


def fold(teller: Teller, run_view: RunView) -> RunView:
    for scene in teller.scenes:
        if isinstance(scene, Said):
            run_view.team.add_agent_event(scene.task, scene.event)
        else:
            run_view.add(scene)
    return run_view


def told(*parts: object) -> RunView:
    teller = Teller()
    for part in parts:
        part(teller)  # type: ignore[operator]
    return fold(teller, a_board())


def test_a_parent_that_its_children_finish_took_no_time_of_its_own() -> None:
    teller, run_view = Teller(), RunView()
    teller.moved(events.TaskDone, ONE, "parent", TaskStatus.DONE, attempt=0)

    assert fold(teller, run_view).finished[-1].duration_s is None


def test_a_finished_task_knows_its_attempts_time_and_cost() -> None:
    good, hard, odd = told(the_start, a_good_task, a_hard_task, a_limit).finished

    assert (good.status, good.attempt, good.spent.total_usd) == (TaskStatus.DONE, 1, 0.21)
    assert good.duration_s is not None
    assert round(good.duration_s, 1) == 19.8
    assert (hard.status, hard.attempt) == (TaskStatus.FAILED, 2)
    assert round(hard.spent.total_usd or 0, 2) == 0.7
    assert hard.reason == "gate test fails (exit 1)"
    assert odd.spent.total_usd is None


def test_cost_that_one_session_hides_is_unknown_as_a_whole() -> None:
    run_view = told(the_start, a_good_task)
    assert run_view.spent.total_usd == 0.21
    run_view = told(the_start, a_good_task, a_limit)
    assert run_view.spent.total_usd is None
    assert run_view.spent.known_usd == 0.21


def test_a_failed_task_that_is_retried_is_no_longer_counted_as_a_failure() -> None:
    run_view = told(the_start, a_hard_task)
    assert [failure.task_id for failure in run_view.failed] == ["t-9b1c22"]
    teller = Teller()
    teller.moved(events.TaskReopened, TaskId("t-9b1c22"), "Rank", TaskStatus.PENDING)

    assert not fold(teller, run_view).failed


def test_gates_begin_anew_with_every_attempt() -> None:
    teller = Teller()
    the_start(teller)
    teller.claims(ONE, "one")
    run_view = fold(teller, a_board())
    assert run_view.gates == dict.fromkeys(GATES, GateState.PLANNED)

    teller = Teller()
    teller.event(events.GateStarted(task_id=ONE, name="lint"))
    assert fold(teller, run_view).gates["lint"] is GateState.RUNNING
    teller.gates(ONE, fails="test")
    assert fold(teller, run_view).gates["test"] is GateState.FAILED
    teller.claims(ONE, "one", attempt=2)
    assert set(fold(teller, run_view).gates.values()) == {GateState.PLANNED}


def test_an_attempt_that_goes_on_after_a_crash_is_the_current_task() -> None:
    teller = Teller()
    teller.event(events.GateStarted(task_id=ONE, name="lint"))
    run_view = fold(teller, a_board())

    assert run_view.current is not None
    assert (run_view.current.task_id, run_view.current.is_judged) == (ONE, True)


def test_a_task_that_someone_else_claims_is_not_ours() -> None:
    teller = Teller()
    the_start(teller)
    teller.claims(ONE, "one")
    theirs = teller.scenes[-1]
    assert isinstance(theirs, events.RecordedEvent)
    claim = theirs.event
    assert isinstance(claim, events.TaskClaimed)
    teller.scenes[-1] = replace(theirs, event=replace(claim, worker=WorkerId("by-hand")))

    run_view = fold(teller, a_board())

    assert run_view.current is None


def test_waiting_has_a_target_and_pausing_has_none() -> None:
    teller, run_view = Teller(), a_board()
    until = "2026-07-30T12:30:00Z"
    teller.event(events.RunWaiting(run_id=RUN, reason="usage limit", until=until))
    hold = fold(teller, run_view).wait
    assert hold is not None
    assert hold.until == START + 1800

    teller.event(events.RunPaused(run_id=RUN, reason="sign in again\nwith claude login"))
    hold = fold(teller, run_view).wait
    assert hold is not None
    assert (hold.until, hold.reason) == (None, "sign in again")

    teller.event(events.RunResumed(run_id=RUN))
    assert fold(teller, run_view).wait is None


def test_the_store_is_asked_only_when_the_graph_has_changed() -> None:
    asked = []

    def upcoming() -> list[str]:
        asked.append("upcoming")
        return ["next"]

    def counts() -> Counts:
        asked.append("counts")
        return Counts(pending=1)

    run_view = RunView(upcoming=upcoming, counts=counts)
    for _ in range(2):
        assert (run_view.upcoming(), run_view.counts.pending) == (["next"], 1)
    assert asked == ["upcoming", "counts"]
    teller = Teller()
    teller.claims(ONE, "one")
    fold(teller, run_view).upcoming()
    assert run_view.counts.total == 1
    assert asked == ["upcoming", "counts"] * 2


def test_whatever_happens_the_board_stays_small() -> None:
    run_view = a_board()
    for number in range(300):
        teller = Teller()
        task = TaskId(f"t-{number:06}")
        teller.claims(task, "x" * 1_000_000)
        teller.ends(task)
        reason = "y" * 1_000_000
        teller.moved(events.TaskFailed, task, "x" * 1_000_000, TaskStatus.FAILED, reason=reason)
        fold(teller, run_view)

    assert len(run_view.failed) == len(run_view.finished) == KEPT_TASKS
    assert max(len(failure.title + failure.reason) for failure in run_view.failed) <= 1000


def test_pieces_of_a_message_are_replaced_by_the_whole() -> None:
    activity = Activity()
    for event in (
        agent.Text(text="I am ", partial=True),
        agent.Text(text="at it", partial=True),
        agent.Text(text="I am at it."),
        agent.Text(text="Next."),
    ):
        activity.add(event)

    assert [doing.text for doing in activity.actions] == ["I am at it.", "Next."]


def test_a_flood_keeps_the_newest_and_nothing_else() -> None:
    activity = Activity()
    activity.add(agent.Text(text="old " * 500_000))
    for number in range(1000):
        activity.add(agent.Text(text=f"{number} ", partial=True))
    assert activity.actions[-1].text.endswith("998 999 ")
    for number in range(1000):
        activity.add(agent.ToolUse(name="Bash", summary=f"{number}" * 5000))

    assert len(activity.actions) == KEPT_ACTIONS
    assert {doing.kind for doing in activity.actions} == {ActivityKind.TOOL}
    assert max(len(doing.text) for doing in activity.actions) <= KEPT_CHARS


def test_only_what_failed_or_is_worth_a_word_is_kept_of_the_rest() -> None:
    activity = Activity()
    for event in (
        agent.AgentStarted(model="opus"),
        agent.ToolResult(text="fine"),
        agent.ToolResult(text="exit 1", error=True),
        agent.TokenUsage(),
        agent.UnknownLine(line="?"),
        agent.UsageLimit(status=agent.LimitStatus.ALLOWED),
        agent.UsageLimit(status=agent.LimitStatus.WARNING, window="five_hour"),
        agent.SessionResultEvent(text="done"),
        agent.SessionResultEvent(text="", detail="no credit", error=True),
        agent.AgentRetry(message="overloaded"),
    ):
        activity.add(event)

    assert activity.model == "opus"
    assert [(doing.kind, doing.text) for doing in activity.actions] == [
        (ActivityKind.ERROR, "exit 1"),
        (ActivityKind.NOTE, "the five hour allowance is nearly used up"),
        (ActivityKind.ERROR, "no credit"),
        (ActivityKind.RETRY, "tries again: overloaded"),
    ]


def test_the_whole_story_can_be_folded_twice_with_the_same_result() -> None:
    once, again = a_board(), a_board()
    for run_view in (once, again):
        for scene in the_story():
            if not isinstance(scene, Said):
                run_view.add(scene)

    assert (once.counts, list(once.finished)) == (again.counts, list(again.finished))
    assert once.current is None


def test_a_retry_takes_back_what_was_only_begun() -> None:
    activity = Activity()
    for event in (
        agent.Thinking(text="Hm", partial=True),
        agent.Text(text="I so", partial=True),
        agent.AgentRetry(message="overloaded", attempt=1),
        agent.AgentRetry(message="overloaded", attempt=2),
        agent.Text(text="I sort", partial=True),
        agent.ToolUse(name="Bash", summary="of another agent below this one"),
        agent.Text(text=" twice", partial=True),
        agent.Text(text="I sort twice."),
    ):
        activity.add(event)

    assert [doing.text for doing in activity.actions] == [
        "tries again (try 2): overloaded",
        "of another agent below this one",
        "I sort twice.",
    ]


def test_the_same_error_is_told_once() -> None:
    activity = Activity()
    activity.add(agent.AgentProblem(message="API Error: 401"))
    activity.add(agent.UsageLimit(status=agent.LimitStatus.REJECTED))
    activity.add(agent.SessionResultEvent(error=True, detail="API Error: 401"))

    assert [doing.kind for doing in activity.actions] == [ActivityKind.PROBLEM, ActivityKind.NOTE]


def test_a_tool_is_at_work_until_it_answers_or_the_session_ends() -> None:
    teller, run_view = Teller(), a_board()
    teller.claims(ONE, "one")
    teller.session(ONE, "one")
    teller.says(ONE, agent.ToolUse(name="Bash", summary="make", call="1"))
    teller.says(ONE, agent.ToolUse(name="Bash", summary="make test", call="2"))
    teller.says(ONE, agent.ToolResult(call="1"))
    fold(teller, run_view)
    assert [doing.call for doing in run_view.activity.actions] == ["", "2"]
    assert run_view.activity.is_in_tool

    teller.scenes.clear()
    teller.ends(ONE)
    assert not fold(teller, run_view).activity.is_in_tool


def test_a_session_that_does_not_say_its_model_keeps_the_one_it_was_given() -> None:
    activity = Activity()
    activity.model = "gpt-5.5"
    activity.add(agent.AgentStarted())
    assert activity.model == "gpt-5.5"


def test_denials_are_counted_by_tool_over_all_sessions() -> None:
    teller, run_view = Teller(), a_board()
    teller.ends(ONE, denied=("Bash", "Write\x1b"))
    teller.ends(ONE, denied=("Bash",))

    assert fold(teller, run_view).denied == {"Bash": 2, "Write␛": 1}


def test_the_agent_that_takes_over_is_named_and_so_is_who_pays() -> None:
    teller, run_view = Teller(), a_board()
    the_start(teller)
    teller.event(events.RunWaiting(run_id=RUN, reason="out", until="2026-07-30T12:30:00Z"))
    chosen = events.AgentChosen(run_id=RUN, agent="codex", reason="", account="an OpenAI API key")
    teller.event(chosen)
    fold(teller, run_view)

    assert (run_view.agent, run_view.wait) == ("codex", None)
    assert run_view.accounts == ["a Claude subscription (max)", "an OpenAI API key"]


def test_whoever_checks_a_task_stands_behind_its_gates_and_is_paid() -> None:
    def a_check(teller: Teller) -> None:
        names: dict[str, Any] = {"session_id": SessionId("t-000001:1"), "task_id": ONE, "number": 1}
        teller.event(
            session_events.VerificationStarted(
                **names,
                agent="codex",
                account="a friend",
                log="verify.log",
            )
        )
        teller.event(session_events.VerificationEnded(**names, passed=True, cost_usd=0.25))

    run_view = told(the_start, a_check)
    assert list(run_view.gates)[-1] == VERIFICATION
    assert run_view.gates[VERIFICATION] is GateState.PASSED
    assert run_view.spent.reported_usd == 0.25
    assert "a friend" in run_view.accounts
    assert run_view.current is not None
    assert run_view.current.log == "verify.log"
