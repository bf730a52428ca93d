"""A real session that would never end is stopped when it has used what it may."""

from ralph.testing.model import Shell, do
from tests.e2e.agents.conftest import Real


def test_a_session_is_stopped_in_mid_flight_by_its_tokens(real: Real) -> None:
    project = real("claude", budget={"session_tokens": 5000})
    project.server.script("x", do(Shell(command="sleep 0.3")), repeat=True)
    task = project.add("endless", "-d", "[[scenario:x]]")
    events = project.events("--once", code=4)
    assert project.endings(task) == ["budget_limit"]
    (ended,) = [one for one in events if one["event"] == "session_ended"]
    assert ended["input_tokens"] + ended["output_tokens"] >= 5000
    assert ended["cached_tokens"] > 0, "as its requests have told, for it never summed up"
    assert [one["event"] for one in events].count("task_struck") == 1
