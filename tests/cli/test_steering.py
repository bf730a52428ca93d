"""Talking to a run while it works."""

import pytest

from ralph.store.messages import ControlWord
from tests.cli.conftest import Cli, assert_one_line
from tests.cli.running import a_run


@pytest.mark.parametrize(
    ("argv", "word"),
    [
        (["pause"], ControlWord.PAUSE),
        (["resume"], ControlWord.RESUME),
        (["stop"], ControlWord.STOP),
        (["stop", "--now"], ControlWord.STOP_NOW),
        (["session", "handoff"], ControlWord.HAND_OFF),
    ],
)
def test_a_word_reaches_the_run(argv: list[str], word: ControlWord, ralph: Cli) -> None:
    assert_one_line(ralph(*argv, code=1), hint=True)
    with a_run(ralph) as running:
        assert running.run in ralph(*argv).out
        assert [one.word for one in running.store.messages.take_controls(running.run)] == [word]
        running.finish()
        assert_one_line(ralph(*argv, code=1))


def test_a_dead_run_hears_nothing(ralph: Cli) -> None:
    with a_run(ralph, alive=False):
        assert_one_line(ralph("pause", code=1))


def test_skipping_without_a_run_blocks_the_task(ralph: Cli) -> None:
    task = ralph.add("x")
    ralph("session", "skip", task, "-r", "later")
    shown = ralph.json("task", "show", task)
    assert (shown["status"], shown["reason"]) == ("blocked", "later")
    assert_one_line(ralph("session", "skip", task, code=64))


def test_skipping_a_task_in_progress_asks_its_run(ralph: Cli) -> None:
    ralph.add("x")
    with a_run(ralph) as running:
        task = running.claim().task.id
        assert running.run in ralph("session", "skip", task, "-r", "later").out
        (control,) = running.store.messages.take_controls(running.run)
        asked = (control.word, control.task_id, control.reason)
        assert asked == (ControlWord.SKIP, task, "later")
    assert ralph.status(task) == "in_progress"


def test_skipping_a_task_of_a_dead_run_blocks_it(ralph: Cli) -> None:
    ralph.add("x")
    with a_run(ralph, alive=False) as running:
        task = running.claim().task.id
    ralph("session", "skip", task)
    assert ralph.status(task) == "blocked"


def test_another_task_is_blocked_even_while_a_run_works(ralph: Cli) -> None:
    ralph.add("x")
    other = ralph.add("y")
    with a_run(ralph) as running:
        running.claim()
        ralph("session", "skip", other)
        assert running.store.messages.take_controls(running.run) == []
    assert ralph.status(other) == "blocked"


def test_one_session_of_several_can_be_asked_to_hand_over(ralph: Cli) -> None:
    ralph.add("x", "--priority", "0")
    other = ralph.add("y", "--priority", "1")
    with a_run(ralph) as running:
        task = running.claim().task.id
        assert task in ralph("session", "handoff", task).out
        (control,) = running.store.messages.take_controls(running.run)
        assert (control.word, control.task_id) == (ControlWord.HAND_OFF, task)
        refused = ralph("session", "handoff", other, code=64)
        assert f"task {other} is pending, so no session is at work on it" in refused.err
        assert_one_line(ralph("session", "handoff", "t-nothing", code=66))


def test_guidance_waits_for_the_next_session(ralph: Cli) -> None:
    task = ralph.add("x")
    assert "no run is at work" in ralph("session", "inject", "use the fixture").out
    assert task in ralph("session", "inject", "only you", "--task", task).out
    ralph("session", "inject", "-", stdin=b"from a file\n")
    with a_run(ralph) as running:
        assert "no run" not in ralph("session", "inject", "again").out
        said = running.store.messages.guidance(running.claim().task.id, 1)
    assert said == ["use the fixture", "only you", "from a file", "again"]
    assert_one_line(ralph("session", "inject", "  ", code=64))


def test_inside_a_session_done_is_a_claim(ralph: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop answers for the store there and leaves the task in progress."""
    ralph.add("x")
    with a_run(ralph) as running:
        task = running.claim().task.id
        monkeypatch.setattr(
            type(running.store.tasks), "force_done", lambda tasks, name: tasks.find(name)
        )
        answer = ralph("task", "done", task)
    assert answer.out == f"{task}: claim recorded; Ralph will judge it\n"
