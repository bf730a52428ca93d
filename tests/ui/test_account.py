import pytest

from ralph.core.events import RunEnded
from ralph.core.ids import RunId, TaskId
from ralph.core.outcome import EXIT_CODES, Outcome
from ralph.core.spent import one_session
from ralph.core.task import Status
from ralph.ui.account import LISTED, account, account_of
from ralph.ui.board import Board, Settled, Wait
from ralph.ui.story import Tone
from ralph.ui.team import Team


def an_end(outcome: Outcome = Outcome.COMPLETE, **fields: object) -> RunEnded:
    body = {"done": 3, "attempts": 4, "commits": 3, "duration_s": 3840.0} | fields
    code = EXIT_CODES[outcome]
    return RunEnded(run_id=RunId("run-1"), outcome=outcome, exit_code=code, **body)  # type: ignore


def a_failure(number: int = 1, **fields: object) -> Settled:
    body = {"duration_s": 60.0, "spent": one_session(0.5), "reason": "gate test fails"} | fields
    task = TaskId(f"t-{number:06}")
    title = f"Task {number}"
    return Settled(task_id=task, title=title, status=Status.FAILED, attempts=4, **body)  # type: ignore


def text(*args: RunEnded, **fields: object) -> str:
    return "\n".join(line.text for line in account_of(*args, **fields))  # type: ignore[arg-type]


def test_a_complete_run_shows_its_figures_and_its_commits() -> None:
    assert (
        text(an_end(spent=one_session(4.123)))
        == """
complete
  3 done · 0 failed · 4 attempts · 3 commits · 1h 04m · $4.12
  logs  .ralph/runs
  next  git log --oneline -3"""
    )


def test_a_teams_commits_are_looked_for_on_its_branch() -> None:
    team = Team()
    team.branch = "feature/a b"
    assert text(an_end(), team=team).endswith("next  git log --oneline -3 'feature/a b'")


def test_failed_tasks_are_named_with_their_reasons_and_the_way_out() -> None:
    ended = an_end(Outcome.COMPLETE_WITH_FAILURES, failed=1, spent=one_session(1.0))
    assert (
        text(ended, failed=[a_failure()])
        == """
complete, with failed tasks
  3 done · 1 failed · 4 attempts · 3 commits · 1h 04m · $1.00
  ✗ t-000001 Task 1 (4 attempts, 1m 00s, $0.50): gate test fails
  logs  .ralph/runs
  next  ralph logs t-000001
        ralph task retry t-000001 && ralph run"""
    )


def test_a_blocked_run_says_who_waits_for_whom_and_what_to_mend_first() -> None:
    waits = [
        Wait("t-00000a", "Show the hits", ("t-000001",)),
        Wait("t-00000b", "Ask a person", ()),
        Wait("t-00000c", "Ship it", ("t-000001", "t-000002")),
    ]
    shown = text(an_end(Outcome.BLOCKED), waits=waits, failed=[a_failure(2)])

    assert "blocked: nothing can start" in shown
    assert "  ○ t-00000a Show the hits waits for t-000001\n" in shown
    assert "  ○ t-00000b Ask a person waits for a person\n" in shown
    assert "  ○ t-00000c Ship it waits for t-000001, t-000002\n" in shown
    assert "next  ralph logs t-000001\n" in shown


@pytest.mark.parametrize("others", [(), ("t-00000a",)], ids=["alone", "with others behind it"])
def test_what_somebody_has_blocked_is_to_be_unblocked(others: tuple[str, ...]) -> None:
    waits = [
        Wait("t-00000a", "Ask a person", (), is_blocked=True),
        *(Wait("t-00000b", "Ship it", (one,)) for one in others),
    ]
    shown = text(an_end(Outcome.BLOCKED), waits=waits)
    assert "ralph task unblock t-00000a && ralph run" in shown


