"""Each of the real agents finishes a graph of three tasks: real edits, real commits."""

import pytest

from tests.e2e.agents.conftest import Real
from tests.e2e.agents.setups import AGENTS, KEY, SETUPS
from tests.e2e.dying import check_sound


@pytest.mark.parametrize("agent", AGENTS)
def test_three_tasks_become_three_commits(real: Real, agent: str) -> None:
    project = real(agent)
    one = project.scripted("one")
    two = project.scripted("two", blocked_by=one)
    three = project.scripted("three", blocked_by=two)
    events = project.events()
    assert events[-1]["outcome"] == "complete"
    assert [project.status(task) for task in (one, two, three)] == ["done"] * 3
    assert [project.endings(task) for task in (one, two, three)] == [["finished"]] * 3
    subjects = [line for line in project.commits() if line.startswith("Add ")]
    assert subjects == ["Add three", "Add two", "Add one"]
    for name in ("one", "two", "three"):
        assert project.git("show", f"HEAD:{name}.txt") == name
    assert project.git("status", "--porcelain") == ""
    check_sound(project)
    for name, task in (("one", one), ("two", two), ("three", three)):
        asked = project.server.asked_in(name)
        assert [request.turn for request in asked] == [0, 1, 2]
        assert {request.cwd for request in asked} == {str(project.path)}
        assert {request.task for request in asked} == {task}
        assert {request.auth.removeprefix("Bearer ") for request in asked} == {KEY}
        assert {request.model for request in asked} == {SETUPS[agent].model.removeprefix("custom:")}
