"""`ralph review`: comments on lines of a change, from the terminal to the answer."""

import json
from typing import Any

import pytest

from tests.e2e.conftest import Project
from tests.e2e.fault_helpers import CLAIM, refused

WRITES = f"printf 'a\\nb\\nc\\n' > src.txt; {CLAIM}"
ANSWERS = f"sed -i s/b/B/ src.txt; {CLAIM}"


def listed(project: Project, task: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(project.quick("review", "list", task, "--json"))
    return found


def test_a_comment_is_answered_by_a_task_that_follows_up(project: Project) -> None:
    project.agent(f"if test -e src.txt; then {ANSWERS}; else {WRITES}; fi")
    task = project.add("Write it")
    project.ralph("run")
    said = project.ralph("review", "comment", task, "src.txt:2-3", "in capitals")
    assert said.startswith("F1 on src.txt:2-3\n")
    (comment,) = listed(project, task)
    assert (comment["state"], comment["excerpt"], comment["about"]) == ("open", "b\nc", task)
    follow_up = comment["task_id"]
    assert follow_up in said
    assert "in capitals" in project.ralph("review", "list", task)
    project.ralph("run")
    assert project.status(follow_up) == "done"
    assert project.commits()[0] == f"Answer the comments on {task}: Write it"
    (comment,) = listed(project, task)
    assert (comment["state"], comment["answer"]["text"]) == ("addressed", "B\nc")
    shown = project.ralph("review", "list", follow_up)
    assert "F1   addressed  src.txt:2-3" in shown
    assert "attempt 1: src.txt:2-3\n     B\n     c" in shown
    file = (project.path / f".ralph/reviews/task-{follow_up}-review.md").read_text()
    assert "answered by attempt 1 in `src.txt:2-3`" in file
    project.ralph("files", "rebuild")
    assert (project.path / f".ralph/reviews/task-{follow_up}-review.md").read_text() == file


def test_several_workers_answer_comments_on_what_they_merged(project: Project) -> None:
    project.agent(f"if test -e src.txt; then {ANSWERS}; else {WRITES}; fi")
    task = project.add("Write it")
    project.ralph("run", "--workers", "2")
    project.ralph("review", "comment", task, "src.txt:2", "in capitals")
    project.ralph("run", "--workers", "2")
    (comment,) = listed(project, task)
    assert (comment["state"], comment["answer"]["lines"]["first"]) == ("addressed", 2)


def test_comments_on_rejected_work_are_answered_by_the_next_attempt(project: Project) -> None:
    project.agent(
        f"if test -e src.txt; then {ANSWERS}; else {WRITES}; fi",
        gates='test = "! test -e src.txt || grep -q B src.txt"',
    )
    task = project.add("Write it")
    project.ralph("run", "--once", code=4)
    draft = {"path": "src.txt", "first": 2, "last": 2, "text": "in capitals"}
    more = {"path": "src.txt", "first": 3, "last": 3, "text": "this, too"}
    file = project.write("../comments.json", json.dumps([draft, more]))
    made = project.ralph("review", "comment", task, "--from", str(file), "--json")
    assert [one["finding"] for one in json.loads(made)] == ["F1", "F2"]
    project.ralph("run")
    assert [one["state"] for one in listed(project, task)] == ["addressed", "addressed"]
    assert project.task(task)["retry_count"] == 1


def test_what_is_disputed_needs_a_person_who_may_agree(project: Project) -> None:
    project.agent(
        f'if test -e src.txt; then echo "<dismiss id=\\"F1\\">b is right</dismiss>"; {CLAIM};'
        f" else {WRITES}; fi"
    )
    task = project.add("Write it")
    project.ralph("run")
    project.ralph("review", "comment", task, "src.txt:2", "in capitals")
    project.ralph("run")
    (comment,) = listed(project, task)
    follow_up = comment["task_id"]
    assert (comment["state"], project.status(follow_up)) == ("disputed", "done")
    assert f"ralph task dismiss {follow_up} F1 agreed" in project.ralph("status")
    project.ralph("task", "dismiss", follow_up, "F1", "agreed")
    assert listed(project, task)[0]["state"] == "dismissed"
    assert "F1" not in project.ralph("status")


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (["src.txt", "x"], 64, "src.txt names no lines"),
        (["src.txt:9", "x"], 64, "src.txt has no lines 9 after attempt 1: it has 3"),
        (["none.txt:1", "x"], 64, "there is no file none.txt after attempt 1"),
        (["src.txt:1", "x", "--old"], 64, "there is no file src.txt before attempt 1"),
        (["src.txt:1", " "], 64, "the comment on src.txt:1 says nothing"),
        (["src.txt:1"], 64, "which lines, and what about them?"),
        (["src.txt:1", "x", "--attempt", "4"], 66, "no attempt 4"),
        (["--from", "/dev/null"], 65, "/dev/null has no comments"),
        (["src.txt:1", "x", "--from", "-"], 64, "--from says which lines"),
    ],
)
def test_a_comment_that_makes_no_sense_is_refused(
    project: Project, words: list[str], code: int, why: str
) -> None:
    project.agent(WRITES)
    task = project.add("Write it")
    project.ralph("run")
    refused(project.try_ralph("review", "comment", task, *words), code, why)
    assert listed(project, task) == []
