"""Each of the real agents finishes a chain of tasks: real edits, real commits."""

import pytest

from tests.e2e.agents.conftest import Real
from tests.e2e.agents.setups import KEY, SETUPS
from tests.e2e.crash_points import check_sound


# Without a sandbox; with one, droid is among the others in `test_sandboxed.py`.
@pytest.mark.parametrize(
    "agent", ["claude", "codex", pytest.param("droid", marks=pytest.mark.soak)]
)
def test_a_chain_of_tasks_becomes_commits(real: Real, agent: str) -> None:
    project = real(agent)
    one = project.scripted("one")
    two = project.scripted("two", blocked_by=one)
    events = project.events()
    assert events[-1]["outcome"] == "complete"
    assert [project.status(task) for task in (one, two)] == ["done"] * 2
    assert [project.endings(task) for task in (one, two)] == [["finished"]] * 2
    used = [one for one in events if one["event"] == "session_ended"]
    tokens = {(one["input_tokens"], one["cached_tokens"], one["output_tokens"]) for one in used}
    assert tokens == {(3900, 3000, 60)}, "what the scripted model says of its three answers"
    subjects = [line for line in project.commits() if line.startswith("Add ")]
    assert subjects == ["Add two", "Add one"]
    for name in ("one", "two"):
        assert project.git("show", f"HEAD:{name}.txt") == name
    assert project.git("status", "--porcelain") == ""
    check_sound(project)
    for name, task in (("one", one), ("two", two)):
        asked = project.server.asked_in(name)
        assert [request.turn for request in asked] == [0, 1, 2]
        assert {request.cwd for request in asked} == {str(project.path)}
        assert {request.task for request in asked} == {task}
        assert {request.auth.removeprefix("Bearer ") for request in asked} == {KEY}
        assert {request.model for request in asked} == {SETUPS[agent].model_asked}
