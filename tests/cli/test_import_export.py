"""Taking a graph out and bringing one in."""

import json
from pathlib import Path
from typing import Any

import pytest

from ralph.core.graph import Schedule
from ralph.core.ids import WorkerId
from ralph.core.run import AllTasks
from tests.cli.conftest import Cli, assert_one_line, in_git

KEPT = (
    *("id", "title", "description", "status", "parent_id", "priority", "max_retries"),
    *("alias", "needs_change", "feature", "blockers", "files"),
)


def lines(*tasks: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(task).encode() + b"\n" for task in tasks)


def exported(ralph: Cli, *args: str) -> dict[str, dict[str, Any]]:
    tasks = [json.loads(line) for line in ralph("task", "export", *args).out.splitlines()]
    return {task["id"]: {name: task[name] for name in KEPT} for task in tasks}


@pytest.fixture
def other(ralph: Cli, tmp_path: Path) -> Cli:
    """Another project."""
    cli = Cli(in_git(tmp_path / "other"), ralph.capsys, ralph.monkeypatch)
    cli("init")
    return cli


def test_what_was_exported_can_be_imported(ralph: Cli, other: Cli) -> None:
    one = ralph.add("one", "--feature", "login", "--priority", "2")
    two = ralph.add("two \u2713\nline", "-d", "long\ntext", "--blocked-by", one, "--no-change")
    ralph.add("part", "--parent", two, "--max-retries", "9", "--file", "./x.py", "--file", "a/b")
    ralph("task", "done", one)
    text = ralph("task", "export").out.encode()
    assert other("task", "import", "-", stdin=text).out == "added 3\n"
    assert exported(other) == exported(ralph)
    assert other("task", "export").out.count("\n") == 3


def test_a_claim_stays_at_home(ralph: Cli, other: Cli) -> None:
    ralph.add("x")
    with ralph.store() as store:
        assert store.claims.claim(WorkerId("agent-1"), None, AllTasks(), Schedule.PRIORITY)
    text = ralph("task", "export").out.encode()
    assert b"in_progress" in text
    other("task", "import", "-", stdin=text)
    (task,) = other.json("task", "list")
    assert (task["status"], task["claimed_by"], task["attempt"]) == ("pending", None, 0)


def test_only_a_feature(ralph: Cli) -> None:
    one = ralph.add("a", "--feature", "one")
    ralph.add("b", "--feature", "two")
    assert list(exported(ralph, "--feature", "one")) == [one]
    assert_one_line(ralph("task", "export", "--feature", "three", code=66), hint=True)


def test_drafts_may_name_each_other_in_any_order(ralph: Cli) -> None:
    there = ralph.add("there")
    ralph(
        "task",
        "import",
        "-",
        stdin=lines(
            {"title": "second", "alias": "B", "blockers": ["A", there]},
            {"title": "first", "alias": "A"},
            {"title": "part", "parent_id": "B"},
            {"title": "alone"},
        ),
    )
    tasks = {task["title"]: task for task in ralph.json("task", "list")}
    assert sorted(tasks["second"]["blockers"]) == sorted([tasks["first"]["id"], there])
    assert tasks["part"]["parent_id"] == tasks["second"]["id"]


def test_a_file_works_like_standard_input(ralph: Cli) -> None:
    (ralph.path / "tasks.jsonl").write_bytes(b"\xef\xbb\xbf" + lines({"title": "x"}) + b"\n \n")
    assert ralph.json("task", "import", "tasks.jsonl") == {"added": 1, "skipped": 0}
    assert_one_line(ralph("task", "import", "nothing.jsonl", code=66))
    assert_one_line(ralph("task", "import", ".", code=66))


