from msgspec.structs import replace
from stories import (
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

from ralph.core import agent_events as agent
from ralph.core import check_events, events
from ralph.core.ids import SessionId, TaskId, WorkerId
from ralph.core.task import Status, Task
from ralph.ports.claims import Counts
from ralph.ui.activity import KEPT_CHARS, KEPT_DOINGS, Activity, Kind
from ralph.ui.board import KEPT_TASKS, VERIFICATION, Board, GateState

ONE = TaskId("t-000001")


def fold(teller: Teller, board: Board) -> Board:
    for scene in teller.scenes:
        if isinstance(scene, Said):
            board.hear(scene.task, scene.event)
        else:
            board.take(scene)
    return board


def told(*parts: object) -> Board:
    teller = Teller()
    for part in parts:
        part(teller)  # type: ignore[operator]
    return fold(teller, a_board())


def test_counts_follow_the_events_and_the_total_stays() -> None:
    board = told(the_start, a_good_task, a_hard_task, a_limit)

    assert board.counts == Counts(pending=2, done=4, failed=1)


def test_added_and_deleted_tasks_change_the_total() -> None:
    teller, board = Teller(), Board(counts=Counts(pending=1))
    teller.event(events.TaskAdded(task=Task(id=ONE, title="one")))
    assert fold(teller, board).counts.total == 2
    teller.scenes.clear()
    teller.event(events.TaskDeleted(task_id=ONE, title="one"))
    assert fold(teller, board).counts == Counts(pending=1)


def test_a_parent_that_its_children_finish_leaves_the_pending_ones() -> None:
    teller, board = Teller(), Board(counts=Counts(pending=1, in_progress=1))
    teller.moved(events.TaskDone, ONE, "parent", Status.DONE, attempt=0)

    assert fold(teller, board).counts == Counts(in_progress=1, done=1)
    assert board.finished[-1].duration_s is None


def test_a_wrong_guess_about_the_past_never_counts_below_zero() -> None:
    teller, board = Teller(), Board(counts=Counts(done=1))
    teller.moved(events.TaskReopened, ONE, "one", Status.PENDING)

    assert fold(teller, board).counts == Counts(pending=1)


def test_a_finished_task_knows_its_attempts_time_and_cost() -> None:
    good, hard, odd = told(the_start, a_good_task, a_hard_task, a_limit).finished

    assert (good.status, good.attempts, good.spent.total_usd) == (Status.DONE, 1, 0.21)
    assert good.duration_s is not None
    assert round(good.duration_s, 1) == 19.8
    assert (hard.status, hard.attempts) == (Status.FAILED, 2)
    assert round(hard.spent.total_usd or 0, 2) == 0.7
    assert hard.reason == "gate test fails (exit 1)"
    assert odd.spent.total_usd is None


def test_cost_that_one_session_hides_is_unknown_as_a_whole() -> None:
    board = told(the_start, a_good_task)
    assert board.spent.total_usd == 0.21
    board = told(the_start, a_good_task, a_limit)
    assert board.spent.total_usd is None
    assert board.spent.known_usd == 0.21


def test_a_failed_task_that_is_retried_is_no_longer_counted_as_a_failure() -> None:
    board = told(the_start, a_hard_task)
    assert [failure.task_id for failure in board.failed] == ["t-9b1c22"]
    teller = Teller()
    teller.moved(events.TaskReopened, TaskId("t-9b1c22"), "Rank", Status.PENDING)

    assert not fold(teller, board).failed
    assert board.counts.failed == 0


def test_gates_begin_anew_with_every_attempt() -> None:
    teller = Teller()
    the_start(teller)
    teller.claims(ONE, "one")
    board = fold(teller, a_board())
    assert board.gates == dict.fromkeys(GATES, GateState.PLANNED)

    teller = Teller()
    teller.event(events.GateStarted(task_id=ONE, name="lint"))
    assert fold(teller, board).gates["lint"] is GateState.RUNNING
    teller.gates(ONE, fails="test")
    assert fold(teller, board).gates["test"] is GateState.FAILED
    teller.claims(ONE, "one", attempt=2)
    assert set(fold(teller, board).gates.values()) == {GateState.PLANNED}


def test_an_attempt_that_goes_on_after_a_crash_is_the_current_task() -> None:
    teller = Teller()
    teller.event(events.GateStarted(task_id=ONE, name="lint"))
    board = fold(teller, a_board())

    assert board.current is not None
    assert (board.current.task_id, board.current.is_judged) == (ONE, True)


def test_a_task_that_someone_else_claims_is_not_ours() -> None:
    teller = Teller()
    the_start(teller)
    teller.claims(ONE, "one")
    theirs = teller.scenes[-1]
    assert isinstance(theirs, events.Recorded)
    claim = theirs.event
    assert isinstance(claim, events.TaskClaimed)
    teller.scenes[-1] = replace(theirs, event=replace(claim, worker=WorkerId("by-hand")))

    board = fold(teller, a_board())

    assert board.current is None
    assert board.counts.in_progress == 1


def test_waiting_has_a_target_and_pausing_has_none() -> None:
    teller, board = Teller(), a_board()
    until = "2026-07-30T12:30:00Z"
    teller.event(events.RunWaiting(run_id=RUN, reason="usage limit", until=until))
    hold = fold(teller, board).hold
    assert hold is not None
    assert hold.until == START + 1800

    teller.event(events.RunPaused(run_id=RUN, reason="sign in again\nwith claude login"))
    hold = fold(teller, board).hold
    assert hold is not None
    assert (hold.until, hold.reason) == (None, "sign in again")

    teller.event(events.RunResumed(run_id=RUN))
    assert fold(teller, board).hold is None


def test_upcoming_is_asked_only_when_the_graph_has_changed() -> None:
    asked = []

    def upcoming() -> list[str]:
        asked.append(1)
        return ["next"]

    board = Board(upcoming=upcoming)
    board.upcoming(), board.upcoming()
    assert len(asked) == 1
    teller = Teller()
    teller.claims(ONE, "one")
    fold(teller, board).upcoming()
    assert len(asked) == 2


def test_whatever_happens_the_board_stays_small() -> None:
    board = a_board()
    for number in range(300):
        teller = Teller()
        task = TaskId(f"t-{number:06}")
        teller.claims(task, "x" * 1_000_000)
        teller.ends(task)
        reason = "y" * 1_000_000
        teller.moved(events.TaskFailed, task, "x" * 1_000_000, Status.FAILED, reason=reason)
        fold(teller, board)

    assert len(board.failed) == len(board.finished) == KEPT_TASKS
    assert max(len(failure.title + failure.reason) for failure in board.failed) <= 500


def test_pieces_of_a_message_are_replaced_by_the_whole() -> None:
    activity = Activity()
    for event in (
        agent.Text(text="I am ", partial=True),
        agent.Text(text="at it", partial=True),
        agent.Text(text="I am at it."),
        agent.Text(text="Next."),
    ):
        activity.take(event)

    assert [doing.text for doing in activity.doings] == ["I am at it.", "Next."]


def test_a_flood_keeps_the_newest_and_nothing_else() -> None:
    activity = Activity()
    activity.take(agent.Text(text="old " * 500_000))
    for number in range(1000):
        activity.take(agent.Text(text=f"{number} ", partial=True))
    assert activity.doings[-1].text.endswith("998 999 ")
    for number in range(1000):
        activity.take(agent.ToolUse(name="Bash", summary=f"{number}" * 5000))

    assert len(activity.doings) == KEPT_DOINGS
    assert {doing.kind for doing in activity.doings} == {Kind.TOOL}
    assert max(len(doing.text) for doing in activity.doings) <= KEPT_CHARS


def test_only_what_failed_or_is_worth_a_word_is_kept_of_the_rest() -> None:
    activity = Activity()
    for event in (
        agent.Started(model="opus"),
        agent.ToolResult(text="fine"),
        agent.ToolResult(text="exit 1", error=True),
        agent.Usage(),
        agent.Unknown(line="?"),
        agent.Limit(status=agent.LimitStatus.ALLOWED),
        agent.Limit(status=agent.LimitStatus.WARNING, window="five_hour"),
        agent.Result(text="done"),
        agent.Result(text="", detail="no credit", error=True),
        agent.Retry(message="overloaded"),
    ):
        activity.take(event)

    assert activity.model == "opus"
    assert [(doing.kind, doing.text) for doing in activity.doings] == [
        (Kind.ERROR, "exit 1"),
        (Kind.NOTE, "the five hour allowance is nearly used up"),
        (Kind.ERROR, "no credit"),
        (Kind.RETRY, "tries again: overloaded"),
    ]


def test_the_whole_story_can_be_folded_twice_with_the_same_result() -> None:
    once, again = a_board(), a_board()
    for board in (once, again):
        for scene in the_story():
            if not isinstance(scene, Said):
                board.take(scene)

    assert (once.counts, list(once.finished)) == (again.counts, list(again.finished))
    assert once.current is None
    assert once.ended is not None


def test_a_retry_takes_back_what_was_only_begun() -> None:
    activity = Activity()
    for event in (
        agent.Thinking(text="Hm", partial=True),
        agent.Text(text="I so", partial=True),
        agent.Retry(message="overloaded", attempt=1),
        agent.Retry(message="overloaded", attempt=2),
        agent.Text(text="I sort", partial=True),
        agent.ToolUse(name="Bash", summary="of another agent below this one"),
        agent.Text(text=" twice", partial=True),
        agent.Text(text="I sort twice."),
    ):
        activity.take(event)

    assert [doing.text for doing in activity.doings] == [
        "tries again (try 2): overloaded",
        "of another agent below this one",
        "I sort twice.",
    ]


def test_the_same_error_is_told_once() -> None:
    activity = Activity()
    activity.take(agent.Trouble(message="API Error: 401"))
    activity.take(agent.Limit(status=agent.LimitStatus.REJECTED))
    activity.take(agent.Result(error=True, detail="API Error: 401"))

    assert [doing.kind for doing in activity.doings] == [Kind.ERROR, Kind.NOTE]


def test_a_tool_is_at_work_until_it_answers_or_the_session_ends() -> None:
    teller, board = Teller(), a_board()
    teller.claims(ONE, "one")
    teller.session(ONE, "one")
    teller.says(ONE, agent.ToolUse(name="Bash", summary="make", call="1"))
    teller.says(ONE, agent.ToolUse(name="Bash", summary="make test", call="2"))
    teller.says(ONE, agent.ToolResult(call="1"))
    fold(teller, board)
    assert [doing.call for doing in board.activity.doings] == ["", "2"]
    assert board.activity.is_in_tool

    teller.scenes.clear()
    teller.ends(ONE)
    assert not fold(teller, board).activity.is_in_tool


def test_a_session_that_does_not_say_its_model_keeps_the_one_it_was_given() -> None:
    activity = Activity()
    activity.model = "gpt-5.5"
    activity.take(agent.Started())
    assert activity.model == "gpt-5.5"


def test_denials_are_counted_by_tool_over_all_sessions() -> None:
    teller, board = Teller(), a_board()
    teller.ends(ONE, denied=("Bash", "Write\x1b"))
    teller.ends(ONE, denied=("Bash",))

    assert fold(teller, board).denied == {"Bash": 2, "Write␛": 1}


def test_the_agent_that_takes_over_is_named_and_so_is_who_pays() -> None:
    teller, board = Teller(), a_board()
    the_start(teller)
    teller.event(events.RunWaiting(run_id=RUN, reason="out", until="2026-07-30T12:30:00Z"))
    chosen = events.AgentChosen(run_id=RUN, agent="codex", reason="", account="an OpenAI API key")
    teller.event(chosen)
    fold(teller, board)

    assert (board.agent, board.hold) == ("codex", None)
    assert board.accounts == ["a Claude subscription (max)", "an OpenAI API key"]


def test_whoever_checks_a_task_stands_behind_its_gates_and_is_paid() -> None:
    def a_check(teller: Teller) -> None:
        names = {"session_id": SessionId("t-000001:1"), "task_id": ONE, "number": 1}
        teller.event(
            check_events.VerificationStarted(
                **names, agent="codex", account="a friend", log="verify.log"
            )
        )
        teller.event(check_events.VerificationEnded(**names, passed=True, cost_usd=0.25))

    board = told(the_start, a_check)
    assert list(board.gates)[-1] == VERIFICATION
    assert board.gates[VERIFICATION] is GateState.PASSED
    assert board.spent.reported_usd == 0.25
    assert "a friend" in board.accounts
    assert board.current is not None
    assert board.current.log == "verify.log"
