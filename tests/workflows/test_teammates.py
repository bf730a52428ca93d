"""Teammates that somebody else leads: what counts as done, and who may rest."""

from pathlib import Path

import pytest

from ralph.core.breaker import Tolerance
from ralph.core.gates import GateResult
from ralph.core.task import Draft, Status
from ralph.core.team_events import TeammateJudged
from ralph.ports.store import Store
from ralph.testing.clock import FrozenClock
from ralph.testing.doubles import FakeLibrary
from ralph.workflows.errand import as_task
from ralph.workflows.goal import Step, code_tasks_of, find_goal
from ralph.workflows.team_views import tally_of
from ralph.workflows.teammates import (
    Answer,
    Asked,
    read_asked,
    stamp_goals,
    task_completed,
    teammate_idle,
)

RED = GateResult(name="test", passed=False, code=1, output="1 failed")
TOLERANCE = Tolerance(failures=2)


def completed(store: Store, asked: Asked, failure: GateResult | None = None) -> Answer:
    return task_completed(store, FrozenClock(), TOLERANCE, asked, lambda: failure)


def idle(store: Store, root: Path, seat: str = "teammate-1") -> Answer:
    return teammate_idle(store, FrozenClock(), TOLERANCE, Asked(seat=seat), str(root))


def judged(store: Store) -> list[tuple[str, bool]]:
    found = [one.event for one in store.events(after=0, limit=1000)]
    return [(one.seat, one.passed) for one in found if isinstance(one, TeammateJudged)]


def test_what_a_hook_is_told_may_be_anything() -> None:
    assert read_asked({}) == Asked(seat="teammate-1")
    assert read_asked({"teammate_name": "a\nb", "task_subject": 7, "cwd": "/x"}) == Asked(
        seat="a b", cwd="/x"
    )


def test_a_task_is_completed_when_the_gates_pass(store: Store) -> None:
    task = store.add_task(Draft(title="Parser", alias="task-01"))
    other = store.add_task(Draft(title="Printer"))
    assert completed(store, Asked(seat="b", subject="task-01: the parser")) == Answer()
    assert store.find(task.id).status is Status.DONE
    assert store.find(other.id).status is Status.PENDING
    assert judged(store) == [("b", True)]
    assert tally_of(store).metrics()["per_teammate"] == {"b": {"completed": 1, "failed": 0}}


def test_the_file_of_a_code_task_says_who_has_done_it(store: Store) -> None:
    library = FakeLibrary()
    goal = find_goal(library, "tea")
    path = f"{goal.files.implementation}/task-01-one.code-task.md"
    library.pages |= dict.fromkeys(goal.files.papers, "x") | {path: "# Task: One\n"}
    code_tasks_of(goal, store, FrozenClock(), 3).follow()
    asked = Asked(seat="teammate-4", subject="task-01")
    completed(store, asked)
    stamp_goals(store, library, FrozenClock(), asked, 3)
    said = library.pages[path]
    assert said.startswith("---\nStatus: COMPLETED\nCompleted-By: teammate-4\nCompleted-At: ")
    assert said.endswith("---\n# Task: One\n")
    library.pages[path] = "Blocked-By: nobody\n"
    stamp_goals(store, library, FrozenClock(), asked, 3)
    assert library.pages[path] == "Blocked-By: nobody\n"


@pytest.mark.parametrize("name", ["the id", "task-01"])
def test_a_team_may_call_a_task_as_the_graph_does(store: Store, name: str) -> None:
    task = store.add_task(Draft(title="Parser", alias="task-01"))
    told = {"task_id": task.id if name == "the id" else name, "task_subject": "write it"}
    assert completed(store, read_asked(told)) == Answer()
    assert store.find(task.id).status is Status.DONE


def test_a_task_that_is_none_of_the_graph_is_completed_as_well(store: Store) -> None:
    store.add_task(Draft(title="Parser"))
    store.add_task(Draft(title="Parser"))
    assert completed(store, Asked(seat="b", subject="Parser")) == Answer()
    assert store.next_ready is not None


def test_a_gate_that_fails_goes_back_to_the_teammate_and_is_counted(store: Store) -> None:
    task = store.add_task(Draft(title="Parser"))
    asked = Asked(seat="b", subject="Parser")
    answer = completed(store, asked, RED)
    assert answer == Answer(code=2, said="gate test fails: the task is not done yet.\n1 failed")
    assert store.find(task.id).status is Status.PENDING
    assert (store.breaker("b").failures, store.breaker("a").failures) == (1, 0)
    completed(store, asked)
    assert store.breaker("b").failures == 0
    assert judged(store) == [("b", False), ("b", True)]


def test_nobody_rests_while_something_is_ready(store: Store, tmp_path: Path) -> None:
    assert idle(store, tmp_path) == Answer()
    first = store.add_task(Draft(title="Parser", priority=1))
    second = store.add_task(Draft(title="Printer", priority=2))
    answers = [idle(store, tmp_path, f"teammate-{n}") for n in (1, 2, 3)]
    assert [answer.code for answer in answers] == [2, 2, 2]
    assert [first.id in answers[0].said, second.id in answers[1].said] == [True, True]
    assert "`ralph task brief " in answers[2].said


def test_nobody_is_kept_at_work_by_an_errand(store: Store, tmp_path: Path) -> None:
    library = FakeLibrary()
    as_task(store, find_goal(library, "Sell tea").errand(Step.DESIGN), 3)
    assert idle(store, tmp_path) == Answer()


def test_whoever_failed_too_often_may_rest_and_the_others_go_on(
    store: Store, tmp_path: Path
) -> None:
    store.add_task(Draft(title="Parser"))
    for _ in range(2):
        completed(store, Asked(seat="teammate-2", subject="x"), RED)
    rests = idle(store, tmp_path, "teammate-2")
    assert (rests.code, "2 failures in a row" in rests.said) == (0, True)
    assert idle(store, tmp_path).code == 2


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_person_may_stop_the_team(store: Store, tmp_path: Path, kind: str) -> None:
    store.add_task(Draft(title="Parser"))
    (tmp_path / ".ralph").mkdir()
    abort = tmp_path / ".ralph" / "ABORT"
    abort.touch() if kind == "file" else abort.mkdir()
    assert idle(store, tmp_path) == Answer()
