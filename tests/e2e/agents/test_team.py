"""Several real agents at a time, each in a sandbox around a checkout of its own."""

from threading import Barrier

import pytest

from ralph.testing.model import Turn
from ralph.testing.model.script import Scripted
from tests.e2e.agents.conftest import Real
from tests.e2e.agents.real import work
from tests.e2e.crash_points import check_sound

pytestmark = pytest.mark.timeout(600)
TOGETHER_S = 120.0
"""For a broken program only."""


def together(turn: Turn, meeting: Barrier) -> Scripted:
    """An answer that waits until the others ask as well."""

    def answer(asked: object) -> Turn:
        del asked
        meeting.wait(TOGETHER_S)
        return turn

    return answer


@pytest.mark.parametrize(
    ("agent", "count"), [("claude", 3), pytest.param("codex", 2, marks=pytest.mark.soak)]
)
def test_sessions_at_the_same_time_and_one_branch(real: Real, agent: str, count: int) -> None:
    project = real(agent)
    meeting = Barrier(count)
    names = [f"part{number}" for number in range(count)]
    tasks = []
    for name in names:
        first, *rest = work(name)
        tasks.append(project.scripted(name, together(first, meeting), *rest))
    events = project.events("--workers", str(count))
    assert events[-1]["outcome"] == "complete"
    assert [project.status(task) for task in tasks] == ["done"] * count
    assert [project.endings(task) for task in tasks] == [["finished"]] * count
    assert sorted(project.commits()[:count]) == [f"Add {name}" for name in names]
    for name in names:
        assert project.git("show", f"HEAD:{name}.txt") == name
        [folder] = {request.cwd for request in project.server.asked_in(name)}
        assert folder.startswith(str(project.path / ".ralph/checkouts/"))  # type: ignore[union-attr]
    assert project.git("status", "--porcelain") == ""
    check_sound(project)