def test_an_empty_file_adds_nothing(ralph: Cli) -> None:
    assert ralph("task", "import", "-", stdin=b"").out == "added 0\n"


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        (b"{", 65, "line 2: "),
        (b"{]", 65, "line 2: JSON is malformed"),
        (b"[]", 65, "line 2"),
        (b'{"title": 3}', 65, "line 2"),
        (b'{"title": "x", "titel": "y"}', 65, "titel"),
        (b"{}", 65, "title"),
        (b'{"title": " "}', 65, "title is empty"),
        (b'{"title": "x", "id": "17"}', 65, "'17'"),
        (b'{"title": "x", "id": "../../etc"}', 65, "etc"),
        (b'{"title": "x", "status": "open"}', 65, "open"),
        (b'{"title": "x", "priority": 99999999999999}', 65, "priority"),
        (b'{"title": "x", "max_retries": -1}', 65, "max_retries"),
        (b'{"title": "x", "alias": ""}', 65, "alias"),
        (b'{"title": "x", "alias": "a\\nb"}', 65, "alias"),
        (b'{"title": "x", "feature": ""}', 65, "feature"),
        (b'{"title": "x", "blockers": ["nobody"]}', 66, "'nobody'"),
        (b'{"title": "x", "parent_id": "nobody"}', 66, "'nobody'"),
        (b'{"title": "x", "alias": "FIRST", "feature": "made too early"}', 65, "FIRST"),
        (b'{"title": "caf\xe9"}', 65, "line 2"),
        (b'{"title": "\\ud800"}', 65, "line 2"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_added(
    line: bytes, code: int, said: str, ralph: Cli
) -> None:
    first = lines({"title": "good", "alias": "FIRST", "feature": "made too early"})
    answer = ralph("task", "import", "-", stdin=first + line + b"\n", code=code)
    assert_one_line(answer)
    assert "line 2" in answer.err
    assert said in answer.err
    assert ralph.json("task", "list", "--all") == []
    assert ralph.json("feature", "list") == []


def test_a_circle_names_its_tasks_and_nothing_is_added(ralph: Cli) -> None:
    answer = ralph(
        "task",
        "import",
        "-",
        stdin=lines(
            {"title": "1", "alias": "A", "blockers": ["C"], "feature": "made too early"},
            {"title": "2", "alias": "B", "parent_id": "A"},
            {"title": "3", "alias": "C", "blockers": ["B"]},
        ),
        code=64,
    )
    assert_one_line(answer)
    assert "task A would wait for itself by way of B, C" in answer.err
    assert ralph.json("task", "list") == []
    assert ralph.json("feature", "list") == []


def test_a_circle_through_stored_tasks_is_refused_too(ralph: Cli) -> None:
    whole = ralph.add("whole")
    ralph.add("part", "--parent", whole)
    after = ralph.add("after", "--blocked-by", whole)
    text = lines({"title": "x", "parent_id": whole, "blockers": [after]})
    assert_one_line(ralph("task", "import", "-", stdin=text, code=64))
    assert len(ralph.json("task", "list")) == 3


def test_what_is_there_already_is_refused_or_skipped(ralph: Cli) -> None:
    one = ralph.add("one")
    text = ralph("task", "export").out.encode() + lines({"title": "two", "blockers": [one]})
    answer = ralph("task", "import", "-", stdin=text, code=64)
    assert_one_line(answer, hint=True)
    assert f"{one} (line 1)" in answer.err
    assert len(ralph.json("task", "list")) == 1
    answer = ralph("task", "import", "-", "--skip-existing", stdin=text)
    assert answer.out == "added 1, skipped 1\n"
    assert ralph.json("task", "list")[1]["blockers"] == [one]


def test_the_same_alias_may_live_in_two_features(ralph: Cli) -> None:
    text = lines(
        {"title": "a1", "alias": "US-1", "feature": "a"},
        {"title": "b1", "alias": "US-1", "feature": "b"},
        {"title": "b2", "blockers": ["US-1"], "feature": "b"},
    )
    ralph("task", "import", "-", stdin=text)
    tasks = {task["title"]: task for task in ralph.json("task", "list")}
    assert tasks["b2"]["blockers"] == [tasks["b1"]["id"]]
    answer = ralph(
        "task", "import", "-", stdin=lines({"title": "x", "blockers": ["US-1"]}), code=65
    )
    assert "several features" in answer.err


def test_why_a_task_is_blocked_goes_along(ralph: Cli) -> None:
    task = ralph.add("x")
    ralph("task", "block", task, "-r", "waits for the new API")
    exported = ralph("task", "export").out
    ralph("task", "delete", task, "--yes")
    ralph("task", "import", "-", stdin=exported.encode())
    shown = ralph.json("task", "show", task)
    assert (shown["status"], shown["reason"]) == ("blocked", "waits for the new API")


def test_a_file_outside_the_project_is_refused_with_its_line(ralph: Cli) -> None:
    text = lines({"title": "a"}, {"title": "b", "files": ["../x"]})
    answer = ralph("task", "import", "-", stdin=text, code=65)
    assert_one_line(answer, hint=True)
    assert "line 2: '../x' is not a file" in answer.err
