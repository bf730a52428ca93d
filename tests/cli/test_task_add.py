"""Adding tasks and changing what they say."""

import pytest

from ralph.core.task import LONGEST_TEXT
from tests.cli.conftest import Cli, assert_one_line

CONTRACT = (
    *("id", "title", "status", "parent_id", "feature_id", "priority", "retry_count", "attempt"),
    *("max_retries", "claimed_by", "blockers"),
)
"""What scripts may rely on."""


def test_the_id_and_nothing_else_is_printed(ralph: Cli) -> None:
    answer = ralph("task", "add", "one")
    assert answer.err == ""
    task = answer.out.removesuffix("\n")
    assert task.startswith("t-")
    assert len(task) >= 8
    assert ralph.json("task", "show", task)["title"] == "one"


def test_json_is_the_task(ralph: Cli) -> None:
    first = ralph.add("first")
    task = ralph.json(
        "task",
        "add",
        "x",
        "-d",
        "y",
        "--priority",
        "-3",
        "--max-retries",
        "0",
        "--blocked-by",
        first,
    )
    assert set(CONTRACT) <= set(task)
    assert (task["title"], task["description"]) == ("x", "y")
    assert (task["priority"], task["max_retries"]) == (-3, 0)
    assert (task["status"], task["blockers"]) == ("pending", [first])
    assert task == {name: ralph.json("task", "show", task["id"])[name] for name in task}


def test_parent_feature_and_several_blockers(ralph: Cli) -> None:
    one, two = ralph.add("one"), ralph.add("two")
    parent = ralph.add("whole", "--feature", "log in")
    part = ralph.add("part", "--parent", parent, "--blocked-by", one, "--blocked-by", two)
    shown = ralph.json("task", "show", part)
    assert shown["parent_id"] == parent
    assert sorted(shown["blockers"]) == sorted([one, two])
    assert shown["feature"] == "log in", "a part belongs to its parent's feature"
    assert ralph.json("task", "show", parent)["children"] == [part]
    assert ralph.json("task", "show", one)["dependents"] == [part]
    assert [feature["name"] for feature in ralph.json("feature", "list")] == ["log in"]


def test_a_task_may_need_no_change(ralph: Cli) -> None:
    assert ralph.json("task", "add", "look", "--no-change")["needs_change"] is False
    assert ralph.json("task", "add", "do")["needs_change"] is True


def test_the_settings_say_how_many_retries(ralph: Cli) -> None:
    (ralph.path / ".ralph.toml").write_text("[execution]\nmax_retries = 7\n")
    assert ralph.json("task", "add", "x")["max_retries"] == 7
    assert ralph.json("task", "add", "x", "--max-retries", "1")["max_retries"] == 1


def test_a_description_from_standard_input(ralph: Cli) -> None:
    task = ralph("task", "add", "x", "-d", "-", stdin="two\nlines \u2713\n".encode()).out.strip()
    assert ralph.json("task", "show", task)["description"] == "two\nlines \u2713"
    assert_one_line(ralph("task", "add", "x", "-d", "-", stdin=b"caf\xe9", code=65))
    assert_one_line(
        ralph("task", "add", "x", "-d", "-", stdin=b"x" * (4 * LONGEST_TEXT + 1), code=65)
    )


def test_a_megabyte_of_description_is_kept_and_shown_in_part(ralph: Cli) -> None:
    text = "x" * 1_000_000
    task = ralph("task", "add", "big", "-d", "-", stdin=text.encode()).out.strip()
    assert ralph.json("task", "show", task)["description"] == text
    assert len(ralph("task", "show", task).out) < 50_000
    assert "more characters" in ralph("task", "show", task).out
    assert len(ralph("task", "list").out) < 1000


