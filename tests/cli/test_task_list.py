"""Looking at tasks: lists, trees, pages."""

import json
from typing import Any

import pytest

from ralph.core.task import TaskDraft, TaskStatus
from tests.cli.conftest import Cli, assert_one_line
from tests.cli.test_task_add import CONTRACT


def titles(tasks: list[dict[str, Any]]) -> list[str]:
    return [task["title"] for task in tasks]


def test_the_list_is_an_array_in_order_of_priority_then_age(ralph: Cli) -> None:
    assert ralph.json("task", "list") == []
    first, second, third = (
        ralph.add(*argv) for argv in (("a",), ("b",), ("c", "--priority", "-1"))
    )
    listed = ralph.json("task", "list")
    assert [task["id"] for task in listed] == [third, first, second]
    assert all(set(CONTRACT) <= set(task) for task in listed)


def test_open_tasks_are_shown_unless_asked_for_more(ralph: Cli) -> None:
    for name in ("pending", "done", "failed", "blocked"):
        task = ralph.add(name)
        if name != "pending":
            ralph("task", {"done": "done", "failed": "fail", "blocked": "block"}[name], task)
    assert titles(ralph.json("task", "list")) == ["pending", "blocked"]
    assert titles(ralph.json("task", "list", "--all")) == ["pending", "done", "failed", "blocked"]
    assert titles(ralph.json("task", "list", "--status", "done", "--status", "failed")) == [
        "done",
        "failed",
    ]
    assert titles(ralph.json("task", "list", "--ready")) == ["pending"]
    assert "done" not in ralph("task", "list").out
    assert "done" in ralph("task", "list", "--all").out


def test_a_list_says_what_a_task_waits_for(ralph: Cli) -> None:
    first = ralph.add("first")
    second = ralph.add("second", "--blocked-by", first)
    row = next(line for line in ralph("task", "list").out.splitlines() if line.startswith(second))
    assert first in row
    assert ralph.json("task", "list", "--ready")[0]["id"] == first
    assert ralph.json("task", "list")[1]["blockers"] == [first]


def test_only_a_feature(ralph: Cli) -> None:
    ralph.add("a", "--feature", "one")
    ralph.add("b", "--feature", "two")
    assert titles(ralph.json("task", "list", "--feature", "two")) == ["b"]
    assert_one_line(ralph("task", "list", "--feature", "three", code=66), hint=True)


def test_nothing_to_list_leaves_standard_output_empty(ralph: Cli) -> None:
    answer = ralph("task", "list")
    assert answer.out == ""
    assert "no open tasks" in answer.err


def test_pages(ralph: Cli) -> None:
    for n in range(7):
        ralph.add(f"n{n}")
    assert titles(ralph.json("task", "list", "--limit", "2", "--offset", "3")) == ["n3", "n4"]
    answer = ralph("task", "list", "--limit", "3")
    assert len(answer.out.splitlines()) == 4
    assert "there are more" in answer.err
    answer = ralph("task", "list", "--limit", "3", "--offset", "4")
    assert answer.err == ""
    assert "there are more" in ralph("task", "list", "--ready", "--limit", "3").err


@pytest.fixture
def crowd(ralph: Cli) -> Cli:
    """A hundred thousand tasks, in groups of a hundred."""
    drafts = []
    for n in range(1000):
        parent = f"t-{n:06x}"
        drafts.append(TaskDraft(id=parent, title=f"group {n}"))  # type: ignore[arg-type]
        drafts += [
            TaskDraft(
                title=f"part {m} of {n}",
                parent_id=parent,  # type: ignore[arg-type]
                status=TaskStatus.DONE if m else TaskStatus.PENDING,
            )  # type: ignore[arg-type]
            for m in range(99)
        ]
    with ralph.store() as store:
        assert store.tasks.add_many(drafts) == 100_000
    return ralph


def test_a_hundred_thousand_tasks_stay_usable(crowd: Cli) -> None:
    answer = crowd("task", "list")
    assert len(answer.out.splitlines()) == 51
    assert "there are more" in answer.err
    answer = crowd("task", "tree")
    assert len(answer.out.splitlines()) == 500
    assert "more than these 500" in answer.err
    assert "100000 tasks" in crowd("status").out
    assert len(crowd.json("task", "list", "--all")) == 100_000
    answer = crowd("task", "list", "--json", "--limit", "10")
    assert len(json.loads(answer.out)) == 10


def test_a_tree_shows_parts_below_their_wholes(ralph: Cli) -> None:
    whole = ralph.add("whole")
    part = ralph.add("part", "--parent", whole)
    ralph.add("piece", "--parent", part)
    other = ralph.add("other")
    lines = ralph("task", "tree").out.splitlines()
    assert [line.split()[-1] for line in lines] == ["whole", "part", "piece", "other"]
    assert lines[0].startswith(whole)
    assert lines[1].split()[1:] == [part, "pending", "part"]
    assert ralph("task", "tree", part).out.splitlines()[0].startswith(part)
    assert other not in ralph("task", "tree", whole).out
    assert_one_line(ralph("task", "tree", "t-abcdef", code=66))


def test_work_below_a_parent_shows_through(ralph: Cli) -> None:
    whole = ralph.add("whole")
    one = ralph.add("one", "--parent", whole)
    ralph.add("two", "--parent", whole)
    ralph("task", "done", one)
    assert ralph("task", "tree").out.splitlines()[0].split() == [whole, "in_progress", "whole"]
    tree = {task["id"]: task for task in ralph.json("task", "tree")}
    assert tree[whole]["status"] == "pending"
    assert tree[whole]["derived_status"] == "in_progress"


def test_a_tree_that_is_cut_does_not_call_a_parent_done(ralph: Cli) -> None:
    whole = ralph.add("whole")
    one = ralph.add("one", "--parent", whole)
    ralph.add("two", "--parent", whole)
    ralph("task", "done", one)
    answer = ralph("task", "tree", "--limit", "2")
    assert answer.out.splitlines()[0].split() == [whole, "in_progress", "whole"]
    assert "more than these 2" in answer.err


def test_an_empty_tree(ralph: Cli) -> None:
    assert ralph("task", "tree").out == "no tasks\n"
    assert ralph.json("task", "tree") == []


def test_features_with_the_state_of_their_tasks(ralph: Cli) -> None:
    assert "no features" in ralph("feature", "list").out
    ralph("task", "done", ralph.add("a", "--feature", "login"))
    ralph.add("b", "--feature", "login")
    (feature,) = ralph.json("feature", "list")
    assert feature["name"] == "login"
    assert feature["tasks"]["done"] == 1
    assert "1/2" in ralph("feature", "list").out


def test_a_parent_shows_what_goes_on_below_it_and_only_open_blockers_are_waited_for(
    ralph: Cli,
) -> None:
    parent = ralph.add("parent")
    first = ralph.add("first", "--parent", parent)
    second = ralph.add("second", "--parent", parent, "--blocked-by", first)
    ralph("task", "done", first)
    lines = {line.split()[0]: line.split() for line in ralph("task", "list").out.splitlines()}
    assert lines[parent][1] == "in_progress"
    assert lines[second] == [second, "pending", "0", "second"]
    assert "in_progress" in ralph("task", "show", parent).out
    assert ralph.json("task", "show", parent)["derived_status"] == "in_progress"
