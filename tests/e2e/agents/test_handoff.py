"""Real sessions whose context is nearly full: a fresh one goes on with the same task."""

import pytest

from ralph.testing.model import ModelRequestLog, Shell, Turn, Write, do, say
from ralph.testing.model.script import Scripted, Tokens
from tests.e2e.agents.conftest import Real
from tests.e2e.agents.real import CLAIM, RealProject
from tests.e2e.agents.setups import AGENTS

FULL = Tokens(fresh=130_000)
FIRST = "echo x > a.txt; printf %020000d 0"
SECOND = "echo x > b.txt"
NOTES = "## Session summary\n\nThe first half is in a.txt.\n"


def is_second(asked: ModelRequestLog) -> bool:
    return "has left this" in asked.user


def heard(asked: ModelRequestLog) -> bool:
    return any("fresh session" in one for one in (asked.user, *asked.results))


def two_sessions(*, wraps_up: bool = True) -> tuple[Scripted, ...]:
    """The first one writes a.txt and is then nearly full; the second one writes b.txt."""

    def begins(asked: ModelRequestLog) -> Turn:
        return do(Shell(command=SECOND if is_second(asked) else FIRST))

    def goes_on(asked: ModelRequestLog) -> Turn:
        # Long enough for somebody to look at how full it is.
        is_over = is_second(asked)
        return say(CLAIM) if is_over else Turn(actions=(Shell(command="sleep 2"),), tokens=FULL)

    def ends(asked: ModelRequestLog) -> Turn:
        assert heard(asked) or not wraps_up
        return do(Write(path="{cwd}/MEMORY.md", text=NOTES))

    return begins, goes_on, ends, say("That is where I am.")


def check(project: RealProject, task: str) -> None:
    """One attempt, two sessions, the work of both."""
    shown = project.task(task)
    assert (shown["status"], shown["attempt"], shown["retry_count"]) == ("done", 1, 0)
    assert project.git("ls-tree", "--name-only", "HEAD", "a.txt", "b.txt") == "a.txt\nb.txt"
    assert not (project.path / "MEMORY.md").exists()
    assert project.git("log", "--all", "--format=%h", "--", "MEMORY.md") == ""


@pytest.mark.parametrize("agent", ["claude", pytest.param("claude-sdk", marks=pytest.mark.soak)])
def test_a_session_in_mid_task_hands_over_and_the_second_one_finishes(
    real: Real, agent: str
) -> None:
    project = real(agent)
    task = project.scripted("x", *two_sessions())
    events = project.events()
    kinds = [one["event"] for one in events if "session" in str(one["event"])]
    assert kinds == [
        "session_started",
        "session_handed_over",
        "session_started",
        "session_ended",
    ]
    (asked,) = [one for one in events if one["event"] == "wrap_up_asked"]
    assert asked["used"] > 130_000
    (handed,) = [one for one in events if one["event"] == "session_handed_over"]
    assert handed["ended"] == "finished"
    second = [one.user for one in project.server.asked_in("x") if is_second(one)]
    assert "The first half is in a.txt." in second[0]
    check(project, task)


@pytest.mark.soak
@pytest.mark.parametrize("agent", AGENTS[1:])
def test_every_agent_can_be_relieved(real: Real, agent: str) -> None:
    project = real(agent, context={"capacity_tokens": 6_500})
    task = project.scripted("x", *two_sessions(), whole=False)
    events = project.events()
    assert "session_handed_over" in [one["event"] for one in events]
    check(project, task)
