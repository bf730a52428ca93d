"""Changing the state of tasks by hand."""

import pytest

from ralph.core.graph import Schedule
from ralph.core.ids import WorkerId
from ralph.core.run import AllTasks
from tests.cli.conftest import Cli, Keyboard, assert_one_line


def claim(ralph: Cli) -> str:
    """Let somebody take the next task."""
    with ralph.store() as store:
        taken = store.claims.claim(WorkerId("agent-1"), None, AllTasks(), Schedule.PRIORITY)
        assert taken is not None
        return taken.task.id


def test_done_and_reset(ralph: Cli) -> None:
    task = ralph.add("x")
    assert ralph("task", "done", task).out == f"{task}: done  x\n"
    assert ralph.status(task) == "done"
    ralph("task", "done", task)
    ralph("task", "reset", task)
    assert ralph.status(task) == "pending"


def test_fail_with_a_reason_and_retry(ralph: Cli) -> None:
    task = ralph.add("x")
    ralph("task", "fail", task, "-r", "no API")
    shown = ralph.json("task", "show", task)
    assert (shown["status"], shown["reason"]) == ("failed", "no API")
    assert "no API" in ralph("status").out
    ralph("task", "retry", task)
    assert ralph.status(task) == "pending"
    assert_one_line(ralph("task", "retry", task, code=64))


def test_block_and_unblock(ralph: Cli) -> None:
    task = ralph.add("x")
    ralph("task", "block", task, "-r", "designer")
    shown = ralph.json("task", "show", task)
    assert (shown["status"], shown["reason"]) == ("blocked", "designer")
    assert ralph.json("task", "list", "--ready") == []
    ralph("task", "unblock", task)
    assert ralph.status(task) == "pending"
    ralph("task", "block", task)
    assert ralph.json("task", "show", task)["reason"] == "blocked by a person"


def test_done_unblocks_and_completes(ralph: Cli) -> None:
    whole = ralph.add("whole")
    one = ralph.add("one", "--parent", whole)
    two = ralph.add("two", "--parent", whole, "--blocked-by", one)
    ralph("task", "done", one)
    assert [task["id"] for task in ralph.json("task", "list", "--ready")] == [two]
    ralph("task", "done", two)
    assert ralph.status(whole) == "done"


def test_several_at_once_with_options_between(ralph: Cli) -> None:
    one, two, three = ralph.add("1"), ralph.add("2"), ralph.add("3")
    changed = ralph.json("task", "done", one, two, one)
    assert [task["id"] for task in changed] == [one, two]
    assert ralph("task", "fail", three, "-r", "why", one, code=0).out.count("failed") == 2


def test_an_unknown_name_stops_everything_before_it_starts(ralph: Cli) -> None:
    task = ralph.add("x")
    assert_one_line(ralph("task", "done", task, "t-abcdef", code=66))
    assert ralph.status(task) == "pending"


def test_a_refusal_does_not_keep_the_others_from_changing(ralph: Cli) -> None:
    one, two, three = ralph.add("1"), ralph.add("2"), ralph.add("3")
    ralph("task", "block", two)
    answer = ralph("task", "unblock", one, two, three, code=64)
    assert ralph.status(two) == "pending"
    assert one in answer.err
    assert three in answer.err
    assert two not in answer.err


def test_near_matches_of_an_unknown_id(ralph: Cli) -> None:
    task = ralph.add("x")
    near = task[:-1] + ("0" if task[-1] != "0" else "1")
    answer = ralph("task", "show", near, code=66)
    assert_one_line(answer, hint=True)
    assert task in answer.err
    answer = ralph("task", "show", "like nothing at all", code=66)
    assert "ralph task list" in answer.err


