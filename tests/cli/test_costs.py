"""What it cost, wherever a person looks for it."""

import time

import pytest

from tests.cli.conftest import Cli
from tests.cli.running import NOON, Running, a_run

DAY = time.strftime("%Y-%m-%d", time.localtime(NOON + 95))


def paid(ralph: Cli) -> str:
    """Three sessions of one task: reported, estimated, and of unknown cost."""
    task = ralph.add("Write the parser")
    with a_run(ralph) as running:
        spend(running)
    return task


def spend(running: Running) -> None:
    running.pay(1.25, model="large", input_tokens=1200, cached_tokens=1000, output_tokens=34)
    running.pay(0.5, estimated=True, model="small", input_tokens=10, output_tokens=1)
    running.pay(None)
    running.finish()


def table(ralph: Cli, *args: str) -> list[list[str]]:
    lines = ralph("costs", *args).out.splitlines()
    return [line.split(maxsplit=5) for line in lines]


def test_before_any_session_there_is_nothing_to_show(ralph: Cli) -> None:
    assert ralph("costs").out == "no session has ended yet\n"
    nothing = ralph.json("costs")
    assert nothing["costs"] == []
    assert nothing["total"]["cost_usd"] is None
    assert nothing["total"]["sessions"] == 0


def test_by_run_with_a_total_that_says_what_it_does_not_know(ralph: Cli) -> None:
    paid(ralph)
    cost = "~$1.75 and 1 session of unknown cost"
    assert table(ralph) == [
        ["RUN", "SESSIONS", "INPUT", "CACHED", "OUTPUT", "COST"],
        ["20270115-080000-1", "3", "1,210", "1,000", "35", cost],
        ["total", "3", "1,210", "1,000", "35", cost],
    ]


def test_by_model_the_dearest_first(ralph: Cli) -> None:
    paid(ralph)
    assert table(ralph, "--by", "model")[1:4] == [
        ["large", "1", "1,200", "1,000", "34", "$1.25"],
        ["small", "1", "10", "0", "1", "~$0.50"],
        ["unknown", "1", "unknown", "unknown", "unknown", "unknown"],
    ]


def test_by_task_with_titles_even_of_deleted_ones(ralph: Cli) -> None:
    task = paid(ralph)
    shown = ralph("costs", "--by", "task").out
    assert f"{task}" in shown
    assert "Write the parser" in shown
    ralph("task", "delete", task, "--yes")
    assert "(deleted)" in ralph("costs", "--by", "task").out
    assert ralph.json("costs", "--task", task)["total"]["sessions"] == 3


@pytest.mark.parametrize(("by", "key"), [("agent", "scripted"), ("day", DAY)])
def test_by_agent_and_by_day(ralph: Cli, by: str, key: str) -> None:
    paid(ralph)
    (group,) = ralph.json("costs", "--by", by)["costs"]
    assert group[by] == key
    assert group["sessions"] == 3


def test_json_tells_reported_estimated_and_unknown_apart(ralph: Cli) -> None:
    paid(ralph)
    answer = ralph.json("costs", "--by", "model")
    assert answer["by"] == "model"
    assert answer["total"] == {
        "cost_usd": None,
        "known_usd": 1.75,
        "sessions": 3,
        "reported": 1,
        "estimated": 1,
        "unknown": 1,
        "reported_usd": 1.25,
        "estimated_usd": 0.5,
        "counted": 2,
        "input_tokens": 1210,
        "cached_tokens": 1000,
        "output_tokens": 35,
    }
    large, _, unknown = answer["costs"]
    assert (large["model"], large["cost_usd"]) == ("large", 1.25)
    assert (unknown["model"], unknown["cost_usd"], unknown["input_tokens"]) == (None, None, None)


def test_only_what_is_asked_for(ralph: Cli) -> None:
    parent = ralph.add("parent")
    ralph.add("child", "--parent", parent)
    other = ralph.add("other", "--priority", "5")
    with a_run(ralph, name="20270115-080000-1") as running:
        running.pay(1.0)
        running.finish()
    ralph("task", "block", ralph.json("task", "show", parent)["children"][0])
    with a_run(ralph, name="20270116-080000-1") as running:
        running.pay(2.0)
        running.finish()

    def known(*args: str) -> float:
        return float(ralph.json("costs", *args)["total"]["known_usd"])

    assert known() == 3.0
    assert known("--run", "20270116-080000-1") == 2.0
    assert known("--task", parent) == 1.0
    assert known("--task", other) == 2.0
    assert known("--since", DAY) == 3.0
    assert known("--since", "2099-01-01") == 0.0
    assert ralph("costs", "--since", "2099-01-01").out == "no such session\n"


def test_more_than_is_shown_is_said(ralph: Cli) -> None:
    ralph.add("a")
    for day in range(3):
        with a_run(ralph, name=f"2027010{day}-080000-1") as running:
            running.pay(1.0)
            running.finish()
    answer = ralph("costs", "--limit", "2")
    assert len(answer.out.splitlines()) == 4
    assert "there are more" in answer.err
    assert "total              3" in answer.out
    assert not ralph("costs").err


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["--run", "nothing"], 66, "there is no run nothing"),
        (["--task", "t-ffffff"], 66, "t-ffffff"),
        (["--since", "someday"], 64, "'someday' is not a day"),
        (["--since", "2026-02-30"], 64, "is not a day"),
        (["--by", "weather"], 64, "weather"),
        (["--limit", "-1"], 64, "-1"),
    ],
)
def test_what_does_not_exist_is_said_in_one_line(
    ralph: Cli, args: list[str], code: int, words: str
) -> None:
    answer = ralph("costs", *args, code=None)
    assert answer.code == code
    assert words in answer.err
    assert len(answer.err.splitlines()) <= 2


@pytest.mark.parametrize("day", ["today", "yesterday", "2026-11-15"])
def test_days_that_are_understood(ralph: Cli, day: str) -> None:
    assert ralph("costs", "--since", day).out == "no such session\n"


# Elsewhere


def test_status_tells_what_the_last_run_cost(ralph: Cli) -> None:
    paid(ralph)
    assert "(cost ~$1.75 and 1 session of unknown cost)" in ralph("status").out
    spent = ralph.json("status")["spent"]["20270115-080000-1"]
    assert (spent["reported_usd"], spent["unknown"]) == (1.25, 1)


def test_a_task_tells_what_it_and_each_attempt_cost(ralph: Cli) -> None:
    task = paid(ralph)
    shown = ralph("task", "show", task).out
    assert "cost        ~$1.75 and 1 session of unknown cost" in shown
    assert "scripted large  finished  1m 35s  $1.25" in shown
    assert "scripted small  finished  1m 35s  ~$0.50" in shown
    assert "scripted  finished  1m 35s  cost unknown" in shown
    assert ralph.json("task", "show", task)["spent"]["sessions"] == 3


def test_logs_tell_what_a_run_and_each_session_cost(ralph: Cli) -> None:
    paid(ralph)
    shown = ralph("logs").out
    assert "cost ~$1.75 and 1 session of unknown cost" in shown
    assert "scripted large  finished after 1m 35s  $1.25" in shown


def test_a_task_without_sessions_has_no_cost(ralph: Cli) -> None:
    assert "cost" not in ralph("task", "show", ralph.add("new")).out
