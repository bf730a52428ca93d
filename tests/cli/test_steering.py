"""Talking to a run while it works."""

import pytest

from ralph.ports.history import Word
from tests.cli.conftest import Cli, assert_one_line
from tests.cli.running import a_run


@pytest.mark.parametrize(
    ("argv", "word"),
    [
        (["pause"], Word.PAUSE),
        (["resume"], Word.RESUME),
        (["stop"], Word.STOP),
        (["stop", "--now"], Word.STOP_NOW),
        (["handoff"], Word.HAND_OFF),
    ],
)
def test_a_word_reaches_the_run(argv: list[str], word: Word, ralph: Cli) -> None:
    assert_one_line(ralph(*argv, code=1), hint=True)
    with a_run(ralph) as running:
        assert running.run in ralph(*argv).out
        assert [one.word for one in running.store.take_controls(running.run)] == [word]
        running.finish()
        assert_one_line(ralph(*argv, code=1))


def test_a_dead_run_hears_nothing(ralph: Cli) -> None:
    with a_run(ralph, alive=False):
        assert_one_line(ralph("pause", code=1))


def test_skipping_without_a_run_blocks_the_task(ralph: Cli) -> None:
    task = ralph.add("x")
    ralph("skip", task, "-r", "later")
    shown = ralph.json("task", "show", task)
    assert (shown["status"], shown["reason"]) == ("blocked", "later")
    assert_one_line(ralph("skip", task, code=64))


def test_skipping_a_task_in_progress_asks_its_run(ralph: Cli) -> None:
    ralph.add("x")
    with a_run(ralph) as running:
        task = running.claim().task.id
        assert running.run in ralph("skip", task, "-r", "later").out
        (control,) = running.store.take_controls(running.run)
        asked = (control.word, control.task_id, control.reason)
        assert asked == (Word.SKIP, task, "later")
    assert ralph.status(task) == "in_progress"


def test_skipping_a_task_of_a_dead_run_blocks_it(ralph: Cli) -> None:
    ralph.add("x")
    with a_run(ralph, alive=False) as running:
        task = running.claim().task.id
    ralph("skip", task)
    assert ralph.status(task) == "blocked"


def test_another_task_is_blocked_even_while_a_run_works(ralph: Cli) -> None:
    ralph.add("x")
    other = ralph.add("y")
    with a_run(ralph) as running:
        running.claim()
        ralph("skip", other)
        assert running.store.take_controls(running.run) == []
    assert ralph.status(other) == "blocked"


def test_one_session_of_several_can_be_asked_to_hand_over(ralph: Cli) -> None:
    ralph.add("x", "--priority", "0")
    other = ralph.add("y", "--priority", "1")
    with a_run(ralph) as running:
        task = running.claim().task.id
        assert task in ralph("handoff", task).out
        (control,) = running.store.take_controls(running.run)
        assert (control.word, control.task_id) == (Word.HAND_OFF, task)
        refused = ralph("handoff", other, code=64)
        assert f"task {other} is pending, so no session is at work on it" in refused.err
        assert_one_line(ralph("handoff", "t-nothing", code=66))


def test_guidance_waits_for_the_next_session(ralph: Cli) -> None:
    task = ralph.add("x")
    assert "no run is at work" in ralph("inject", "use the fixture").out
    assert task in ralph("inject", "only you", "--task", task).out
    ralph("inject", "-", stdin=b"from a file\n")
    with a_run(ralph) as running:
        assert "no run" not in ralph("inject", "again").out
        said = running.store.guidance(running.claim().task.id, 1)
    assert said == ["use the fixture", "only you", "from a file", "again"]
    assert_one_line(ralph("inject", "  ", code=64))


def test_inside_a_session_done_is_a_claim(ralph: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop answers for the store there and leaves the task in progress."""
    ralph.add("x")
    with a_run(ralph) as running:
        task = running.claim().task.id
        monkeypatch.setattr(type(running.store), "force_done", lambda store, name: store.find(name))
        answer = ralph("task", "done", task)
    assert answer.out == f"{task}: claim recorded; Ralph will judge it\n"