@pytest.mark.parametrize(
    "argv",
    [
        ["task", "show"],
        ["task", "update", "--title", "x"],
        ["task", "delete", "--yes"],
        ["task", "done"],
        ["task", "fail"],
        ["task", "reset"],
        ["task", "retry"],
        ["task", "block"],
        ["task", "unblock"],
        ["task", "log"],
        ["task", "log", "-m", "x"],
        ["task", "deps", "list"],
        ["task", "tree"],
        ["session", "skip"],
        ["logs"],
        ["session", "inject", "hello", "--task"],
    ],
)
def test_an_unknown_task_is_one_line_everywhere(argv: list[str], ralph: Cli) -> None:
    ralph.add("x")
    for name in ("t-abcdef", "US-9", "\x1b[31m", "'; drop table tasks --", "%"):
        answer = ralph(*argv, name, code=66)
        assert_one_line(answer)
        assert "\x1b" not in answer.err
        assert not answer.out


def test_an_alias_serves_as_well_as_an_id(ralph: Cli) -> None:
    ralph("task", "import", "-", stdin=b'{"title": "story", "alias": "US-001"}')
    assert ralph.json("task", "show", "US-001")["title"] == "story"
    ralph("task", "block", "US-001")
    ralph("task", "unblock", "US-001")
    ralph("task", "log", "US-001", "-m", "hello")
    ralph.add("part", "--parent", "US-001")
    ralph("task", "deps", "add", "US-001", ralph.add("next"))
    ralph("task", "done", "US-001")
    assert ralph.status("US-001") == "done"


def test_the_log_of_a_task(ralph: Cli) -> None:
    task = ralph.add("x")
    assert ralph("task", "log", task, "-m", "first\x1b[2J").out == ""
    ralph("task", "log", task, "-m", "second")
    lines = ralph("task", "log", task).out.splitlines()
    assert lines[-2].endswith("first\u241b[2J")
    assert lines[-1].endswith("second")
    assert len(ralph("task", "log", task, "-n", "1").out.splitlines()) == 1
    entries = ralph.json("task", "log", task)
    assert entries[-1]["message"] == "second"
    assert "second" in ralph("task", "show", task).out
    assert_one_line(ralph("task", "log", task, "-m", " ", code=64))


def test_edges(ralph: Cli) -> None:
    one, two = ralph.add("one"), ralph.add("two")
    assert "nothing" in ralph("task", "deps", "list", one).out
    ralph("task", "deps", "add", one, two)
    ralph("task", "deps", "add", one, two)
    assert ralph.json("task", "deps", "list", two)["blockers"][0]["id"] == one
    assert "holds up" in ralph("task", "deps", "list", one).out
    ralph("task", "deps", "rm", one, two)
    assert ralph.json("task", "deps", "list", two)["blockers"] == []
    assert_one_line(ralph("task", "deps", "rm", one, two, code=66), hint=True)


def test_a_circle_is_refused(ralph: Cli) -> None:
    one, two, three = ralph.add("1"), ralph.add("2"), ralph.add("3")
    ralph("task", "deps", "add", one, two)
    ralph("task", "deps", "add", two, three)
    answer = ralph("task", "deps", "add", three, one, code=64)
    assert_one_line(answer)
    assert one in answer.err
    assert_one_line(ralph("task", "deps", "add", one, one, code=64))


def test_deleting_asks_first(ralph: Cli) -> None:
    whole = ralph.add("whole")
    part = ralph.add("part", "--parent", whole)
    answer = ralph("task", "delete", whole, code=64)
    assert part in answer.err, "it says what would go"
    assert "--yes" in answer.err
    assert len(ralph.json("task", "list")) == 2
    assert sorted(ralph.json("task", "delete", part, whole, "--yes")) == sorted([whole, part])
    assert ralph.json("task", "list") == []


def test_a_person_may_say_yes_or_no(ralph: Cli) -> None:
    task = ralph.add("x")
    answer = ralph("task", "delete", task, stdin=Keyboard(b"n\n"), code=1)
    assert "nothing was changed" in answer.err
    assert ralph.status(task) == "pending"
    ralph("task", "delete", task, stdin=Keyboard(b"y\n"))
    assert ralph.json("task", "list") == []


def test_deleting_a_task_in_progress_says_that_its_session_stops(ralph: Cli) -> None:
    task = ralph.add("x")
    assert claim(ralph) == task
    answer = ralph("task", "delete", task, code=64)
    assert "stops the running session" in answer.err
    answer = ralph("task", "delete", task, "--yes")
    assert "will be stopped" in answer.err
    assert answer.out == "deleted 1 task\n"