@pytest.mark.parametrize("title", ["two\nlines", "\x1b[31mred\x1b[0m", "bell\x07", "tab\there"])
def test_a_title_cannot_harm_the_terminal(title: str, ralph: Cli) -> None:
    task = ralph.add(title)
    assert ralph.json("task", "show", task)["title"] == title
    assert f"{task}  pending  " in ralph("task", "tree").out, "its columns are those of the others"
    for argv in (
        ["task", "list"],
        ["task", "show", task],
        ["task", "tree"],
        ["status"],
        ["task", "block", task],
        ["task", "unblock", task],
        ["logs", task],
        ["task", "delete", task, "--yes"],
    ):
        answer = ralph(*argv)
        shown = answer.out + answer.err
        assert not set(shown) & set("\x1b\x07\t"), argv
        assert "two\nlines" not in shown, argv


@pytest.mark.parametrize("title", ["", "  ", "\n"])
def test_an_empty_title_is_refused(title: str, ralph: Cli) -> None:
    assert_one_line(ralph("task", "add", title, code=64))
    task = ralph.add("x")
    assert_one_line(ralph("task", "update", task, "--title", title, code=64))
    assert [one["title"] for one in ralph.json("task", "list")] == ["x"]


def test_an_empty_name_of_a_feature_is_refused(ralph: Cli) -> None:
    task = ralph.add("x")
    assert_one_line(ralph("task", "add", "y", "--feature", " ", code=64))
    assert_one_line(ralph("task", "update", task, "--feature", "", code=64))
    assert [one["title"] for one in ralph.json("task", "list")] == ["x"]


def test_names_that_nobody_has_are_refused_and_nothing_is_added(ralph: Cli) -> None:
    for option in ("--parent", "--blocked-by"):
        assert_one_line(ralph("task", "add", "x", option, "t-abcdef", code=66))
    assert ralph.json("task", "list") == []


def test_update_changes_what_is_named_and_nothing_else(ralph: Cli) -> None:
    parent = ralph.add("parent")
    task = ralph.add("x", "-d", "before")
    before = ralph.json("task", "show", task)
    answer = ralph("task", "update", task, "--title", "y", "--priority", "5")
    assert task in answer.out
    after = ralph.json("task", "show", task)
    changed = {name for name in before if before[name] != after[name]} - {"updated_at"}
    assert changed == {"title", "priority"}
    ralph("task", "update", task, "--parent", parent, "--feature", "f", "--no-change")
    after = ralph.json("task", "show", task)
    assert (after["parent_id"], after["feature"], after["needs_change"]) == (parent, "f", False)
    ralph("task", "update", task, "--no-parent", "--no-feature", "--change", "-d", "")
    after = ralph.json("task", "show", task)
    assert (after["parent_id"], after["feature"], after["needs_change"]) == (None, None, True)
    assert after["description"] == ""


def test_files_are_named_from_the_top_of_the_project(ralph: Cli) -> None:
    task = ralph.json("task", "add", "x", "--file", "./src//b.py", "--file", "a.py")
    assert task["files"] == ["a.py", "src/b.py"]
    assert "files       a.py, src/b.py\n" in ralph("task", "show", task["id"]).out
    (changed,) = ralph.json("task", "update", task["id"], "--file", "c.py")
    assert changed["files"] == ["c.py"]
    (changed,) = ralph.json("task", "update", task["id"], "--no-files")
    assert changed["files"] == []
    for path in ("/etc/passwd", "../x", ""):
        assert_one_line(ralph("task", "add", "x", "--file", path, code=64), hint=True)
    assert len(ralph.json("task", "list")) == 1


def test_update_needs_something_to_change(ralph: Cli) -> None:
    assert_one_line(ralph("task", "update", ralph.add("x"), code=64), hint=True)


def test_a_task_cannot_be_its_own_ancestor(ralph: Cli) -> None:
    parent = ralph.add("parent")
    child = ralph.add("child", "--parent", parent)
    assert_one_line(ralph("task", "update", parent, "--parent", child, code=64))
    assert_one_line(ralph("task", "update", parent, "--parent", parent, code=64))
