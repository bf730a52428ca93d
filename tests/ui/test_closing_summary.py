from collections.abc import Sequence
from typing import Any

import pytest

from ralph.core.cost import session_cost
from ralph.core.events import RunEnded, RunStarted
from ralph.core.ids import RunId, TaskId, WorkerId
from ralph.core.run import EXIT_CODES, STOPPED, RunOutcome
from ralph.core.task import TaskStatus
from ralph.ui.closing_summary import LISTED, closing_summary
from ralph.ui.event_text import MessageTone
from ralph.ui.run_view import RunView, SettledTask, WaitingTask
from ralph.ui.team_view import TeamView

RUN = RunId("run-1")


def an_end(outcome: RunOutcome = RunOutcome.COMPLETE, **fields: object) -> RunEnded:
    body = {"done": 3, "attempts": 4, "commits": 3, "duration_s": 3840.0} | fields
    code = EXIT_CODES[outcome]
    return RunEnded(run_id=RUN, outcome=outcome, exit_code=code, **body)  # type: ignore


def a_failure(number: int = 1, **fields: object) -> SettledTask:
    body = {"duration_s": 60.0, "spent": session_cost(0.5), "reason": "gate test fails"} | fields
    task = TaskId(f"t-{number:06}")
    title = f"Task {number}"
    return SettledTask(task_id=task, title=title, status=TaskStatus.FAILED, attempt=4, **body)  # type: ignore


def text(ended: RunEnded, *, waits: Sequence[WaitingTask] = (), **fields: Any) -> str:
    names = {name: fields.pop(name) for name in ("logs", "again") if name in fields}
    run_view = RunView(waits=lambda: list(waits), **names)
    run_view.run = RunStarted(run_id=RUN, worker=WorkerId("w"), target="", agent="", checkout="")
    for name, value in fields.items():
        setattr(run_view, name, value)
    return "\n".join(line.text for line in closing_summary(ended, run_view))


def test_a_complete_run_shows_its_figures_and_its_commits() -> None:
    assert (
        text(an_end(spent=session_cost(4.123)))
        == """
complete
  in all: 3 done · 0 failed · this run: 4 attempts · 3 commits · 1h 04m · $4.12
  logs  .ralph/runs
  more  ralph report
  next  git log --notes='ralph*' -3"""
    )


def test_a_teams_commits_are_looked_for_on_its_branch() -> None:
    team = TeamView()
    team.branch = "feature/a b"
    assert text(an_end(), team=team).endswith("next  git log --notes='ralph*' -3 'feature/a b'")


def test_a_branch_that_is_behind_is_the_first_thing_to_do() -> None:
    *_, first, second = text(an_end(catch_up="git merge tip")).splitlines()
    assert first == "  next  git merge tip"
    assert second == "        git log --notes='ralph*' -3"


def test_failed_tasks_are_named_with_their_reasons_and_the_way_out() -> None:
    ended = an_end(RunOutcome.COMPLETE_WITH_FAILURES, failed=1, spent=session_cost(1.0))
    assert (
        text(ended, failed=[a_failure()])
        == """
complete, with failed tasks
  in all: 3 done · 1 failed · this run: 4 attempts · 3 commits · 1h 04m · $1.00
  ✗ t-000001 Task 1 (attempt 4, 1m 00s, $0.50): gate test fails
  logs  .ralph/runs
  more  ralph report
  next  ralph logs t-000001
        ralph task retry t-000001 && ralph run"""
    )


def test_a_blocked_run_says_who_waits_for_whom_and_what_to_fix_first() -> None:
    waits = [
        WaitingTask("t-00000a", "Show the hits", ("t-000001",)),
        WaitingTask("t-00000b", "Ask a person", ()),
        WaitingTask("t-00000c", "Ship it", ("t-000001", "t-000002")),
    ]
    shown = text(an_end(RunOutcome.BLOCKED), waits=waits, failed=[a_failure(2)])

    assert "blocked: nothing can start" in shown
    assert "  ○ t-00000a Show the hits waits for t-000001\n" in shown
    assert "  ○ t-00000b Ask a person waits for a person\n" in shown
    assert "  ○ t-00000c Ship it waits for t-000001, t-000002\n" in shown
    assert "next  ralph logs t-000001\n" in shown


@pytest.mark.parametrize("others", [(), ("t-00000a",)], ids=["alone", "with others behind it"])
def test_what_somebody_has_blocked_is_to_be_unblocked(others: tuple[str, ...]) -> None:
    waits = [
        WaitingTask("t-00000a", "Ask a person", (), is_blocked=True),
        *(WaitingTask("t-00000b", "Ship it", (one,)) for one in others),
    ]
    shown = text(an_end(RunOutcome.BLOCKED), waits=waits)
    assert "ralph task unblock t-00000a && ralph run" in shown


