"""What every agent promises."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph.core.ended import COSTS, Cost, Ended
from ralph.core.ending import Digest, Exit, Stop
from ralph.core.ids import RunId, TaskId
from ralph.ports.agent import Agent, Brief


def a_brief(text: str = "do it", attempt: int = 1) -> Brief:
    """A brief for task t-abc123."""
    return Brief(
        task_id=TaskId("t-abc123"),
        title="A task",
        attempt=attempt,
        run_id=RunId("20260101-000000-1"),
        text=text,
        path="/tmp/a brief.md",
        checkout="/tmp",
    )


class AgentContract:
    """Subclass it and give the agent as a fixture."""

    @pytest.fixture
    def agent(self) -> Agent:
        """The agent under test."""
        raise NotImplementedError

    def test_it_has_a_name_and_says_how_to_get_it(self, agent: Agent) -> None:
        """Or a person whose agent is missing is left alone."""
        assert agent.traits.name
        assert agent.traits.install_hint

    def test_the_prompt_is_never_one_giant_argument(self, agent: Agent) -> None:
        """The system refuses arguments of 128 KiB."""
        launch = agent.command(a_brief("x" * 1_000_000))
        assert max(len(word) for word in launch.argv) < 128 * 1024

    def test_a_person_can_talk_to_it(self, agent: Agent) -> None:
        """For `ralph feature spec` and the like."""
        assert agent.converse(a_brief()).argv

    def test_it_says_who_pays(self, agent: Agent) -> None:
        """As far as it can tell, also without any variable or login."""
        assert agent.account({}, {}).name

    def test_reading_never_raises(self, agent: Agent) -> None:
        """Whatever an agent prints is survived."""

        @settings(deadline=None)
        @given(block=st.binary(max_size=400))
        def survives(block: bytes) -> None:
            digest = Digest()
            for event in agent.read(block):
                digest.take(event)

        survives()

    @pytest.mark.parametrize(
        ("stop", "ended"),
        [
            (Stop.HARD, Ended.TIMED_OUT),
            (Stop.IDLE, Ended.IDLE),
            (Stop.BUDGET, Ended.BUDGET_LIMIT),
            (Stop.HAND_OFF, Ended.HANDED_OVER),
            (Stop.INTERRUPTED, Ended.INTERRUPTED),
        ],
    )
    def test_what_we_stopped_is_not_finished(self, agent: Agent, stop: Stop, ended: Ended) -> None:
        """Even if it exits with 0 and claims success on its way out."""
        digest = Digest(tail="<task-done>t-abc123</task-done>")
        assert agent.ending(digest, Exit(code=0, stop=stop)).ended is ended

    def test_an_agent_that_cannot_start_ends_the_run(self, agent: Agent) -> None:
        """Trying again would not help."""
        ending = agent.ending(Digest(), Exit(code=None, error="no such file"))
        assert COSTS[ending.ended] is Cost.END_RUN
        assert "no such file" in ending.detail

    def test_silence_is_no_result(self, agent: Agent) -> None:
        """Exit code 0 proves nothing."""
        assert agent.ending(Digest(), Exit(code=0)).ended is Ended.NO_RESULT

    def test_a_signal_is_not_a_result(self, agent: Agent) -> None:
        """Killed by someone else."""
        assert agent.ending(Digest(), Exit(code=-9)).ended is Ended.KILLED