@pytest.mark.parametrize(
    ("outcome", "reason", "headline", "step"),
    [
        (Outcome.PAUSED, "sign in again", "paused: sign in again", "ralph run   once that is"),
        (Outcome.LIMIT_REACHED, "8 h", "limit reached: 8 h", "ralph run   goes on where"),
        (Outcome.INTERRUPTED, "", "interrupted: nothing is lost", "ralph run   goes on where"),
        (Outcome.NO_PLAN, "", "nothing to do: there are no tasks", 'ralph task add "TITLE"'),
        (Outcome.FAILURE, "it gave up", "failed: it gave up", "ralph task list --all"),
        (Outcome.ERROR, "no git", "ended by an error: no git", "ralph doctor"),
        (Outcome.BLOCKED, "", "blocked: nothing can start", "ralph task list --all"),
    ],
)
def test_every_outcome_says_what_to_do_next(
    outcome: Outcome, reason: str, headline: str, step: str
) -> None:
    lines = text(an_end(outcome, reason=reason)).splitlines()

    assert lines[1] == headline
    assert any(line.startswith(f"  next  {step}") for line in lines)


def test_the_command_that_goes_on_is_the_one_that_began() -> None:
    assert "next  ralph build   goes on" in text(an_end(Outcome.LIMIT_REACHED), again="ralph build")


def test_unknown_cost_is_said_and_what_is_known_of_it() -> None:
    known, guess, unknown = one_session(0.4), one_session(0.2, estimated=True), one_session(None)
    assert "cost unknown\n" in text(an_end(spent=unknown + unknown))
    told = text(an_end(spent=known + unknown + unknown))
    assert "· $0.40 and 2 sessions of unknown cost\n" in told
    assert "· ~$0.60\n" in text(an_end(spent=known + guess))
    assert "no cost\n" in text(an_end(attempts=0))
    assert "under $0.01\n" in text(an_end(spent=one_session(0.001)))


def test_what_was_not_permitted_is_summed_up() -> None:
    assert "not permitted" not in text(an_end())
    shown = text(an_end(), denied={"Bash": 2, "Write": 1})
    assert (
        "  ! 3 tool calls were not permitted: Bash (2), Write; see docs/how-to/choose-an-agent.md"
        in shown
    )
    assert "  ! 1 tool call was not permitted: Bash;" in text(an_end(), denied={"Bash": 1})


def test_who_paid_is_said_where_anything_was_spent() -> None:
    shown = text(an_end(spent=one_session(1.0)), accounts=["a subscription", "an API key"])
    assert " · $1.00\n  paid by a subscription and an API key\n" in shown
    assert "paid by" not in text(an_end(attempts=0), accounts=["a subscription"])


def test_a_long_list_is_cut_and_counted() -> None:
    failed = [a_failure(number) for number in range(40)]
    ended = an_end(Outcome.COMPLETE_WITH_FAILURES, failed=40)
    shown = text(ended, failed=failed)
    assert shown.count("✗") == LISTED
    assert "    and 30 more failed\n" in shown

    waits = [Wait(f"t-{n:06}", "x", tuple(f"t-{m:06}" for m in range(9))) for n in range(40)]
    shown = text(an_end(Outcome.BLOCKED), waits=waits)
    assert shown.count("○") == LISTED
    assert " and 4 more\n" in shown
    assert "    and 30 more wait\n" in shown


def test_names_from_outside_cannot_touch_the_terminal() -> None:
    wait = Wait("t-\x1b[2J", "\x1b]0;title\x07", ("\x9b31m",))
    shown = text(an_end(Outcome.BLOCKED, reason="\x1b[1mx\ny"), waits=[wait], logs="a\nb\x1b")

    assert all(char.isprintable() or char == "\n" for char in shown)


def test_a_store_is_asked_who_waits_only_when_the_run_is_blocked() -> None:
    asked = []

    def waits() -> list[Wait]:
        asked.append(1)
        return []

    board = Board(waits=waits)
    account(an_end(), board)
    assert not asked
    account(an_end(Outcome.BLOCKED), board)
    assert asked


def test_the_tone_is_the_outcomes() -> None:
    tones = {outcome: account_of(an_end(outcome))[1].tone for outcome in Outcome}

    assert tones[Outcome.COMPLETE] is Tone.GOOD
    assert tones[Outcome.PAUSED] is Tone.WARNING
    assert tones[Outcome.FAILURE] is Tone.BAD