@pytest.mark.parametrize(
    ("outcome", "reason", "headline", "step"),
    [
        (RunOutcome.PAUSED, "sign in again", "paused: sign in again", "ralph run   once that is"),
        (RunOutcome.PAUSED, STOPPED, "paused: stopped by a person", "ralph run   goes on"),
        (RunOutcome.LIMIT_REACHED, "8 h", "limit reached: 8 h", "ralph run   goes on where"),
        (
            *(RunOutcome.INTERRUPTED, "by SIGINT"),
            *("interrupted by SIGINT: nothing is lost", "ralph run   goes on where"),
        ),
        (RunOutcome.NO_PLAN, "", "nothing to do: there are no tasks", 'ralph task add "TITLE"'),
        (RunOutcome.FAILURE, "it gave up", "failed: it gave up", "ralph task list --all"),
        (RunOutcome.ERROR, "no git", "ended by an error: no git", "ralph doctor"),
        (RunOutcome.BLOCKED, "", "blocked: nothing can start", "ralph task list --all"),
    ],
)
def test_every_outcome_says_what_to_do_next(
    outcome: RunOutcome, reason: str, headline: str, step: str
) -> None:
    lines = text(an_end(outcome, reason=reason)).splitlines()

    assert lines[1] == headline
    assert any(line.startswith(f"  next  {step}") for line in lines)


def test_the_command_that_goes_on_is_the_one_that_began() -> None:
    assert "next  ralph story build   goes on" in text(
        an_end(RunOutcome.LIMIT_REACHED), again="ralph story build"
    )


def test_unknown_cost_is_said_and_what_is_known_of_it() -> None:
    known, guess, unknown = session_cost(0.4), session_cost(0.2, estimated=True), session_cost(None)
    assert "cost unknown\n" in text(an_end(spent=unknown + unknown))
    output = text(an_end(spent=known + unknown + unknown))
    assert "· $0.40 and 2 sessions of unknown cost\n" in output
    assert "· ~$0.60\n" in text(an_end(spent=known + guess))
    assert "no cost\n" in text(an_end(attempts=0))
    assert "under $0.01\n" in text(an_end(spent=session_cost(0.001)))


def test_what_was_not_permitted_is_summed_up() -> None:
    assert "not permitted" not in text(an_end())
    shown = text(an_end(), denied={"Bash": 2, "Write": 1})
    assert "  ! 3 tool calls were not permitted: Bash (2), Write; `ralph logs` shows them" in shown
    assert "  ! 1 tool call was not permitted: Bash;" in text(an_end(), denied={"Bash": 1})


def test_who_paid_is_said_where_anything_was_spent() -> None:
    shown = text(an_end(spent=session_cost(1.0)), accounts=["a subscription", "an API key"])
    assert " · $1.00\n  paid by a subscription and an API key\n" in shown
    assert "paid by" not in text(an_end(attempts=0), accounts=["a subscription"])


def test_a_long_list_is_cut_and_counted() -> None:
    failed = [a_failure(number) for number in range(40)]
    ended = an_end(RunOutcome.COMPLETE_WITH_FAILURES, failed=40)
    shown = text(ended, failed=failed)
    assert shown.count("✗") == LISTED
    assert "    and 30 more failed\n" in shown

    waits = [WaitingTask(f"t-{n:06}", "x", tuple(f"t-{m:06}" for m in range(9))) for n in range(40)]
    shown = text(an_end(RunOutcome.BLOCKED), waits=waits)
    assert shown.count("○") == LISTED
    assert " and 4 more\n" in shown
    assert "    and 30 more wait\n" in shown


def test_names_from_outside_cannot_touch_the_terminal() -> None:
    wait = WaitingTask("t-\x1b[2J", "\x1b]0;title\x07", ("\x9b31m",))
    shown = text(an_end(RunOutcome.BLOCKED, reason="\x1b[1mx\ny"), waits=[wait], logs="a\nb\x1b")

    assert all(char.isprintable() or char == "\n" for char in shown)


def test_a_store_is_asked_who_waits_only_when_the_run_is_blocked() -> None:
    asked = []

    def waits() -> list[WaitingTask]:
        asked.append(1)
        return []

    run_view = RunView(waits=waits)
    closing_summary(an_end(), run_view)
    assert not asked
    closing_summary(an_end(RunOutcome.BLOCKED), run_view)
    assert asked


def test_the_tone_is_the_outcomes() -> None:
    tones = {outcome: closing_summary(an_end(outcome), RunView())[1].tone for outcome in RunOutcome}

    assert tones[RunOutcome.COMPLETE] is MessageTone.GOOD
    assert tones[RunOutcome.PAUSED] is MessageTone.WARNING
    assert tones[RunOutcome.FAILURE] is MessageTone.BAD
